"""The pretty language in colours: a Pygments lexer."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Operator

from tocsin.languages.colour_rules import COMMENTS, NUMBERS, REST, STRINGS, words

PHRASES = [
    "and",
    "before",
    "between",
    "by",
    "every",
    "followed",
    "immediately",
    "in",
    "is",
    "like",
    "not",
    "null",
    "or",
    "repeated",
    "then",
    "times",
    "unless",
    "where",
    "with",
    "within",
    "without",
]


class PrettyLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Colours for sentences of the pretty language."""

    name = "Tocsin sentences"
    aliases: ClassVar = ["tocsin-pretty"]
    filenames: ClassVar[list[str]] = []
    tokens: ClassVar = {
        "root": [*COMMENTS, *STRINGS, *NUMBERS, words(PHRASES), (r"<=|>=|!=|<>|[=<>.]", Operator), *REST]
    }
