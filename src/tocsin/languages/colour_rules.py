"""The rules shared by the Pygments lexers of all languages: comments, strings, numbers and durations, words and names.

A lexer of a language is found by Pygments through the entry point `pygments.lexers`, so nothing here is loaded for detection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, Punctuation, String, Whitespace

Rule = tuple[str, object]

COMMENTS: tuple[Rule, ...] = (
    (r"\s+", Whitespace),
    (r"//[^\n]*", Comment.Single),
    (r"/\*[\s\S]*?\*/", Comment.Multiline),
)
STRINGS: tuple[Rule, ...] = ((r"'(?:''|[^'])*'", String.Single), (r'"(?:""|[^"])*"', String.Double))
_UNITS = "us|ms|s|secs?|seconds?|min|mins|minutes?|m|hours?|h|days?|d|weeks?|w"
NUMBERS: tuple[Rule, ...] = (
    (r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?", Literal.Date),
    (rf"\d+(?:\.\d+)?\s?(?:{_UNITS})\b", Number.Other),
    (r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", Number),
)


def words(names: Iterable[str], kind: object = Keyword) -> Rule:
    """A rule for whole words, the longest first."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return rf"(?:{'|'.join(map(re.escape, ordered))})(?!\w)", kind


def symbols(names: Iterable[str]) -> Rule:
    """A rule for signs, the longest first; brackets and separators are left to `REST`."""
    ordered = sorted((name for name in names if name not in "()[]{},;"), key=lambda name: (-len(name), name))
    return "|".join(map(re.escape, ordered)), Operator


REST: tuple[Rule, ...] = ((r"[\[\](){},;]", Punctuation), (r"[^\W\d]\w*", Name), (r".", Name))
