"""A pattern that explodes ends with an error that says what to do, not with the memory of the machine."""

from __future__ import annotations

import resource

import pytest

from tocsin.automata import execute
from tocsin.errors import LimitError
from tocsin.events import Event, Interval
from tocsin.languages.core import parse
from tocsin.runtime.moments import FOREVER

SECOND = 1_000_000
# Every list of lists of parallel parts: in n events, more than 2^n partial matches.
EXPLODES = "C1 := ([A] || [A]); C2 := (([C1] || [A])*); ([C2] | [A])*"


def events(count: int) -> list[Event]:
    return [Event(n, frozenset({"A"}), Interval(n * SECOND, n * SECOND)) for n in range(count)]


@pytest.mark.parametrize("limit", [1, 100, 10_000])
def test_more_partial_matches_than_allowed_are_refused(limit: int) -> None:
    session = execute.Session([parse(EXPLODES)], limit=limit)
    with pytest.raises(LimitError, match=f"more than {limit:,} partial matches wait at once") as refused:
        session.feed(events(40), FOREVER)
    assert refused.value.code == "too-many-partial-matches"
    assert "bound the pattern by a timer" in str(refused.value.hint)


def test_as_many_as_allowed_are_not() -> None:
    """Each event begins a partial match; none ends."""
    assert execute.Session([parse("[A][B] with matches = any")], limit=40).feed(events(40), FOREVER) == [[]]


@pytest.mark.slow
def test_every_subset_of_a_repetition_ends_with_the_limit_not_with_the_memory() -> None:
    """One event completes 2^n matches of up to n events: far below the limit on matches they take gigabytes."""
    types = ["A", *["B"] * 26, "C"]
    trace = [Event(n, frozenset({t}), Interval(n * SECOND, n * SECOND)) for n, t in enumerate(types)]
    session = execute.Session([parse("[A][B]*[C] with matches = any")], limit=5_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(LimitError) as refused:
        session.feed(trace, FOREVER)
    assert refused.value.code == "too-many-matches"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2_000_000  # kilobytes
    assert "take = count" in str(refused.value.hint)
