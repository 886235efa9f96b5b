"""KSU correlations in colours: a Pygments lexer, also for the IDL and assembly files beside them."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Keyword, Name

from tocsin.languages.colour_rules import COMMENTS, NUMBERS, REST, STRINGS, symbols, words
from tocsin.languages.ksu.words import RESERVED, SYMBOLS

FILE_WORDS = ("attribute", "connect", "eventtype", "module", "typedef", "unsigned")


class KsuLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Colours for correlations, event types and assemblies."""

    name = "Tocsin KSU"
    aliases: ClassVar = ["tocsin-ksu"]
    filenames: ClassVar = ["*.cor", "*.cad"]
    tokens: ClassVar = {
        "root": [
            *COMMENTS,
            *STRINGS,
            *NUMBERS,
            words(("true", "false"), Keyword.Constant),
            words({*RESERVED, *FILE_WORDS}),
            (r"(?<=new )[^\W\d]\w*|(?<=correlation )[^\W\d]\w*|(?<=eventtype )[^\W\d]\w*", Name.Class),
            (r"[^\W\d]\w*(?=\s*:(?!:))", Name.Label),
            symbols(SYMBOLS),
            *REST,
        ]
    }
