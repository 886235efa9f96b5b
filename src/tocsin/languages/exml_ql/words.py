"""The words and signs of EXML-QL."""

from __future__ import annotations

import re

RESERVED = frozenset(
    {
        *("WHERE", "BLOCK", "IN", "EVENT", "CONTEXT", "CONSTRUCT", "FUNCTION", "END"),
        *("BEFORE", "AFTER", "CONCURRENT", "DURING", "WITHIN", "AND", "OR", "NOT", "BETWEEN"),
        *("ELEMENT_AS", "CONTENT_AS", "ORDERED"),
    }
)
CONDITION_ENDS = (
    "CONSTRUCT",
    "ORDERED",
    "BLOCK",
    "EVENT",
    "END",
)  # where the next condition may begin after a mistake

NAME = re.compile(r"[^\W\d]\w*")
TAG_NAME = re.compile(r"[^\W\d][\w-]*")
VARIABLE = re.compile(r"\$([^\W\d]\w*)")
STRING = re.compile(r'"((?:[^"]|"")*)"')
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?", re.ASCII)
DURATION = re.compile(r"\d+(?:\.\d+)?[^\W\d]+")
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
BLANK = re.compile(r"\s*")
# A text in content lasts to the next element or variable, and in a template also to a nested query.
LITERAL = re.compile(r"(?:[^<$]|\$(?![^\W\d]))+")
NESTED = re.compile(r"\bWHERE\b")
PLAIN = re.compile(r"\w[\w.:;,+*/-]*(?: \w[\w.:;,+*/-]*)*")  # what the printer leaves without quotes


def quoted(text: str) -> str:
    """A text as a string of the language."""
    return '"' + text.replace('"', '""') + '"'
