"""The words and symbols of ECL, and of the machine files beside it."""

from __future__ import annotations

import re

OPERATORS = (
    "accumulate",
    "do",
    "fail",
    "in",
    "loop",
    "parallel",
    "persist",
    "push",
    "repeat",
    "select",
    "sequential",
)
RESERVED = frozenset({*OPERATORS, "unless", "true", "false", "define", "subscribe"})
MACHINE_RESERVED = RESERVED | {"eps", "clear", "goto", "out", "all"}

# The paper's own symbols are read too; they are printed in ASCII.
AND = ("/\\", "&&", "∧")
OR = ("\\/", "||", "∨")
NOT = ("!", "¬")
OPENING = ("<", "⟨")
CLOSING = (">", "⟩")
RELATIONS = {
    "=": "=",
    "!=": "!=",
    "≠": "!=",
    "<": "<",
    "<=": "<=",
    "≤": "<=",
    ">": ">",
    ">=": ">=",
    "≥": ">=",
}
SYMBOLS = (*AND, *OR, *NOT, *OPENING, *CLOSING, *RELATIONS, *"{}(),;:*.-&|")

_NAME = re.compile(r"[^\W\d]\w*")


def is_name(text: str, reserved: frozenset[str]) -> bool:
    """Whether a text can be written without quotes."""
    return _NAME.fullmatch(text) is not None and text not in reserved
