"""The core language in colours: a Pygments lexer."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, using
from pygments.lexers.data import YamlLexer
from pygments.token import Keyword, Name, Operator, Punctuation, Whitespace

from tocsin.languages.colour_rules import COMMENTS, NUMBERS, REST, STRINGS, words
from tocsin.languages.core.words import RESERVED

# Words that mean something in their place only, and that can be names elsewhere.
SOFT = ("AND", "BETWEEN", "IN", "IS", "LIKE", "NOT", "NULL", "OR", "null", "within")
_SETTINGS = "matches|take|detection|distribution"  # they follow a comma, too


class CoreLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Colours for patterns of the core language."""

    name = "Tocsin"
    aliases: ClassVar = ["tocsin"]
    filenames: ClassVar = ["*.tocsin"]
    tokens: ClassVar = {
        "root": [
            # A file of a rule: YAML with its name and more, the pattern, YAML with its test cases.
            (r"\A(---[ \t]*\n)([\s\S]*?)(^---[ \t]*$)", bygroups(Punctuation, using(YamlLexer), Punctuation)),
            (r"(^---[ \t]*\n)([\s\S]*)", bygroups(Punctuation, using(YamlLexer))),
            (rf"(?<=[\[,{{!])(\s*)(?!(?:{_SETTINGS})\b)([^\W\d]\w*)", bygroups(Whitespace, Name.Class)),
            *COMMENTS,
            *STRINGS,
            *NUMBERS,
            words(("true", "false", "null", "NULL"), Keyword.Constant),
            words({*RESERVED, *SOFT}),
            (r"\$[^\W\d]\w*", Name.Variable),
            (r"([^\W\d]\w*)(?=\s*:=)", Name.Class),
            (r"_(?=\{)", Operator),
            (r":=|\|\||<=|>=|!=|<>|[|*+?!=<>.$@-]", Operator),
            *REST,
        ]
    }
