"""Events that arrive from several sources in any order: when a detection policy lets each one be used.

The arrivals of a case go through the release policy of the subscription, and what it releases goes to an
engine, one arrival after the other; so a match is known by the arrival after which it was found.

Paper: 003, "Detection Policies"; the project's decision C.3.14.
"""

from __future__ import annotations

from typing import Any, Protocol

from tocsin.algebra.semantics import Detector, Position
from tocsin.algebra.subscription import Subscription
from tocsin.algebra.where import keeps
from tocsin.automata.execute import Session
from tocsin.cases import trace
from tocsin.cases.detection import Found, found
from tocsin.cases.model import Case, Skip, only_keys
from tocsin.errors import CaseError
from tocsin.events import Composite, Event, stability, total_order

GIVEN = ("detection", "sources", "stability", "threshold")
HEARTBEAT = "heartbeat"


class _Engine(Protocol):
    def feed(self, events: list[Event], until: int) -> list[Composite]: ...


def detect_arrivals(subscription: Subscription, case: Case, engine: str) -> list[Found]:
    """What an engine finds, with the number of the arrival after which it was found."""
    given = only_keys(case.get("given") or {}, GIVEN, "given")
    for key in ("detection", "sources"):
        if key not in given:
            raise CaseError("bad-case", f"given does not say the {key}")
    policy = stability.policy(
        given["detection"],
        given["sources"],
        stability=given.get("stability", "all-sources"),
        threshold=given.get("threshold"),
    )
    detection = _engine(subscription, engine)
    matches: list[Found] = []
    for number, written in enumerate(case.get("trace") or [], 1):
        arrival, source, event = _arrival(written, number, given["sources"])
        beat = HEARTBEAT in event.types
        released = policy.arrive(source, None if beat else event, event.interval.end, total_order(event))
        composites = detection.feed(released, policy.watermark)
        matches += [found(composite, arrival) for composite in composites]
    return matches


def _arrival(written: Any, number: int, sources: Any) -> tuple[int, str, Event]:
    event = trace.event(written, number, more_keys=("arrival", "source"))
    source = written.get("source")
    if source not in sources:
        raise CaseError("bad-case", f"arrival {number} comes from {source!r}, which is none of the sources")
    return written.get("arrival", number), source, event


def _engine(subscription: Subscription, engine: str) -> _Engine:
    match engine:
        case "reference":
            return _Reference(subscription)
        case "local":
            return _Local(subscription)
        case "spark":
            raise Skip("the order of arrival belongs to streams; a table has none")
        case _:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")


class _Local:
    def __init__(self, subscription: Subscription) -> None:
        self._session = Session((subscription,))

    def feed(self, events: list[Event], until: int) -> list[Composite]:
        return self._session.feed(events, until)[0]


class _Reference:
    """The detectors of the meaning itself, fed bit by bit; `semantics.detect` wants a whole trace."""

    def __init__(self, subscription: Subscription) -> None:
        named = [(d.name, d.pattern) for d in subscription.definitions]
        parts = [*named, (subscription.name, subscription.pattern)]
        self._detectors = [Detector(name, pattern, subscription.reading) for name, pattern in parts]
        self._where = subscription.where

    def feed(self, events: list[Event], until: int) -> list[Composite]:
        symbols: list[_Symbol] = [(_position(event), event) for event in events]
        composites: list[Composite] = []
        for number, detector in enumerate(self._detectors):
            composites = _run(detector, symbols, until)
            symbols = _joined(symbols, composites, number)
        return [composite for composite in composites if keeps(self._where, composite)]


_Symbol = tuple[Position, Event | Composite]


def _run(detector: Detector, symbols: list[_Symbol], until: int) -> list[Composite]:
    for number, inner in enumerate(detector.inner):
        symbols = _joined(symbols, _run(inner, symbols, until), number)
    for position, symbol in symbols:
        detector.advance(position[0] - 1)
        detector.take(symbol, position)
    detector.advance(until)
    return detector.found()


def _joined(symbols: list[_Symbol], composites: list[Composite], number: int) -> list[_Symbol]:
    """Events and composites in the total order; of equal times the composites come first (C.3.13)."""
    new: list[_Symbol] = [
        ((c.interval.end, c.interval.start, 0, False, number * len(composites) + i), c)
        for i, c in enumerate(composites)
    ]
    return sorted([*symbols, *new], key=lambda symbol: symbol[0])


def _position(event: Event) -> Position:
    end, start, named, unique = total_order(event)
    return end, start, 1, named, unique
