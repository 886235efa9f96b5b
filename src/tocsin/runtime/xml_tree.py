"""XML as plain values: elements, their content, and how both are written.

>>> tree = Element("a", (("n", "1 & 2"),), ("x < y", Element("b", (), ())))
>>> written((tree,))
'<a n="1 &amp; 2">x &lt; y<b/></a>'
>>> plain_text((tree,))
'x < y'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

_NAME = re.compile(r"[^\W\d][\w.-]*")
# What XML 1.0 has no way to write, not even as a reference.
_UNWRITABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Element(NamedTuple):
    """An element: its local name, its attributes in the order of the document, and its content.

    `at` is its number in the document, parents before children; what is constructed has none until it is `numbered`.
    """

    name: str
    attributes: tuple[tuple[str, str], ...]
    content: Content
    at: int = -1


Content: TypeAlias = "tuple[Element | str, ...]"


def written(content: Content) -> str:
    """The content as XML."""
    parts: list[str] = []
    _write(content, parts)
    return "".join(parts)


def _write(content: Content, parts: list[str]) -> None:
    for node in content:
        if isinstance(node, str):
            parts.append(_escaped(node))
            continue
        parts.append(f"<{node.name}")
        parts += [f' {name}="{_escaped_attribute(value)}"' for name, value in node.attributes]
        if node.content:
            parts.append(">")
            _write(node.content, parts)
            parts.append(f"</{node.name}>")
        else:
            parts.append("/>")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")


def _escaped_attribute(text: str) -> str:
    escaped = _escaped(text).replace('"', "&quot;")
    # A reader turns plain line breaks and tabs of an attribute into blanks.
    return escaped.replace("\n", "&#10;").replace("\t", "&#9;")


def plain_text(content: Content) -> str:
    """The text of a content with the text of all elements in it."""
    return "".join(node if isinstance(node, str) else plain_text(node.content) for node in content)


def elements(content: Content) -> Iterator[Element]:
    """Every element of a content in the order of the document."""
    for node in content:
        if isinstance(node, Element):
            yield node
            yield from elements(node.content)


def numbered(content: Content) -> Content:
    """The content with its elements numbered from 0 in the order of the document."""
    return _numbered(content, iter(range(1 << 62)))


def _numbered(content: Content, numbers: Iterator[int]) -> Content:
    found: list[Element | str] = []
    for node in content:
        if isinstance(node, str):
            found.append(node)
        else:
            at = next(numbers)
            found.append(Element(node.name, node.attributes, _numbered(node.content, numbers), at))
    return tuple(found)


def is_element_name(text: str) -> bool:
    """Whether an element or attribute can have this name.

    >>> is_element_name("order-line"), is_element_name("2nd")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None


def writable(text: str) -> str:
    """The text without characters that XML cannot hold, each replaced by U+FFFD."""
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
