"""From EXML-QL to XML-QL: the text without what only EXML-QL has.

The names of blocks and the EVENT condition go, with the comma that parted it from its neighbour; everything else stays as
it was written.
"""

from __future__ import annotations

import re

from tocsin.algebra.blocks.query import Interpretation
from tocsin.languages.exml_ql.parser import read_query
from tocsin.languages.exml_ql.scanner import Scanner

_COMMA_AFTER = re.compile(r"\s*,")
_COMMA_BEFORE = re.compile(r",\s*$")


def xml_ql(text: str) -> str:
    """The XML-QL query that constructs the results of a text.

    >>> xml_ql('WHERE BLOCK $A: <a>$x</> IN "S", EVENT $A CONSTRUCT <r> $x </>')
    'WHERE <a>$x</> IN "S" CONSTRUCT <r> $x </>'
    """
    scanner = Scanner(text)
    read_query(scanner, Interpretation())
    rest, written = 0, ""
    for start, stop in sorted(scanner.cuts):
        written += text[rest:start]
        rest = stop
        if text.startswith("EVENT", start):
            if comma := _COMMA_AFTER.match(text, stop):
                rest = comma.end()
            else:
                written = _COMMA_BEFORE.sub("", written)
            written = written.rstrip()
    return written + text[rest:]
