"""Random cases of the completion family, by seed: patterns of ECL or KSU, each with fifty traces as keys of one stream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support import ecl_strategies, ksu_strategies
from support.walking import defined_run, ecl_run, ksu_run, sent, tree_run, whole
from tocsin.algebra.completion.expression import Expression, Interpretation, Program, Subscription
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.completion.draft import compile_ecl
from tocsin.automata.correlation.draft import ksu_drafts
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.transduce import transducers

PATTERNS = 10  # of one seed
TRACES = 50  # for one pattern: to compile it takes longer than to run it
CASES = PATTERNS * TRACES
LONGEST = 12  # events of a trace
T = TypeVar("T")


def ecl_differences(seed: int) -> list[str]:
    """How the kernel differs from the tree of an expression on the cases of a seed; nothing if it does not."""

    def differing(drawn: tuple[Expression, Interpretation], random: Random) -> list[str]:
        expression, interpretation = drawn
        several: list[list[Fields]] = [
            [{"type": random.choice("abcde")} for _ in range(random.randrange(LONGEST + 1))]
            for _ in range(TRACES)
        ]
        compiled = compile_ecl(
            {"": Program((Subscription(None, expression),), interpretation=interpretation)}
        )
        expected = [tree_run(expression, trace, interpretation) for trace in several]
        return _differing(compiled, several, expected, lambda own, _: ecl_run(own), drawn)

    return _of_seed(seed, st.tuples(ecl_strategies.expressions(), ecl_strategies.readings), differing)


def ksu_differences(seed: int) -> list[str]:
    """How the kernel differs from the definitions of a correlation on the cases of a seed; nothing if it does not."""

    def differing(drawn: tuple[ksu.Correlation, ksu.Interpretation], random: Random) -> list[str]:
        names = sorted(parameter.name for parameter in drawn[0].parameters)
        several = [
            [Arrival(random.choice(names), None, {"x": n}, n) for n in range(random.randrange(LONGEST + 1))]
            for _ in range(TRACES)
        ]
        correlation, interpretation = whole(drawn[0], [one for trace in several for one in trace]), drawn[1]
        ports = {"C": {parameter.name: parameter.name for parameter in correlation.parameters}}
        compiled = transducers(
            ksu_drafts({"C": correlation}, None, ports, interpretation, triggers_reported=True, known=None)
        )
        streams: list[list[Fields]] = [
            [{**one.attributes, "source": one.event} for one in trace] for trace in several
        ]
        expected = [defined_run(correlation, trace, interpretation) for trace in several]
        return _differing(
            compiled, streams, expected, lambda own, number: ksu_run(own, several[number]), drawn
        )

    patterns = st.one_of(ksu_strategies.correlations, ksu_strategies.controlled)
    return _of_seed(seed, st.tuples(patterns, ksu_strategies.readings), differing)


def _differing(
    compiled: Compiled,
    streams: Sequence[Sequence[Fields]],
    expected: Sequence[object],
    told: Callable[[list[Any], int], object],
    drawn: object,
) -> list[str]:
    """The streams on which the kernel says something else, fed whole or one event at a time, the state as bytes between."""
    return [
        f"{how}: {drawn} on {list(streams[number])}\n  expected {expected[number]}\n  got {told(own, number)}"
        for how, cuts in (("whole", []), ("one by one", list(range(1, LONGEST + 1))))
        for number, own in enumerate(sent(compiled, streams, cuts))
        if told(own, number) != expected[number]
    ]


def _of_seed(
    seed: int, patterns: st.SearchStrategy[Any], differing: Callable[[Any, Random], list[str]]
) -> list[str]:
    random = Random(seed)
    return [
        f"seed {seed}, {one}"
        for drawn in examples(patterns, PATTERNS, seed)
        for one in differing(drawn, random)
    ]


def examples(strategy: st.SearchStrategy[T], count: int, seed: int) -> list[T]:
    """What Hypothesis draws with this seed; nothing is made smaller."""
    found: list[T] = []

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def note(drawn: T) -> None:
        found.append(drawn)

    note()
    assert len(found) == count
    return found
