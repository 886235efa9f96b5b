"""Thousands of random patterns and traces, reference against kernel: for the tests, and for long runs by hand.

    python tests/many_cases.py --cases 1000000 --seed 1

Each pattern meets twenty traces, which are twenty keys of one stream: so a case is one pattern and one trace, and the kernels
are called as on Spark, for many keys at once. Every pattern is fed whole and one moment at a time, with the state as bytes in
between.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from dataclasses import replace
from random import Random

from strategies import a_selection, dice, plain_subscription, selecting, subscription, trace
from tocsin.algebra import semantics
from tocsin.algebra.pattern import AllOf, walk
from tocsin.algebra.subscription import Subscription
from tocsin.automata import execute
from tocsin.events import Composite, Event, Interval
from tocsin.runtime.feed import FOREVER
from tocsin.runtime.state import from_bytes, to_bytes
from tocsin.values import kind

TRACES = 20  # for one pattern


def shown(composites: list[Composite]) -> list[str]:
    """What must be equal: key, events in their order and nesting with their names, variables and the interval."""
    return sorted(
        f"{c.key} {c.ids} {[leaf.role for leaf in c.leaves()]} {_plain(c)} {c.interval.start}-{c.interval.end}"
        for c in composites
    )


def _plain(composite: Composite) -> list[object]:
    """The variables; 1 and 1.0 are the same value, and an engine may hand out either."""
    return [(name, float(v) if kind(v) == "number" else v) for name, v in composite.variables]  # type: ignore[arg-type]


def pattern_and_events(seed: int) -> tuple[Subscription, list[Event]]:
    """The pattern of a seed, and its traces as keys of one stream."""
    draw = dice(Random(seed))
    made = plain_subscription(draw) if seed % 2 else subscription(draw)
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
    """How the kernel differs from the reference on the cases of a seed; nothing if it does not."""
    asked, events = pattern_and_events(seed)
    expected = shown(semantics.detect(asked, events))
    whole = shown(execute.Session([asked], points=points(seed)).feed(events, FOREVER)[0])
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
        for how, found in (("whole", whole), ("moment by moment", shown(pieces)))
        if found != expected
    ]


def main() -> int:
    """Run the cases that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1, help="where the seeds begin")
    wanted = parser.parse_args()
    began, wrong, done = time.monotonic(), 0, 0
    for seed in range(wanted.seed, wanted.seed + -(-wanted.cases // TRACES)):
        for difference in differences(seed):
            wrong += 1
            print(difference, flush=True)
        done += TRACES
        if done % 10_000 == 0:
            spent = time.monotonic() - began
            print(f"{done:,} cases, {wrong} wrong, {spent:.0f} s", file=sys.stderr, flush=True)
    print(f"{done:,} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
