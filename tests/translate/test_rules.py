"""Every rule keeps what its kind promises, on random traces, by the reference.

An equivalent rule that is not merely claimed has the same matches, a positive one at least those, a negative one at most,
and a transferring one the same after its post-filter. Every claimed rule has a counterexample.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.pairs_strategies import observations, observe
from tocsin.algebra.pairs.expression import Primitive, Timeframe
from tocsin.algebra.pairs.groups import Group, Traits
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.semantics import instances
from tocsin.translate.derive import Wish, derive
from tocsin.translate.kinds import Kind
from tocsin.translate.post_filter import delivered
from tocsin.translate.rules import Binding, I, Rule, X, Y, fill
from tocsin.translate.tables import MEDIATED, OWN_FRAMED, OWN_FRAMELESS, TABLES, rows
from tocsin.translate.translation import Translation

A, B = Primitive("a"), Primitive("b")
GROUPED = [
    (rule, group) for group in Group for rule in rows(group)[: len(TABLES[group]) + 2]
]  # and two selections
ANY = Traits.of("sequence", "disjunction", timeframe=True)
UNGROUPED = [
    *((rule, ANY) for rule in MEDIATED),
    *((rule, Traits(None, frozenset({rule.operator}), True)) for rule in OWN_FRAMED if rule.operator),
    *((rule, Traits(None, frozenset({rule.operator}))) for rule in OWN_FRAMELESS if rule.operator),
]
RULES = [*((rule, Traits(group, group.operators, group.timeframes)) for rule, group in GROUPED), *UNGROUPED]
TRUE = [(rule, traits) for rule, traits in RULES if not rule.claimed]
CLAIMED = [(rule, traits) for rule, traits in RULES if rule.claimed]


def name(value: object) -> str | None:
    return value.name if isinstance(value, Rule) else None


def applied(rule: Rule, traits: Traits, timeframe: Timeframe, number: int = 2) -> Translation:
    """The translation of two events by one rule, in a language that can follow it."""
    binding = Binding({X: A, Y: B}, timeframe, pick=replace(I, low=number, high=number))
    found = derive(fill(rule.source, binding), Wish(traits, timeframe=timeframe))
    assert found.rules[0].rule == rule.name
    return found


def kept(kind: Kind, wanted: set[Instance], got: set[Instance]) -> bool:
    if kind is Kind.POSITIVE:
        return got >= wanted
    return got <= wanted if kind is Kind.NEGATIVE else got == wanted


def compared(found: Translation, observation: Observation) -> bool:
    wanted = instances(found.source, observation)
    return kept(found.kind, set(wanted), set(delivered(found, observation)))


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "traits"), TRUE, ids=name)
@given(st.integers(1, 6), st.integers(1, 3), observations(ticks=True))
def test_a_rule_keeps_its_promise(
    rule: Rule, traits: Traits, frame: int, number: int, observation: Observation
) -> None:
    assert compared(applied(rule, traits, frame, number), observation)


# A trace for each claimed rule on which the kind of the paper is not true.
COUNTEREXAMPLES = {
    "Fig. 15": observe("a@1 b@1"),
    "simultaneity": observe("a@1 b@2 a@3 b@3", range(1, 12), 12),
    "selection": observe("a@1 a@1 " + "a@2 a@3 a@4", range(1, 12), 12),
}


@pytest.mark.parametrize(("rule", "traits"), CLAIMED, ids=name)
def test_a_claimed_rule_has_a_counterexample(rule: Rule, traits: Traits) -> None:
    trace = COUNTEREXAMPLES[rule.table if rule.table in COUNTEREXAMPLES else str(rule.operator)]
    found = applied(rule, traits, 5)
    assert found.claimed
    assert not compared(found, trace)
