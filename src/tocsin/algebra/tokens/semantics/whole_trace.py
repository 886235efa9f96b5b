"""Whole traces: the composites of a subscription over the events of each key, inner detectors first."""

from __future__ import annotations

from collections.abc import Iterable

from tocsin.algebra.tokens.semantics.partial_match import (
    FOREVER,
    Position,
    Symbol,
    leaf_positions,
    position_of,
)
from tocsin.algebra.tokens.semantics.token_list import Detector
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.algebra.tokens.where import keeps
from tocsin.events import Composite, Event, Value, trace
from tocsin.values import identity

_INNER = 1 << 20  # composites of parallel parts come after those of named definitions of equal time


def detect(subscription: Subscription, events: Iterable[Event], until: int = FOREVER) -> list[Composite]:
    """Every composite event of a subscription in a finite set of events, key by key.

    `until` is how far time advances after the last event; by default every timer runs out.
    """
    by_key: dict[tuple[str, Value], list[Event]] = {}
    for event in trace(events):
        by_key.setdefault(identity(event.key), []).append(event)
    return [c for (_, key), own in by_key.items() for c in Detection(subscription, key).feed(own, until)]


class Detection:
    """A subscription over the events of one key, fed incrementally, in the order in which they are to be used.

    >>> from tocsin.events import Interval
    >>> from tocsin.languages.core import parse
    >>> detection = Detection(parse("([A], [T1])_{T1=5s}"))
    >>> detection.feed([Event(1, frozenset({"A"}), Interval(0, 0))], until=4_999_999)
    []
    >>> [composite.ids for composite in detection.feed([], until=5_000_000)]
    [[1, 'T1']]

    To get what `detect` gets, keep to the total order. If the subscription names composites or has parallel parts, also give
    the events of one moment at once: the last of them may complete a composite that comes before the others.
    """

    def __init__(
        self, subscription: Subscription, key: Value = None, detectors: type[Detector] = Detector
    ) -> None:
        """`detectors` is the class of its detectors, for those who want to watch them."""
        patterns = [(definition.name, definition.pattern) for definition in subscription.definitions]
        patterns.append((subscription.name, subscription.pattern))
        *named, (name, pattern) = patterns
        self._named = [detectors(*one, subscription.interpretation, key) for one in named]
        self._last = detectors(name, pattern, subscription.interpretation, key, subscription.selection)
        self._where = subscription.where

    @property
    def detectors(self) -> list[Detector]:
        """The detectors of named composites, then that of the pattern itself; others are inside them."""
        return [*self._named, self._last]

    def feed(self, events: Iterable[Event], until: int) -> list[Composite]:
        """The composites found in the next events, and by timers as time advances to `until`."""
        symbols: list[tuple[Position, Symbol]] = [(position_of(event), event) for event in events]
        for number, detector in enumerate(self._named):
            symbols = _with_composites(symbols, detector, number, until)
        return [c for c in _run(self._last, symbols, until) if keeps(self._where, c)]


def _run(detector: Detector, symbols: list[tuple[Position, Symbol]], until: int) -> list[Composite]:
    """Everything one detector finds: first the detectors inside it, whose composites join its input."""
    for number, inner in enumerate(detector.inner, start=_INNER):
        symbols = _with_composites(symbols, inner, number, until)
    found: list[Composite] = []
    for position, symbol in symbols:
        detector.advance(position[0] - 1)
        detector.take(symbol, position)
        found += detector.found()
    detector.advance(until)
    return found + detector.found()


def _with_composites(
    symbols: list[tuple[Position, Symbol]], detector: Detector, number: int, until: int
) -> list[tuple[Position, Symbol]]:
    """A detector's input and what it finds in it; a composite comes before a primitive event of equal time (C.3.13).

    Composites of one detector with equal times are ordered by their events.
    """
    ordered = sorted(_run(detector, symbols, until), key=leaf_positions)
    new = [
        ((c.interval.end, c.interval.start, 0, False, number * FOREVER + next(detector.numbers)), c)
        for c in ordered
    ]
    return sorted([*symbols, *new], key=lambda item: item[0])
