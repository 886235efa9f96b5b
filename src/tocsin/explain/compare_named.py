"""One question about two: whether they do the same, or one accepts all that the other accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tocsin.errors import InputError, did_you_mean
from tocsin.explain.check_report import Asked, Comparison
from tocsin.explain.check_texts import checks_of, named_in
from tocsin.explain.parsed_text import ParsedText

_Found = tuple[ParsedText, Any]  # the text, and what has the name in it


def ask(question: Asked, names: tuple[str, str], texts: Sequence[ParsedText]) -> Comparison:
    """The answer to a question about two names, which may be in different texts."""
    known = [(text, one) for text in texts for one in named_in(text)]
    left, right = (_find(name, known) for name in names)
    return _compared(question, left, right)


def _find(name: str, known: Sequence[_Found]) -> _Found:
    """The part of a text that a name refers to."""
    found = [one for one in known if one[1].name == name]
    if len(found) > 1:
        places = " and ".join(text.place for text, _ in found)
        raise InputError("duplicate-name", f"there is more than one {name}, in {places}", hint="rename one")
    if not found:
        hint = did_you_mean(name, [one.name for _, one in known])
        raise InputError("unknown-name", f"there is no {name} in these files", hint=hint)
    return found[0]


def _compared(question: Asked, left: _Found, right: _Found) -> Comparison:
    (text, one), (other_text, other) = left, right
    checks = checks_of(text.language)
    if checks is not checks_of(other_text.language) or question not in checks.compare:
        hint = (
            "equal is for two of one family, but not for patterns; contains is for expressions and machines"
        )
        message = f"{question} cannot be asked of {one.name} and {other.name}"
        raise InputError("bad-question", message, hint=hint)
    return checks.compare[question](one, other)


def compare_texts(left: ParsedText, right: ParsedText) -> tuple[Comparison, ...]:
    """Every question about two texts of a language that hold one expression, machine or filter each, in both directions."""
    asked = checks_of(left.language).compare
    if not asked:
        message = f"texts of {left.language.title} cannot be compared with each other"
        raise InputError("bad-question", message, hint="expressions, machines and filters can")
    one, other = _only(left), _only(right)
    found = [_compared(question, one, other) for question in asked]
    back = [_compared(question, other, one) for question in asked if question == "contains"]
    return (*found, *back)


def _only(text: ParsedText) -> _Found:
    found = named_in(text)
    if len(found) != 1:
        message = f"{text.place} holds {len(found)} subscriptions or correlations, not one"
        raise InputError("bad-question", message, hint="put each into a text of its own")
    return text, found[0]
