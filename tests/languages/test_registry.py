"""Languages by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tocsin.algebra.completion.expression import Program, Reading
from tocsin.algebra.correlation.expression import Library
from tocsin.errors import InputError, PatternError, PatternErrors
from tocsin.languages import registry
from tocsin.languages.ksu import parse_idl

TEXTS = {
    "core": "([A], [B in {B, T1}])_{T1=1h}",
    "pretty": '"A" followed by "B" within "1h"',
    "binding": 'eventA.followedBy(eventB).within("1h")',
}


@pytest.mark.parametrize("language", registry.LANGUAGES)
def test_every_language_has_its_name_and_that_of_the_paper(language: str) -> None:
    text = TEXTS[language]
    assert registry.parse(text, language) == registry.parse(text, f"cambridge-{language}")


@pytest.mark.parametrize("language", registry.LANGUAGES)
def test_every_language_reads_and_writes_the_same_pattern(language: str) -> None:
    pattern = registry.parse(TEXTS["core"])
    assert registry.parse(TEXTS[language], language) == pattern
    assert registry.parse(registry.show(pattern, language), language) == pattern


def test_the_core_language_is_meant_if_none_is_named() -> None:
    assert registry.parse("[A]", name="mine").name == "mine"


@pytest.mark.parametrize("language", ["prety", "cambridge-prety"])
def test_a_language_that_does_not_exist(language: str) -> None:
    with pytest.raises(InputError, match=r"unknown-language[\s\S]*did you mean '(cambridge-)?pretty'"):
        registry.parse("[A]", language)


def test_names_are_for_languages_that_have_them() -> None:
    pattern = registry.parse('"Event A"', "pretty", names={"Event A": "A"}).pattern
    assert registry.parse("door", "binding", names={"door": "A"}).pattern == pattern
    with pytest.raises(InputError, match="no table of names"):
        registry.parse("[A]", names={"Event A": "A"})


def test_what_a_language_cannot_say_is_refused() -> None:
    with pytest.raises(PatternError, match="not-expressible"):
        registry.show(registry.parse("[A]*"), "pretty")


CORRELATION = "Notify correlation C (Notify a) l:a {\n  case l: push a;\n}"


def test_texts_that_send_events_are_read_and_shown_in_their_own_language() -> None:
    program = registry.parse("subscribe S {repeat {push(x) {a}}}", "ecl")
    assert isinstance(program, Program)
    assert registry.show(program) == registry.show(program, "ecl") == "subscribe S {repeat {push(x) {a}}}"
    library = registry.parse(CORRELATION, "ksu")
    assert isinstance(library, Library)
    assert registry.parse(registry.show(library), "ksu") == library


def test_each_language_is_read_with_its_own_options() -> None:
    reading = Reading.of({"unless_tie": "failure"})
    assert registry.parse("a", "ecl", reading=reading).reading == reading
    with pytest.raises(PatternErrors, match="unknown-type"):
        registry.parse(CORRELATION, "ksu", types=parse_idl("eventtype Other { };"))


@pytest.mark.parametrize(("language", "option"), [("ecl", "catalog"), ("ksu", "reading"), ("ksu", "name")])
def test_options_of_another_language_are_refused(language: str, option: str) -> None:
    with pytest.raises(InputError, match=f"{option} means nothing to the language {language}"):
        registry.parse("a", language, **{option: None})


@pytest.mark.parametrize("language", registry.SENDING)
def test_who_wants_a_subscription_gets_one_or_an_error(language: str) -> None:
    assert registry.parse_subscription("[A]") == registry.parse("[A]")
    with pytest.raises(InputError, match=f"texts of {language} send events, and are no patterns"):
        registry.parse_subscription("a", language)
    with pytest.raises(InputError, match="are no patterns"):
        registry.show(registry.parse("[A]"), language)


def test_a_program_is_shown_in_no_other_language() -> None:
    with pytest.raises(InputError, match="this is written in ecl, and in no other language"):
        registry.show(registry.parse("a", "ecl"), "core")


def test_a_slip_of_the_pen_is_noticed() -> None:
    with pytest.raises(InputError, match="did you mean 'ecl'"):
        registry.parse("a", "elc")


@pytest.mark.slow
def test_a_language_is_loaded_when_it_is_used() -> None:
    code = (
        "import sys; from tocsin.languages import registry; registry.parse('[A]');"
        "print(sorted(m for m in sys.modules if m.startswith('tocsin.languages.') and m.count('.') == 2))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['tocsin.languages.core', 'tocsin.languages.lexis', 'tocsin.languages.registry']"
