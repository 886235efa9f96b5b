"""Nested profiles keep what their translation promises, in every group and with every kind of parameters."""

from __future__ import annotations

from random import Random

import pytest

from support.pairs_strategies import nested_observation, nested_profile
from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.groups import Duplicates, Group, Traits
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.operators import (
    after,
    at,
    conjunction,
    disjunction,
    event,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.algebra.pairs.parameters import Consumption
from tocsin.algebra.pairs.semantics import instances
from tocsin.errors import PatternError
from tocsin.translate.derive import Wish, derive
from tocsin.translate.kinds import Kind, Lost
from tocsin.translate.post_filter import delivered

GROUPS = {group.name: Traits(group, group.operators, group.timeframes) for group in Group}
CHRONICLE = Traits.of(
    "conjunction", "disjunction", "sequence", "negation",
    timeframe=True, consumption=["delete_reapply"], duplicates=["first", "ith"],
)  # fmt: skip
EVERYTHING = Traits.of(
    "conjunction", "disjunction", "sequence", "negation", "simultaneity", "selection",
    timeframe=True, consumption=list(Consumption), duplicates=list(Duplicates),
)  # fmt: skip
LANGUAGES = {
    **GROUPS,
    "chronicle": CHRONICLE,
    "everything": EVERYTHING,
    "primitive": Traits(None, frozenset()),
    "sequences": Traits.of("sequence", consumption=["delete"], duplicates=["first"]),
}
CE, SCE, TCE = GROUPS["CE"], GROUPS["SCE"], GROUPS["TCE"]


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("traits", LANGUAGES.values(), ids=LANGUAGES)
def test_nested_profiles_keep_the_promise(traits: Traits, exact: bool) -> None:
    random, kinds, refused = Random(7), set(), []
    for number in range(250):
        profile, observation = nested_profile(random), nested_observation(random)
        if number % 5 == 0:  # something has not occurred so far
            profile = conjunction(profile, negation(random.choice("abc"), float("inf")))
        try:
            found = derive(profile, Wish(traits, exact=exact))
        except PatternError as error:
            refused.append(error)
            continue
        assert found.kind.exact or not exact
        if found.claimed:
            continue
        wanted, got = set(instances(profile, observation)), set(delivered(found, observation))
        kinds.add(found.kind)
        missing, superfluous = wanted - got, got - wanted
        assert found.kind is Kind.NEGATIVE or not missing, show(profile)
        assert found.kind is Kind.POSITIVE or not superfluous, show(profile)
    assert kinds
    assert all(error.code == "no-rule" for error in refused)
    assert all("irrelevant to it" in error.message for error in refused if exact)
    assert Kind.TRANSFERRING in kinds or not exact or traits is EVERYTHING


def said(profile: Expression, traits: Traits, **wish: bool) -> tuple[list[str], str, str]:
    found = derive(profile, Wish(traits, **wish))
    return [show(one.installed) for one in found.profiles], found.kind.value, found.post_filter


def test_parts_of_what_is_installed_are_filtered_where_they_are() -> None:
    profile = sequence(sequence("a", "b"), "c")
    assert said(profile, CE) == (
        ["((a, b), c)"],
        "transferring",
        "t(N((a ; b))) < t(N(c)), t(N(a)) < t(N(b))",
    )


def test_more_of_one_part_and_less_of_another_is_kept_back() -> None:
    profile = disjunction(conjunction("a", "b", within=5), negation("c", 5))
    assert said(profile, CE) == (
        ["a", "b", "c"],
        "transferring",
        "((N(a), N(b))_5 | !(N(c))_5)",
    )
    assert said(disjunction(negation("c", 5), "a"), CE) == (["(!(c) | a)"], "negative", "")
    assert said(conjunction(negation("c", 5), "a", within=5), CE)[1] == "transferring"


def test_more_of_a_body_is_less_of_its_absence() -> None:
    assert said(negation(conjunction("a", "b", within=3), 5), CE) == (["!(a, b)"], "negative", "")


def test_an_operator_that_chooses_wants_its_operands_as_they_are() -> None:
    assert (
        said(sequence("a", "b", within=5, first="first", second="first", pairs="unique"), CE)[1]
        == "transferring"
    )
    assert said(selection(conjunction("a", "b", within=5), 1), SCE) == (
        ["a", "b"],
        "transferring",
        "(N(a), N(b))_5[first]",
    )


def test_the_nearest_setting_of_parameters_is_chosen() -> None:
    found = derive(sequence("a", "b", duplicates="first", consumption="delete_reapply"), Wish(CHRONICLE))
    assert (found.kind, found.claimed, found.losses) == (Kind.EQUIVALENT, False, ())
    found = derive(sequence("a", "b", duplicates="first", consumption="delete"), Wish(CHRONICLE))
    assert (found.kind, found.claimed) == (Kind.EQUIVALENT, True)
    assert [loss.what for loss in found.losses] == [Lost.CONSUMPTION]
    found = derive(sequence("a", "b"), Wish(CHRONICLE))
    assert (found.kind, found.claimed) == (Kind.NEGATIVE, False)
    with pytest.raises(PatternError, match="go into none of the language's"):
        derive(sequence("a", "b", duplicates="last", consumption="keep"), Wish(CHRONICLE))
    left = derive(
        sequence("a", "b", duplicates="last", consumption="keep"), Wish(CHRONICLE, parameters=False)
    )
    assert (left.kind, left.claimed) == (Kind.EQUIVALENT, True)
    assert [loss.what for loss in left.losses] == [Lost.DUPLICATES, Lost.CONSUMPTION]


def test_an_operator_without_a_rule_is_named_with_the_nearest_thing() -> None:
    with pytest.raises(PatternError) as caught:
        derive(conjunction("a", after("b", 5)), Wish(TCE))
    assert caught.value.message == "after(b, 5) is in the way: no rule says a time event there"
    assert (
        caught.value.hint
        == "the nearest is b with a post-filter for after(b, 5): ask for an exact translation"
    )
    assert said(conjunction("a", after("b", 5)), TCE, exact=True) == (
        ["a", "b"],
        "transferring",
        "(N(a), after(N(b), 5))",
    )
    with pytest.raises(PatternError, match="primitive events only"):
        derive(simultaneity("a", "b"), Wish(LANGUAGES["primitive"]))
    with pytest.raises(PatternError, match="has no event to be notified of"):
        derive(at(5), Wish(TCE, exact=True))


def test_a_moment_beside_an_event_needs_no_notification() -> None:
    assert said(sequence("a", at(5)), CE, exact=True) == (["a"], "transferring", "(N(a) ; at(5))")


def test_one_event_of_two_profiles_is_one_instance() -> None:
    profile = conjunction(event("a"), selection("a", 1), within=3)
    assert said(profile, TCE)[0] == ["a", "(a)_inf"]
