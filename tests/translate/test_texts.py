"""Texts of one language become texts of another, with what the notation of the other can write."""

from __future__ import annotations

import pytest

import tocsin
from support.pairs_languages import ALGEBRA, language_of
from tocsin.algebra.pairs.groups import Traits
from tocsin.errors import InputError, PatternError
from tocsin.languages.language import Language
from tocsin.translate import Kind, best_first, translate
from tocsin.translate.offers import EVERYTHING, offers, traits_of

CE = language_of("simple", Traits.of("conjunction", "disjunction", "negation"))
SCE = language_of("ordered", Traits.of("conjunction", "disjunction", "sequence", "negation"))
OTCE_TRAITS = Traits.of("conjunction", "disjunction", "sequence", "negation", timeframe=True)
OTCE = language_of("framed", OTCE_TRAITS)
# Its description says that it has timeframes and a negation, but its notation cannot write them.
LESS = language_of("less", OTCE_TRAITS, Traits.of("conjunction", "disjunction", "sequence"))
PRIMITIVE = language_of("plain", Traits.of())


def test_the_python_call() -> None:
    found = tocsin.translate("(door ; alarm)_5000000", ALGEBRA, CE)
    assert (found.text, found.kind.value, found.meta) == ("(door, alarm)", "positive", "(door ; alarm)_5s")
    assert str(found).splitlines() == [
        "(door, alarm)",
        "  kind: positive",
        "  lost: timeframe of (door ; alarm)_5s",
        "  lost: temporal order of (door ; alarm)_5s",
        "  rule: Table 17, row 6: (door ; alarm)_5s is positive",
    ]
    assert found.to_dict() == {
        "language": "simple",
        "profiles": ["(door, alarm)"],
        "kind": "positive",
        "claimed": False,
        "post_filter": None,
        "lost": [
            {"what": "timeframe", "of": "(door ; alarm)_5s", "recovered": False},
            {"what": "temporal order", "of": "(door ; alarm)_5s", "recovered": False},
        ],
        "rules": [
            {"rule": "Table 17, row 6", "of": "(door ; alarm)_5s", "kind": "positive", "claimed": None}
        ],
        "meta": "(door ; alarm)_5s",
    }


def test_an_exact_translation_has_a_post_filter() -> None:
    found = translate("(a ; b)_5", ALGEBRA, SCE, exact=True)
    assert found.profiles == ("a", "b")
    assert (found.kind, found.translation.post_filter) == (Kind.TRANSFERRING, "(N(a) ; N(b))_5")
    with pytest.raises(InputError, match="there are 2 profiles"):
        assert found.text


def test_a_claim_is_called_one() -> None:
    found = translate("a[1]", ALGEBRA, SCE)
    assert "kind: equivalent, as the paper claims" in str(found)
    assert found.to_dict()["claimed"]


def test_a_timeframe_for_rules_that_need_one() -> None:
    assert translate("a[1]", ALGEBRA, OTCE, timeframe=9).text == "((a)_9, !(a, a)_9)"
    assert translate("a[1]", ALGEBRA, OTCE).text == "((a)_inf, !(a, a)_inf)"


def test_a_text_in_its_own_language_stays_as_it_is() -> None:
    found = translate("(a ; b)_5", OTCE, OTCE)
    assert (found.text, found.kind, found.translation.rules) == ("(a ; b)_5", Kind.EQUIVALENT, ())


def test_what_cannot_be_written_is_tried_with_less() -> None:
    found = translate("(a ; b)_5", ALGEBRA, LESS)
    assert (found.text, found.kind) == ("(a ; b)", Kind.POSITIVE)
    assert [used.rule for used in found.translation.rules] == ["Table 18, row 6"]
    exact = translate("!(a)_5", ALGEBRA, LESS, exact=True)
    assert (exact.profiles, exact.translation.post_filter) == (("a",), "!(N(a))_5")


def test_an_error_names_the_operator_and_the_nearest_thing() -> None:
    with pytest.raises(PatternError) as caught:
        translate("((a ; b), c)_5000000", ALGEBRA, PRIMITIVE)
    assert caught.value.message == "((a ; b), c)_5s is in the way: the language has primitive events only"
    assert caught.value.hint == (
        "the nearest is 'a' and 'b' and 'c' with the post-filter ((N(a) ; N(b)), N(c))_5s: ask for an exact translation"
    )
    assert translate("((a ; b), c)_5000000", ALGEBRA, PRIMITIVE, exact=True).profiles == ("a", "b", "c")


def test_a_language_that_says_nothing_may_have_everything() -> None:
    silent = Language(
        name="silent", title="Silent", family="pairs", parse=ALGEBRA.parse, show=LESS.show,
        value=ALGEBRA.value, options=ALGEBRA.options,
    )  # fmt: skip
    assert offers(silent) == EVERYTHING
    assert translate("(a ; b)_5", ALGEBRA, silent).text == "(a ; b)"


def test_other_families_are_not_translated() -> None:
    with pytest.raises(InputError, match="is not a language of the event algebra"):
        translate("(a ; b)_5", ALGEBRA, "ecl")
    with pytest.raises(InputError, match="is not a language of the event algebra"):
        translate("[A];[B]", "core", ALGEBRA)


class _Said:
    """What the survey says of a language, as its description has it."""

    operators = ("conjunction", "disjunction", "sequence")
    timeframe = True
    consumption = ("delete & reapply",)
    duplicates = ("first", "nth")


class _Description:
    text, group = _Said, "TCE"


def test_a_description_is_enough() -> None:
    found = traits_of(_Description())  # type: ignore[arg-type]  # classes serve as values
    assert found == Traits.of(
        *_Said.operators, timeframe=True, consumption=["delete_reapply"], duplicates=["first", "ith"]
    )


def test_the_provider_that_loses_least_comes_first() -> None:
    found = [translate("(a ; b)_5", ALGEBRA, own) for own in (CE, SCE, OTCE)]
    assert [one.target.name for one in best_first(found)] == ["framed", "ordered", "simple"]
    exact = [translate("(a ; b)", ALGEBRA, own) for own in (CE, OTCE, SCE)]
    assert [one.target.name for one in best_first(exact)] == ["framed", "ordered", "simple"]
