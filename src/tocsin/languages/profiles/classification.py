"""Groups of languages by what they offer, and the order of their expressiveness.

Paper: 004, Tables 13, 14, 15 and 23; Part C.5.18.
"""

from __future__ import annotations

from collections.abc import Collection

OPERATORS = ("conjunction", "disjunction", "sequence", "negation", "simultaneity", "selection")
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
    has = {SHORT.get(one, one) for one in operators}
    if not has:
        return PRIMITIVE_ONLY
    if not {"conjunction", "disjunction"} <= has:
        return UNGROUPED
    if "sequence" not in has:
        return "CE"
    if not timeframe:
        return "SCE"
    if "negation" not in has:
        return "TCE"
    return "STCE" if "simultaneity" in has else "OTCE"


def least_expressive(groups: Collection[str]) -> str:
    """The group that decides what a chain of services can say: the weakest of them.

    >>> least_expressive(["STCE", "SCE", "OTCE"])
    'SCE'
    """
    return min(groups, key=HIERARCHY.index)
