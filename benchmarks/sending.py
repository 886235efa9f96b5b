"""How fast are ECL and KSU subscriptions in the runtime, compared with the same machines run one event at a time in Python?

No Spark: the runtime gets events as bits and keys, as a worker does. It is compared with what `tocsin test --engine local`
runs, which also evaluates the predicates on each event.

    python benchmarks/sending.py --events 1000000
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.correlation.expression import Interpretation
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata import correlation as acceptor
from tocsin.automata.completion import compile as machines
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.draft import compile_ecl
from tocsin.automata.correlation.draft import ksu_drafts
from tocsin.automata.detection_plan import Compiled, FieldTest
from tocsin.automata.transduce import transducers
from tocsin.languages import ecl, ksu
from tocsin.runtime.feed import Batch, feed
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.state import initial

EXPRESSION = "repeat {push(x) {do {accumulate {a, b, sequential {c, d}}} unless {e}}}"
CORRELATION = """N correlation C (A a, B b, C c, D d) l1:(a;b) | l2:(b;a) || k:(c+d) {
  case l1: push b; case l2: push new N { x = a.x }; case k: toggle (l1) }"""
KEYS = 1_000
ALONE = 50  # one in this many events is also run one at a time; all of them would take too long


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(
        json.dumps({name: one(options.events, options.rounds) for name, one in BENCHMARKS.items()}, indent=2)
    )


def _ecl(events: int, rounds: int) -> dict[str, float]:
    program = ecl.parse(EXPRESSION)
    kinds: list[Fields] = [{"type": letter} for letter in "abcdefgh"]
    alone = machines.compile_machine(construct(program.expression))
    chosen = _kinds(events, len(kinds))
    trace = [kinds[kind] for kind in chosen[: events // ALONE]]
    return _compared(compile_ecl({"": program}), kinds, chosen, rounds, lambda: machines.run(alone, trace))


def _ksu(events: int, rounds: int) -> dict[str, float]:
    correlation = ksu.parse(CORRELATION).correlations[0]
    kinds: list[Fields] = [{"source": port} for port in "abcdzz"]
    drafts = ksu_drafts(
        {"C": correlation},
        None,
        {"C": {p: p for p in "abcd"}},
        Interpretation(),
        triggers_reported=False,
        known=frozenset(),
    )
    alone = acceptor.compile_correlation(correlation)
    chosen = _kinds(events, len(kinds))
    trace = [Arrival(str(kinds[kind]["source"])) for kind in chosen[: events // ALONE]]
    return _compared(transducers(drafts), kinds, chosen, rounds, lambda: acceptor.run(alone, trace))


BENCHMARKS = {"ecl": _ecl, "ksu": _ksu}


def _kinds(events: int, count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, count, events)


def _compared(
    compiled: Compiled, kinds: Sequence[Fields], chosen: np.ndarray, rounds: int, alone: Callable[[], object]
) -> dict[str, float]:
    batch = _batch(compiled, kinds, chosen)
    plan = compiled.plan
    _seconds(
        lambda: feed(plan, initial(plan), batch, FOREVER, keep=False)
    )  # the table is filled, the kernel compiled
    together = min(
        _seconds(lambda: feed(plan, initial(plan), batch, FOREVER, keep=False)) for _ in range(rounds)
    )
    one_by_one = min(_seconds(alone) for _ in range(rounds)) * ALONE
    return {
        "events_per_second": round(len(chosen) / together),
        "one_at_a_time_microseconds": round(one_by_one / len(chosen) * 1e6, 1),
        "ratio": round(together / one_by_one, 4),
    }


def _batch(compiled: Compiled, kinds: Sequence[Fields], chosen: np.ndarray) -> Batch:
    words = np.zeros((len(kinds), compiled.plan.words), np.uint64)
    for bit, test in compiled.tests:
        assert isinstance(test, FieldTest)
        for row, event in enumerate(kinds):
            if holds(test.filter, event):
                words[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    places = np.arange(len(chosen))
    key = np.sort(np.random.default_rng(2).integers(0, KEYS, len(chosen)))
    events = pa.table({"at": pa.array(places)})
    return Batch(events, [pa.array(key)], places, places, None, words[chosen], [], ordered=True)


def _seconds(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
