"""The words and signs of the notation."""

from __future__ import annotations

from tocsin.algebra.pairs.expression import Composition, Conjunction, Disjunction, Sequence, Simultaneity
from tocsin.algebra.pairs.parameters import ALL, FIRST, LAST, Consumption, Gather, Pick

SYMBOLS = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        ":",
        "|",
        "^",
        "!",
        "=",
        "==",
        ":=",
        "..",
        "<=",
        ">=",
        "<",
        ">",
        "!=",
    ),
    *("`", "-"),
)
INFIX: dict[str, type[Composition]] = {"|": Disjunction, ",": Conjunction, ";": Sequence, ":": Simultaneity}
PREFIX: dict[str, type[Composition]] = {"v": Disjunction, "^": Conjunction, ";": Sequence, "==": Simultaneity}
BETWEEN = {Disjunction: " | ", Conjunction: ", ", Sequence: " ; ", Simultaneity: " : "}
SIGNS = {operator: sign for sign, operator in PREFIX.items()}
PICKS: dict[str, Pick] = {"first": FIRST, "last": LAST, "all": ALL}
GATHERS: dict[str, Gather] = {one.value: one for one in Gather}
# The consumption modes as Unland and Zimmer call them. Paper: 004, section 2.
CONSUMPTION = {
    "shared": Consumption.KEEP,
    "exclusive_parameter": Consumption.REAPPLY,
    "exclusive": Consumption.DELETE,
    "own": Consumption.OWN,
}
CALLED = {mode: name for name, mode in CONSUMPTION.items()}
TIMES = ("at", "after", "every")
# Words that are no event types, unless they stand between backquotes.
RESERVED = frozenset({*TIMES, "AND", "OR", "NOT", "IS", "NULL", "LIKE", "not", "v", "true", "false"})
