"""Languages by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tocsin.algebra.completion.expression import Interpretation, Program
from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.tokens.selection import Selection
from tocsin.errors import InputError, PatternError, PatternErrors, PipelineErrors
from tocsin.events import Catalog
from tocsin.languages import registry
from tocsin.languages.binding import event
from tocsin.languages.builtin import LANGUAGES
from tocsin.languages.ksu import parse_idl

TEXTS = {
    "core": "[A];[B] within 1h",
    "pretty": '"A" followed by "B" within "1h"',
    "binding": 'eventA.followedBy(eventB).within("1h")',
}


@pytest.mark.parametrize("language", TEXTS)
def test_every_language_has_its_name_and_that_of_the_paper(language: str) -> None:
    text = TEXTS[language]
    assert registry.parse(text, language) == registry.parse(text, f"cambridge-{language}")


@pytest.mark.parametrize("language", TEXTS)
def test_every_language_reads_and_writes_the_same_pattern(language: str) -> None:
    subscription = registry.parse(TEXTS["core"])
    assert registry.parse(TEXTS[language], language).pattern == subscription.pattern
    assert registry.parse(registry.show(subscription, language), language).pattern == subscription.pattern


def test_the_core_language_is_meant_if_none_is_named() -> None:
    assert registry.parse("[A]", name="mine").name == "mine"


@pytest.mark.parametrize("language", ["prety", "cambridge-prety"])
def test_a_language_that_does_not_exist(language: str) -> None:
    with pytest.raises(InputError, match=r"unknown-language[\s\S]*did you mean '(cambridge-)?pretty'"):
        registry.parse("[A]", language)


def test_names_are_for_languages_that_have_them() -> None:
    pattern = registry.parse('"Event A"', "pretty", options={"names": {"Event A": "A"}}).pattern
    assert registry.parse("door", "binding", options={"names": {"door": "A"}}).pattern == pattern
    with pytest.raises(InputError, match="the core language has no option 'names'"):
        registry.parse("[A]", options={"names": {"Event A": "A"}})
    with pytest.raises(InputError, match="bad-option: the option names cannot be 'A'"):
        registry.parse('"A"', "pretty", options={"names": "A"})


def test_what_a_language_cannot_say_is_refused() -> None:
    with pytest.raises(PatternError, match="not-expressible"):
        registry.show(registry.parse("[A, B]"), "pretty")


CORRELATION = "Notify correlation C (Notify a) l:a {\n  case l: push a;\n}"


def test_texts_that_send_events_are_read_and_shown_in_their_own_language() -> None:
    program = registry.parse("subscribe S {repeat {push(x) {a}}}", "ecl")
    assert isinstance(program, Program)
    assert registry.show(program) == registry.show(program, "ecl") == "subscribe S {repeat {push(x) {a}}}"
    library = registry.parse(CORRELATION, "ksu")
    assert isinstance(library, Library)
    assert registry.parse(registry.show(library), "ksu") == library


def test_each_language_is_read_with_its_own_options() -> None:
    interpretation = Interpretation.of({"unless_tie": "failure"})
    assert registry.parse("a", "ecl", options=interpretation).interpretation == interpretation
    assert registry.parse("a", "ecl", options={"unless_tie": "failure"}).interpretation == interpretation
    with pytest.raises(PatternErrors, match="unknown-type"):
        registry.parse(CORRELATION, "ksu", options={"types": parse_idl("eventtype Other { };")})


def test_a_mistake_in_a_file_beside_the_text_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "events.idl"
    file.write_text("eventtype Other {")
    with pytest.raises(PipelineErrors, match=r"events\.idl, line 1"):
        registry.parse(CORRELATION, "ksu", options={"types": file})
    with pytest.raises(InputError, match="no-file"):
        registry.parse(CORRELATION, "ksu", options={"types": tmp_path / "none.idl"})


def test_one_correlation_of_a_library_is_chosen() -> None:
    both = CORRELATION + CORRELATION.replace("correlation C", "correlation D")
    assert [c.name for c in registry.parse(both, "ksu", options={"correlation": "D"}).correlations] == ["D"]
    with pytest.raises(InputError, match="there is no correlation 'E'"):
        registry.parse(both, "ksu", options={"correlation": "E"})


@pytest.mark.parametrize(
    ("language", "given"),
    [("ecl", {"catalog": Catalog()}), ("ksu", {"selection": Selection()}), ("ksu", {"name": "mine"})],
)
def test_what_a_language_has_no_use_for_is_refused(language: str, given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"does not take `{next(iter(given))}`"):
        registry.parse("a", language, **given)


@pytest.mark.parametrize("language", ["ecl", "ksu"])
def test_options_of_another_language_are_refused(language: str) -> None:
    with pytest.raises(InputError, match="has no option 'restart'"):
        registry.parse("a", language, options={"restart": "always"})


@pytest.mark.parametrize("language", ["ecl", "ksu"])
def test_a_value_of_another_language_is_refused(language: str) -> None:
    with pytest.raises(InputError, match="bad-pattern: this is a pattern\nhint: say language='core'"):
        registry.show(registry.parse("[A]"), language)
    with pytest.raises(InputError, match="int is not"):
        registry.show(1, language)


def test_a_program_is_shown_in_no_other_language() -> None:
    with pytest.raises(InputError, match="this is an ECL program\nhint: say language='ecl'"):
        registry.show(registry.parse("a", "ecl"), "core")


def test_a_pattern_built_in_python_is_shown_as_any_other() -> None:
    assert registry.show(event("A").followed_by(event("B")), "pretty") == '"A" followed by "B"'


@pytest.mark.parametrize(
    ("file", "language"),
    [("a.ecl", "ecl"), ("dir/b.cor", "ksu"), ("c.tocsin", "core"), ("d", None), ("e.x", None)],
)
def test_files_say_by_their_ending_what_they_are_written_in(file: str, language: str | None) -> None:
    found = registry.language_of_file(file)
    assert (found and found.name) == language


def test_every_language_of_ours_has_what_the_rooms_above_need() -> None:
    for own in LANGUAGES:
        has = {floor: own.offers(floor) for floor in ("compile", "explain", "check", "cases")}
        if has["compile"]:
            assert own.on("compile").read
            assert all(has.values()), own.name
        if has["explain"]:
            assert callable(own.on("explain"))
            assert own.on("check").report
        if has["cases"]:
            assert own.on("cases")
        # A family that has no engine on a floor yet says so.
        for floor in (floor for floor, there in has.items() if not there):
            with pytest.raises(InputError, match=f"not-offered: {own.title} cannot"):
                own.on(floor)
        assert own.offers("code") == (own.family == "completion")
        assert own.options_of({}) == own.options_type.of({})
        assert registry.language(own) is own
        for part in own.parts:
            assert callable(own.part(part))


def test_what_a_language_cannot_write_is_written_in_the_plain_one_of_its_family() -> None:
    for own in LANGUAGES:
        plain = registry.plain_language(own.family)
        assert registry.with_parts(own, *own.parts) is own
        having = own if plain.parts.keys() <= own.parts.keys() else plain
        assert registry.with_parts(own, *plain.parts) is having
    with pytest.raises(InputError, match="no language of the family 'preference'"):
        registry.plain_language("preference")


@pytest.mark.parametrize(
    ("file", "option"), [("a.idl", "types"), ("dir/b.cad", "assembly"), ("c.ecl", None), ("d", None)]
)
def test_files_that_an_option_is_read_from(file: str, option: str | None) -> None:
    found = registry.option_of_file(file)
    assert (found and found[1]) == option


def test_a_part_that_a_language_does_not_have() -> None:
    with pytest.raises(InputError, match="KSU has no part 'filer'"):
        registry.language("ksu").part("filer")
    with pytest.raises(InputError, match="unknown-language: there is no language 'kus-filter'"):
        registry.language_and_part("kus-filter")


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
    names = ("builtin", "core", "language", "lexis", "phrases", "profiles", "registry")
    assert found.strip() == str([f"tocsin.languages.{name}" for name in names])
