"""Reads an XML document from a stranger: within bounds, with no entities, no document type and no network.

A document that cannot be read is a reason with line and column, never an exception of the parser. The memory that a
document may take is bounded: `MAX_BYTES` of it are parsed at most, which the parser turns into 200 MB in the worst case,
and its tree has at most `MAX_ELEMENTS` elements in `MAX_DEPTH` levels. Namespaces are not compared: an element has its
local name, and declarations are left out.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import count
from typing import NamedTuple

from lxml import etree

from tocsin.runtime.xml_tree import Element

MAX_BYTES = 4_000_000
MAX_DEPTH = 200
MAX_ELEMENTS = 100_000
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DOCTYPE = re.compile(rb"<\s*!\s*DOCTYPE", re.IGNORECASE)


class Unreadable(NamedTuple):
    """Why a document cannot be read, and where, counted from 1; 0 if it is about the whole document."""

    reason: str
    line: int = 0
    column: int = 0

    @property
    def text(self) -> str:
        """The reason with its place."""
        return f"{self.reason} (line {self.line}, column {self.column})" if self.line else self.reason


def read_document(data: bytes | str) -> Element | Unreadable:
    """The root of a document, or why it cannot be read.

    >>> read_document("<a><b>1</b></a>").content[0].name
    'b'
    >>> read_document("<a><b></a>").text
    'Opening and ending tag mismatch: b line 1 and a (line 1, column 11)'
    """
    if isinstance(data, str):
        if _SURROGATE.search(data):
            return Unreadable("it holds half a character")
        # A text has been decoded already, whatever encoding it declares.
        data = _without_declaration(data).encode()
    if len(data) > MAX_BYTES:
        return Unreadable(f"it has {len(data):,} bytes; the limit is {MAX_BYTES:,}")
    try:
        root = etree.fromstring(data, _parser())
    except etree.XMLSyntaxError as problem:
        line, column = problem.position
        reason = (problem.msg or "it is not an XML document").rsplit(", line ", 1)[0]
        return Unreadable(reason, max(1, line or 1), max(1, column or 1))
    except (ValueError, LookupError) as problem:
        return Unreadable(f"it cannot be decoded: {problem}")
    if root is None:
        return Unreadable("it is empty", 1, 1)
    if root.getroottree().docinfo.internalDTD is not None:
        return _doctype(data)
    return _tree(root)


@cache
def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _without_declaration(text: str) -> str:
    """The text with its XML declaration as blanks, so that places stay right."""
    found = re.match(r"\ufeff?\s*<\?xml\s[^>]*?\?>", text)
    if found is None:
        return text.removeprefix("\ufeff")
    return re.sub(r"[^\n]", " ", found[0]).lstrip("\n") + text[found.end() :]


def _doctype(data: bytes) -> Unreadable:
    found = _DOCTYPE.search(data)
    before = data[: found.start()] if found else b""
    line, column = before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
    return Unreadable("it has a document type, which is not read", line, column)


def _tree(root: etree._Element) -> Element | Unreadable:
    numbers = count()
    deepest = 0

    def element(node: etree._Element, depth: int) -> Element:
        nonlocal deepest
        at = next(numbers)
        if depth > MAX_DEPTH or at >= MAX_ELEMENTS:
            raise _Beyond(node.sourceline or 0)
        content: list[Element | str] = []
        if node.text:
            content.append(node.text)
        for child in node:
            content.append(element(child, depth + 1))
            if child.tail:
                content.append(child.tail)
        given = node.items()
        return Element(_local(node.tag), _attributes(given) if given else (), tuple(content), at)

    try:
        return element(root, 1)
    except _Beyond as found:
        limits = f"{MAX_DEPTH} levels or {MAX_ELEMENTS:,} elements"
        return Unreadable(f"it has more than {limits}", found.line, 1)


def _attributes(given: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The attributes by their local names; of two with the same, the one without a namespace."""
    found: dict[str, str] = {}
    for name, value in given:
        local = _local(name)
        if local == name or local not in found:
            found[local] = value
    return tuple(found.items())


class _Beyond(Exception):  # noqa: N818  (it never leaves this module)
    def __init__(self, line: int) -> None:
        self.line = line


def _local(name: str) -> str:
    return name.rpartition("}")[2] if name[0] == "{" else name
