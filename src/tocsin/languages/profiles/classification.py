"""Groups of languages by what they offer, and the order of their expressiveness: the words for `tocsin.algebra.pairs.groups`.

Paper: 004, Tables 13, 14, 15 and 23; Part C.5.18.
"""

from __future__ import annotations

from collections.abc import Collection

from tocsin.algebra.pairs import groups
from tocsin.algebra.pairs.groups import Operator

OPERATORS = tuple(operator.value for operator in Operator)
# Table 13; short names as the survey's cases have them.
SHORT = {
    "conj": "conjunction",
    "disj": "disjunction",
    "seq": "sequence",
    "neg": "negation",
    "sim": "simultaneity",
    "sel": "selection",
}
GROUPS = {
    "CE": "simple composite events",
    "SCE": "sophisticated composite events",
    "TCE": "simple time-framed composite events",
    "OTCE": "ordinary time-framed composite events",
    "STCE": "sophisticated time-framed composite events",
}
HIERARCHY = tuple(GROUPS)  # Table 23: each is more expressive than those before it
PRIMITIVE_ONLY, UNGROUPED = "primitive-only", "ungrouped"


def group_of(operators: Collection[str], timeframe: bool) -> str:
    """The group of a language with these operators, and with timeframes or without.

    >>> group_of(["conjunction", "disjunction", "sequence"], True), group_of(["sequence"], False), group_of([], False)
    ('TCE', 'ungrouped', 'primitive-only')
    """
    has = [Operator(SHORT.get(one, one)) for one in operators]
    if not has:
        return PRIMITIVE_ONLY
    found = groups.group_of(has, timeframe)
    return UNGROUPED if found is None else found.name


def least_expressive(names: Collection[str]) -> str:
    """The group that decides what a chain of services can say: the weakest of them.

    >>> least_expressive(["STCE", "SCE", "OTCE"])
    'SCE'
    """
    return min(names, key=HIERARCHY.index)
