"""ECL in colours: a Pygments lexer."""

from __future__ import annotations

import re
from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Keyword, Name

from tocsin.languages.colour_rules import COMMENTS, NUMBERS, REST, STRINGS, symbols, words
from tocsin.languages.ecl.words import MACHINE_RESERVED, SYMBOLS

MACHINE_WORDS = ("failure", "initial", "machine", "order", "states", "success", "trans")


class EclLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Colours for subscriptions of ECL and for machine files. (`ecl` in Pygments is another language.)"""

    name = "Tocsin ECL"
    aliases: ClassVar = ["tocsin-ecl"]
    filenames: ClassVar = ["*.ecl"]
    tokens: ClassVar = {
        "root": [
            *COMMENTS,
            *STRINGS,
            *NUMBERS,
            (r"(?<=subscribe )[^\W\d]\w*|(?<=define )[^\W\d]\w*", Name.Class),
            words(("true", "false"), Keyword.Constant),
            words({*MACHINE_RESERVED, *MACHINE_WORDS}),
            symbols(SYMBOLS),
            *REST,
        ]
    }

    def analyse_text(text: str) -> float:  # noqa: N805  (Pygments makes it static)
        """How much a text looks like this language and not like the other that Pygments calls ECL."""
        return (
            0.9
            if re.search(r"\b(accumulate|sequential|repeat|subscribe \w+) *\{|^\s*machine \w+ *\{", text)
            else 0.0
        )
