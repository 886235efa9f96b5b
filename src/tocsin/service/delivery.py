"""Delivers publications to every subscriber, one after the other.

A publication from within a callback waits until the current one has been delivered to everyone. A subscriber that
fails does not keep the others from being served.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import RLock

from tocsin.errors import InputError, ServiceError, TocsinError
from tocsin.events.sources import LONG_AGO
from tocsin.service.subscriber import Found, Publication, Subscriber

Act = Callable[[Subscriber], list[Found]]


class Delivery:
    """The subscribers of a service, each after those whose composites it uses, and the pending deliveries."""

    def __init__(self) -> None:
        self.subscribers: dict[int, Subscriber] = {}
        self.lock = RLock()
        self.latest = LONG_AGO  # the latest time reported
        self.done = 0  # number of deliveries so far
        self.closed = False
        self._queue: deque[tuple[int, Act]] = deque()
        self._busy = False

    def do(self, act: Act, end: int) -> None:
        """Apply `act` to every existing subscriber; raises `ServiceError` after all were served."""
        with self.lock:
            if self.closed:
                raise InputError("closed", "the service is closed", hint="make a new one")
            self.latest = max(self.latest, end)
            self.done += 1
            self._queue.append((self.done, act))
            if self._busy:
                return
            self._busy = True
            failures: list[tuple[str, Exception]] = []
            try:
                while self._queue:
                    self._round(*self._queue.popleft(), failures)
            finally:
                self._busy = False
            if failures:
                raise ServiceError(failures) from failures[0][1]

    def _round(self, number: int, act: Act, failures: list[tuple[str, Exception]]) -> None:
        published: dict[str, Publication] = {}
        for subscriber in tuple(self.subscribers.values()):
            if subscriber.since >= number:
                continue
            try:
                found, published[subscriber.name] = subscriber.step(act, published)
            except TocsinError as error:
                failures.append((f"the subscription {subscriber.name!r}", error))
                continue
            for one in found:
                _call(subscriber, one, failures)


def _call(subscriber: Subscriber, found: Found, failures: list[tuple[str, Exception]]) -> None:
    callback = subscriber.callback
    if callback is None:
        return
    try:
        callback(found)
    except Exception as error:  # noqa: BLE001  (a failing callback must not keep others from being served)
        name = getattr(callback, "__qualname__", repr(callback))
        failures.append((f"the callback {name} of the subscription {subscriber.name!r}", error))
