"""The clock of a table or stream, which has no ticks of its own: when negations are decided, and when observation ends.

A negation says something about the timeframe before a tick, so there is a tick wherever it can become true: when a timeframe
that began with an event of the profile ends, and just after an event of its own body has left the timeframe. Thus a negation
that an event starts is decided at the time of the event plus the timeframe (decision 19).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tocsin.algebra.pairs.expression import (
    After,
    Expression,
    Negation,
    Primitive,
    parts,
    primitives,
    walk,
    with_timeframes,
)
from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.parameters import Coupling, Detection
from tocsin.algebra.pairs.semantics import matches_class
from tocsin.events import Event


def clock(expression: Expression) -> list[tuple[Primitive, int]]:
    """Which events of an expression with timeframes make the clock tick, each with how long after it."""
    negations = [p for p in walk(expression) if isinstance(p, Negation) and isinstance(p.timeframe, int)]
    found: dict[tuple[Primitive, int], None] = {}
    for primitive in dict.fromkeys(primitives(expression)):
        for negation in negations:
            # At the end of the timeframe the event itself is still inside.
            own = primitive in primitives(negation.body)
            found[primitive, int(str(negation.timeframe)) + own] = None
    return list(found)


def reach(expression: Expression, ticking: bool = True) -> int:
    """For how long after its last event an expression is observed: until each timer that an event sets has run out.

    `ticking`: the clock is the one above, and not given.

    >>> from tocsin.algebra.pairs.operators import after, negation, sequence
    >>> reach(sequence("a", negation("b", 5), after(after("c", 3), 4)))
    13
    """
    ticks = max((delay for _, delay in clock(with_timeframes(expression))), default=0) if ticking else 0
    return ticks + _delays(expression)


def _delays(expression: Expression) -> int:
    inside = max(map(_delays, parts(expression)), default=0)
    return inside + (expression.delay if isinstance(expression, After) else 0)


def ticks_of(expression: Expression, events: Iterable[Event]) -> Iterator[int]:
    """When the clock ticks for these events."""
    known = clock(with_timeframes(expression))
    for event in events:
        for primitive, delay in known:
            if matches_class(primitive, event):
                yield event.interval.end + delay


def sees_all(expression: Expression) -> bool:
    """Whether events count that no part of an expression looks at: they interrupt a match whose coupling is continuous."""
    hows = (getattr(part, "how", None) for part in walk(expression))
    return any(isinstance(how, Detection) and how.coupling is Coupling.CONTINUOUS for how in hows)


def observed(
    expression: Expression, events: Sequence[Event], ticks: Iterable[int] | None = None
) -> Observation:
    """The events of one key as an observation; without ticks the clock is the one above."""
    classes = primitives(expression)
    if not sees_all(expression):
        events = [event for event in events if any(matches_class(one, event) for one in classes)]
    given = sorted(set(ticks_of(expression, events) if ticks is None else ticks))
    last = max([e.interval.end for e in events] + (given if ticks is not None else []), default=0)
    end = last + reach(expression, ticks is None)
    return Observation.of(events, [tick for tick in given if tick <= end], end)
