"""The event algebra on its kernel, fed as a stream or at once, in a form that compares with the definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from tocsin.algebra.pairs.clock import observed
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.observation import Instance
from tocsin.algebra.pairs.semantics import instances, reactions
from tocsin.automata.execute import holds
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.events import Event, Interval
from tocsin.runtime import state as states
from tocsin.runtime.feed import Batch, feed
from tocsin.runtime.moments import FOREVER

TICK = "tick"
# Time and start of an instance, and what it is made of: the ids of events, the times and names of time events.
Row = tuple[int, int, tuple[object, ...]]


def defined(
    expression: Expression, events: Sequence[Event], ticks: Iterable[int] | None = None, reacts: bool = False
) -> list[Row]:
    """What the definitions find."""
    observation = observed(expression, events, ticks)
    found = (reactions if reacts else instances)(expression, observation)
    return sorted(((i.time, i.start, tuple(map(_leaf, i.leaves()))) for i in found), key=repr)


def _leaf(leaf: Instance) -> object:
    return leaf.id if leaf.event is not None else (str(leaf.id).partition(".")[0], leaf.time)


def detected(
    expression: Expression,
    events: Sequence[Event],
    ticks: Iterable[int] | None = None,
    reacts: bool = False,
    cuts: Sequence[int] = (),
) -> list[Row]:
    """What the kernel finds, in batches that end after so many events each; the state in between is bytes."""
    given = None if ticks is None else sorted(set(ticks))
    clock = [Event(f"tick.{t}", frozenset({TICK}), Interval(t, t)) for t in given or ()]
    plan_of = compile_profiles([Wanted("p", expression, None if given is None else TICK, reacts)])
    rows = sorted([*events, *clock], key=lambda event: (event.interval.end, TICK in event.types))
    state, found = states.initial(plan_of.plan), []
    bounds = [0, *sorted(cuts), len(rows)]
    for first, stop in pairwise(bounds):
        part, last = rows[first:stop], stop == len(rows)
        until = FOREVER if last else rows[stop].interval.end - 1
        result = feed(plan_of.plan, state, batch(plan_of, part, first), until, keep=not last)
        found += read(result)
        if not last:
            state = states.from_bytes(states.to_bytes(result.state))
        if last:
            break
    return sorted(found, key=repr)


def batch(compiled, events: Sequence[Event], first: int) -> Batch:
    """Events as a batch; all have one key."""
    bits = np.zeros((len(events), compiled.plan.words), np.uint64)
    for bit, test in compiled.tests:
        for row, event in enumerate(events):
            if holds(test, event):
                bits[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return Batch(
        pa.table({"id": pa.array([str(event.id) for event in events], pa.string())}),
        [],
        np.array([event.interval.start for event in events], np.int64),
        np.array([event.interval.end for event in events], np.int64),
        np.arange(first, first + len(events)),
        bits,
        [],
    )


def read(result) -> list[Row]:
    """The matches of the only detector of a result."""
    matches, names = result.matches[0], ("after", "at", "every", "tick")
    ids = result.events.column("id").to_pylist()
    rows = []
    for number in range(len(matches.key)):
        leaves: list[object] = []
        for at in range(int(matches.offsets[number]), int(matches.offsets[number + 1])):
            ref, role = int(matches.refs[at]), int(matches.roles[at])
            leaves.append(ids[ref] if role >= 0 else (names[-1 - role], int(matches.times[at])))
        rows.append((int(matches.end[number]), int(matches.start[number]), tuple(leaves)))
    return rows
