"""Delivers what correlations send: by priority, before it expires, without flooding the receiver.

An output may carry four attributes that its transformer set, as in `push new Alarm { priority = 9, expiry =
500 }`:

- `priority`: a higher one is delivered first; without one it is 0;
- `expiry`: after this many milliseconds it is no longer wanted;
- `overwrite`: `recent` replaces waiting events of the same type and port, as fits sensor data; `earliest`
  gives way to them, as fits errors;
- `drop`: what is dropped when the queue is full: the `oldest` event, the `newest` (this one), or the `lowest`
  priority.

>>> queue = Queue(capacity=1)
>>> for at, priority in ((1, 5), (2, 9)):
...     queue = offer(queue, Output(at, "Alarm", {"priority": priority, "drop": "lowest"}))
>>> queue, delivered = deliver(queue)
>>> [output.at for output in delivered], [(lost.output.at, lost.why) for lost in queue.lost]
([2], [(1, 'dropped')])

Paper: 001, section 8.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from tocsin.algebra.correlation.outcome import Output
from tocsin.algebra.correlation.types import DELIVERY_CHOICES

Why = Literal["overwritten", "dropped", "expired"]


@dataclass(frozen=True, slots=True)
class Lost:
    """An output that is not delivered, and why."""

    output: Output
    why: Why


@dataclass(frozen=True, slots=True)
class Queue:
    """The outputs waiting for a receiver, in order of arrival; every lost output is listed."""

    capacity: int | None = None
    waiting: tuple[Output, ...] = ()
    lost: tuple[Lost, ...] = ()


def offer(queue: Queue, output: Output) -> Queue:
    """The queue with one more output, and without those that it makes redundant.

    Expired outputs are removed first, so no other output gives way to them.

    >>> old, new = (Output(n, "Alarm", {"expiry": 10, "overwrite": "earliest"}, time=n * 50_000) for n in (1, 2))
    >>> queue = offer(offer(Queue(), old), new)
    >>> queue.waiting == (new,), [lost.why for lost in queue.lost]
    (True, ['expired'])
    """
    queue = _expire(queue, output.time)
    overwrite = _choice(output, "overwrite")
    port = (output.type, output.event)
    same = [n for n, one in enumerate(queue.waiting) if (one.type, one.event) == port] if overwrite else []
    if overwrite == "recent":
        queue = _lose(queue, same, "overwritten")
    full = queue.capacity is not None and len(queue.waiting) >= queue.capacity
    queue = replace(queue, waiting=(*queue.waiting, output))
    if overwrite == "earliest" and same:
        return _lose(queue, (len(queue.waiting) - 1,), "overwritten")
    return _lose(queue, (_victim(queue, output),), "dropped") if full else queue


def _victim(queue: Queue, output: Output) -> int:
    """The index of the waiting output to drop, now that this output is the last of them."""
    numbers = range(len(queue.waiting))
    match _choice(output, "drop"):
        case "oldest":
            return 0
        case "lowest":
            # Among equals the newest is dropped: it has waited least.
            return min(reversed(numbers), key=lambda n: priority(queue.waiting[n]))
        case _:
            return numbers[-1]


def deliver(
    queue: Queue, now: int | None = None, most: int | None = None
) -> tuple[Queue, tuple[Output, ...]]:
    """The remaining queue, and the outputs the receiver gets now, most urgent first.

    `now` is in microseconds, as are the times of the outputs; without it nothing expires. `most` bounds how
    many are taken.
    """
    queue = _expire(queue, now)
    # Sorting is stable: among equals, first come, first served.
    urgent = sorted(range(len(queue.waiting)), key=lambda n: -priority(queue.waiting[n]))[:most]
    taken = set(urgent)
    left = tuple(output for n, output in enumerate(queue.waiting) if n not in taken)
    return replace(queue, waiting=left), tuple(queue.waiting[n] for n in urgent)


def priority(output: Output) -> float:
    """The priority of an output."""
    value = output.attributes.get("priority")
    return value if isinstance(value, int | float) else 0


def _expire(queue: Queue, now: int | None) -> Queue:
    """The queue without expired outputs."""
    return _lose(queue, [n for n, output in enumerate(queue.waiting) if _is_expired(output, now)], "expired")


def _is_expired(output: Output, now: int | None) -> bool:
    expiry = output.attributes.get("expiry")
    if now is None or output.time is None or not isinstance(expiry, int | float):
        return False
    return now - output.time > expiry * 1000


def _choice(output: Output, attribute: str) -> str | None:
    """The strategy an output asks for; any other value is payload that happens to have that name."""
    value = output.attributes.get(attribute)
    return value if isinstance(value, str) and value in DELIVERY_CHOICES[attribute] else None


def _lose(queue: Queue, numbers: Collection[int], why: Why) -> Queue:
    if not numbers:
        return queue
    gone = set(numbers)
    left = tuple(output for n, output in enumerate(queue.waiting) if n not in gone)
    lost = (*queue.lost, *(Lost(queue.waiting[n], why) for n in numbers))
    return replace(queue, waiting=left, lost=lost)
