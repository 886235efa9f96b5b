"""Probing profiles in a language: each operator over events a and b.

They are written as the language's description says for an operator of that name; without a description, in the first evaluation
that the language can write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tocsin.algebra.pairs.expression import Composition, Expression, Primitive, primitives
from tocsin.algebra.pairs.groups import EVALUATIONS, NODES, Operator
from tocsin.algebra.pairs.profile import Profile
from tocsin.analysis.pairs.probe import PROBED
from tocsin.analysis.pairs.settings import CLASSES
from tocsin.errors import TocsinError
from tocsin.languages.language import Language

DESCRIPTION = "description"
_HOLE = re.compile(r"<(\w+)(?::\w+)?>")


def probing_profiles(own: Language) -> dict[str, str]:
    """The profiles that a language can write, by operator; none of a language of primitive events only."""
    found = ((operator, _text(own, operator)) for operator in PROBED)
    return {operator.value: text for operator, text in found if text is not None}


def _text(own: Language, operator: Operator) -> str | None:
    if DESCRIPTION in own.parts:
        return _described(own, own.part(DESCRIPTION)().operators, operator)
    for expression in _candidates(operator):
        try:
            return own.text_of(Profile("probe", expression))
        except TocsinError:
            continue
    return None


def _described(own: Language, operators: Sequence[Mapping[str, Any]], operator: Operator) -> str | None:
    """The syntax of the operator with a and b in it, as a whole profile; in parentheses where the language wants them."""
    for one in operators:
        if one["name"] == operator.value and set(_HOLE.findall(one["syntax"])) == set(CLASSES):
            text = _HOLE.sub(r"\1", one["syntax"])
            return next((whole for whole in (text, f"({text})") if _is_profile(own, whole)), None)
    return None


def _is_profile(own: Language, text: str) -> bool:
    """Whether a text is a profile of both events: what stands behind a colon may be an action instead."""
    try:
        expression: Expression = own.read(text).expression
    except TocsinError:
        return False
    return {one.name for one in primitives(expression)} == set(CLASSES)


def _candidates(operator: Operator) -> Iterator[Expression]:
    node = NODES[operator]
    assert issubclass(node, Composition), operator
    for how in EVALUATIONS:
        yield node(tuple(Primitive(name) for name in CLASSES), None, how)
