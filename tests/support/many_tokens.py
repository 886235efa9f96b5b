"""Random cases of the token family, by seed: a pattern and twenty traces, which are twenty keys of one stream."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import replace
from random import Random

from support.strategies import (
    a_selection,
    dice,
    plain_subscription,
    selecting,
    subscription,
    trace,
    with_limits,
)
from tocsin.algebra.tokens import semantics
from tocsin.algebra.tokens.pattern import AllOf, Repeat, walk
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata import execute
from tocsin.errors import LimitError
from tocsin.events import Composite, Event, Interval
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.state import from_bytes, to_bytes
from tocsin.values import kind

TRACES = 20  # for one pattern
CASES = TRACES  # of one seed
ATTEMPTS = 5  # to draw a pattern that is not too large


def shown(composites: list[Composite]) -> list[str]:
    """What must be equal: key, events in their order and nesting with their names, variables and the interval."""
    return sorted(
        f"{c.key} {c.ids} {[leaf.role for leaf in c.leaves()]} {_plain(c)} {c.interval.start}-{c.interval.end}"
        for c in composites
    )


def _plain(composite: Composite) -> list[object]:
    """The variables; 1 and 1.0 are the same value, and an engine may hand out either."""
    return [(name, float(v) if kind(v) == "number" else v) for name, v in composite.variables]  # type: ignore[arg-type]


def pattern_and_events(seed: int, attempt: int = 0) -> tuple[Subscription, list[Event]]:
    """The pattern of a seed, and its traces as keys of one stream; each attempt has another pattern."""
    draw = dice(Random(f"{seed} {attempt}") if attempt else Random(seed))
    made = plain_subscription(draw) if seed % 2 else subscription(draw)
    if seed % 3 == 0:
        made = with_limits(dice(Random(-seed)), made)
    wanted = a_selection(draw)
    if wanted.matches == "any" and (
        made.definitions or any(isinstance(n, AllOf) for n in walk(made.pattern))
    ):
        wanted = replace(
            wanted, matches="next"
        )  # composites of all ways to leave events out are too many to look at
    made = selecting(made, wanted)
    # All ways to leave events out are many, and so are composites of composites: shorter traces, or the reference never ends.
    plain = not made.definitions and not any(isinstance(n, AllOf) for n in walk(made.pattern))
    size = 5 if not plain else 7 if made.selection.matches == "any" else 10
    events = [
        replace(event, id=1000 * key + event.id, key=key)  # type: ignore[operator]  # ids are numbers here
        for key in range(TRACES)
        for event in trace(draw, max_size=size)
    ]
    if points(seed):
        events = [replace(e, interval=Interval(e.interval.end, e.interval.end)) for e in events]
    return made, events


def points(seed: int) -> bool:
    """Whether the events of a seed have no length."""
    return seed % 4 > 1


def differences(seed: int) -> list[str]:
    """How the kernel differs from the reference on the cases of a seed; nothing if it does not.

    A pattern that is refused because it is too large, or that the reference would never end with, gives way to another one.
    """
    for attempt in range(ATTEMPTS):
        asked, events = pattern_and_events(seed, attempt)
        if not explodes(asked):
            with suppress(LimitError):
                return _differences(seed, asked, events)
    raise AssertionError(f"{ATTEMPTS} patterns in a row are too large, of the seed {seed}")


def explodes(asked: Subscription) -> bool:
    """Whether composites of a repetition are combined in parallel, and those are repeated: their number is exponential."""
    return any(
        isinstance(inner, Repeat)
        for outer in walk(asked.pattern)
        if isinstance(outer, Repeat)
        for parallel in walk(outer.body)
        if isinstance(parallel, AllOf)
        for inner in walk(parallel)
    )


def _differences(seed: int, asked: Subscription, events: list[Event]) -> list[str]:
    expected = shown(semantics.detect(asked, events))
    whole = shown(execute.Session([asked], points=points(seed)).feed(events, FOREVER)[0])
    last = shown(execute.Session([asked], points=points(seed)).feed(events, FOREVER, last=True)[0])
    session = execute.Session([asked], points=points(seed))
    pieces: list[Composite] = []
    for moment in [*sorted({event.interval.end for event in events}), FOREVER]:
        pieces += session.feed([e for e in events if e.interval.end == moment], moment)[0]
        session.state = from_bytes(to_bytes(session.state))
        if seed % 8 > 3:  # as in another process, where machines have met nothing yet
            session.compiled = replace(
                session.compiled, plan=pickle.loads(pickle.dumps(session.compiled.plan))
            )
    return [
        f"seed {seed}, {how}: {asked}\n  missing {sorted(set(expected) - set(found))[:3]}\n"
        f"  added {sorted(set(found) - set(expected))[:3]}"
        for how, found in (("whole", whole), ("as a table", last), ("moment by moment", shown(pieces)))
        if found != expected
    ]
