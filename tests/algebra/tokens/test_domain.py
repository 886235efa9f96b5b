"""What an atom takes, fails on and passes over."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.algebra.tokens.domain import domain_of
from tocsin.algebra.tokens.pattern import Atom, EventSpec
from tocsin.algebra.tokens.semantics import detect
from tocsin.events import Event, Interval
from tocsin.languages.core import parse

NAMES = "ABC"
A, B, C = (EventSpec(name) for name in NAMES)


def _does(atom: Atom, types: frozenset[str]) -> str:
    """What an atom does with an event of these types, by its domain."""
    domain = domain_of(atom)

    def belongs(specs: tuple[EventSpec, ...]) -> bool:
        return any(spec.name in types for spec in specs)

    if belongs(domain.taken) and not belongs(domain.excepted):
        return "takes"
    return "fails" if belongs(domain.relevant) else "passes over"


def _means(atom: Atom, types: frozenset[str]) -> str:
    """The same by the words of the paper: `[E in S]`, and `[!E in S]` is `[S\\E in S]`."""
    accepted = any(spec.name in types for spec in atom.accept)
    in_set = any(spec.name in types for spec in atom.domain)
    if atom.negated:
        return "passes over" if not in_set else "fails" if accepted else "takes"
    return "takes" if accepted else "fails" if in_set else "passes over"


_specs = st.lists(st.sampled_from([A, B, C]), max_size=3).map(tuple)


@given(_specs.filter(bool), _specs, st.booleans())
def test_every_event_is_taken_failed_on_or_passed_over(
    accept: tuple[EventSpec, ...], domain: tuple[EventSpec, ...], negated: bool
) -> None:
    atom = Atom(accept, domain, negated and bool(domain))
    for size in range(len(NAMES) + 1):
        for types in combinations(NAMES, size):
            assert _does(atom, frozenset(types)) == _means(atom, frozenset(types))


@given(st.lists(st.sampled_from(["A", "B", "C", "D"]), max_size=6))
def test_a_negation_is_its_set_without_what_it_leaves_out(names: list[str]) -> None:
    events = [Event(n, frozenset({name}), Interval(n, n)) for n, name in enumerate(names)]
    for negation, spelled_out in (
        ("[!A in {B,C}]", "[B,C in {B,C}]"),
        ("[!A in {A,B}]", "[B in {A,B}]"),
        ("[D][!A,B in {B,C}][C]", "[D][C in {B,C}][C]"),
        ("[D][!A in {B,C}]*[C]", "[D][B,C in {B,C}]*[C]"),
    ):
        found, expected = (
            [match.ids for match in detect(parse(text), events)] for text in (negation, spelled_out)
        )
        assert found == expected


def test_the_name_of_a_timer_stands_for_the_timer_alone() -> None:
    timers = {"B": 4}
    assert domain_of(Atom((A, B)), timers).timers == {4}
    assert domain_of(Atom((A, B)), timers).taken == (A,)
    assert domain_of(Atom((A,), (A, B)), timers).timers == frozenset()
    assert domain_of(Atom((A,), (B, C), negated=True), timers).timers == {4}
    assert domain_of(Atom((B,), (B, C), negated=True), timers).timers == frozenset()


@pytest.mark.parametrize(
    ("atom", "failing"),
    [
        (Atom((A,)), []),
        (Atom((A,), (A, B)), [(B, ())]),
        (Atom((A,), (A, B), negated=True), [(A, ())]),
        (Atom((A,), (B, C), negated=True), [(A, (B, C))]),
    ],
)
def test_what_ends_a_match(atom: Atom, failing: list[tuple[EventSpec, tuple[EventSpec, ...]]]) -> None:
    domain = domain_of(atom)
    assert [(spec, domain.only_in(spec)) for spec in domain.failing] == failing
