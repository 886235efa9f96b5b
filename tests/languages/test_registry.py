"""Languages by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tocsin.errors import InputError, PatternError
from tocsin.languages import registry

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


@pytest.mark.slow
def test_a_language_is_loaded_when_it_is_used() -> None:
    code = (
        "import sys; from tocsin.languages import registry; registry.parse('[A]');"
        "print(sorted(m for m in sys.modules if m.startswith('tocsin.languages.') and m.count('.') == 2))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "['tocsin.languages.core', 'tocsin.languages.lexis', 'tocsin.languages.registry']"
