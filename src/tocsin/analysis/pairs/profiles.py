"""Probing profiles in a language: each operator over events a and b, in the first setting that its notation can write."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.groups import Operator
from tocsin.algebra.pairs.parameters import Views
from tocsin.algebra.pairs.profile import Profile
from tocsin.analysis.pairs.probe import PROBED
from tocsin.analysis.pairs.settings import Setting, settings
from tocsin.errors import TocsinError
from tocsin.languages.language import Language


def probing_profiles(own: Language) -> dict[str, str]:
    """The profiles that a language can write, by operator; none of a language of primitive events only."""
    found = ((operator, _text(own, operator)) for operator in PROBED)
    return {operator.value: text for operator, text in found if text is not None}


def _text(own: Language, operator: Operator) -> str | None:
    for expression in _candidates(operator):
        try:
            return own.text_of(Profile("probe", expression))
        except TocsinError:
            continue
    return None


def _candidates(operator: Operator) -> Iterator[Expression]:
    yield Setting("", Views()).expression(operator)
    yield from (setting.expression(operator) for setting in settings(operator))
