"""The detectors of a job: what is detected once, what is kept apart, and what composites are called."""

from __future__ import annotations

import pytest

from tocsin.algebra.tokens import semantics
from tocsin.automata import execute
from tocsin.automata.tokens.plan import plan
from tocsin.events import Composite, Event, Interval
from tocsin.languages.core import parse

TRACE = [Event(n, frozenset({type}), Interval(n, n)) for n, type in enumerate("ABAB", 1)]


def told(composites: list[Composite]) -> list[str]:
    """Every match with its events, and the names and types of named composites at every level."""

    def names(composite: Composite) -> list[object]:
        inside = [(c.role, c.event) for c in composite.constituents if isinstance(c.event, Composite)]
        return [(role, event.type, names(event)) for role, event in inside]

    return sorted(f"{c.type} {c.ids} {names(c)}" for c in composites)


@pytest.mark.parametrize(
    "pattern",
    [
        "C1 := ([A][B]); [C1][B]",
        "C1 := ([A]); C2 := ([C1][B]); [C2]",
        # Equal composites under two names are two events, and one may follow the other.
        "C1 := ([A]); C2 := ([A]); [C1][C2]",
        "C1 := ([A]); C2 := ([A]); C3 := ([A]); [C3] | [C1][C2][C3]",
    ],
)
def test_named_composites_are_called_by_their_names(pattern: str) -> None:
    subscription = parse(pattern)
    expected = told(semantics.detect(subscription, TRACE))
    assert expected
    assert told(execute.detect(subscription, TRACE)) == expected


def test_a_part_that_equals_a_named_composite_is_another_event() -> None:
    subscription = parse("C1 := ([A] || [B]); [C1]([A] || [B])")
    found = [composite.ids for composite in execute.detect(subscription, TRACE)]
    assert [[[1], [2]], [[1], [2]]] in found
    assert sorted(map(str, found)) == sorted(str(c.ids) for c in semantics.detect(subscription, TRACE))


def test_equal_detectors_of_different_subscriptions_are_one() -> None:
    first = parse("C1 := ([A][B]); [C1][A]", name="first")
    second = parse("D1 := ([A][B]); [D1][B]", name="second")
    graph = plan([first, second])
    assert len(graph.detectors) == 3
    assert graph.names == [{0: "C1"}, {0: "D1"}]
    # Each is told in the words of its own subscription.
    session = execute.Session((first, second))
    inner = [{c.constituents[0].role for c in found} for found in session.feed(TRACE, 9)]
    assert inner == [{"C1"}, {"D1"}]
