"""Probing profiles in a language: each operator over events a and b.

They are written as the language's description says for an operator of that name; without a description, in the first evaluation
that the language can write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tocsin.algebra.pairs.expression import Composition, Expression, Primitive
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
    """The syntax of the operator with a and b in it, if that is a whole profile."""
    for one in operators:
        holes = _HOLE.findall(one["syntax"])
        if one["name"] == operator.value and set(holes) == set(CLASSES):
            text = _HOLE.sub(r"\1", one["syntax"])
            try:
                own.read(text)
            except TocsinError:
                continue
            return text
    return None


def _candidates(operator: Operator) -> Iterator[Expression]:
    node = NODES[operator]
    assert issubclass(node, Composition), operator
    for how in EVALUATIONS:
        yield node(tuple(Primitive(name) for name in CLASSES), None, how)
