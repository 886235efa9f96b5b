"""Documents and results of cases, in a form that can be compared."""

from __future__ import annotations

from tocsin.errors import CaseError, PatternErrors, TocsinError
from tocsin.runtime.read.xml_documents import Unreadable, read_document
from tocsin.runtime.xml_tree import Content, Element, written


def event_of(xml: object) -> Element:
    """The document of an event of a trace."""
    if not isinstance(xml, str):
        raise CaseError("bad-case", f"an event has no xml, but {xml!r}", hint="write xml: <a>1</a>")
    found = read_document(xml)
    if isinstance(found, Unreadable):
        raise CaseError("bad-case", f"an event is no XML document: {found.text}")
    return found


def comparable(content: Content) -> str:
    """A content as XML without blanks in its texts, and with its attributes in order.

    >>> comparable(("a b", Element("r", (("z", "1"), ("y", "2")), ())))
    'ab<r y="2" z="1"/>'
    """
    return written(_bare(content))


def _bare(content: Content) -> Content:
    found: list[Element | str] = []
    for node in content:
        if isinstance(node, Element):
            found.append(Element(node.name, tuple(sorted(node.attributes)), _bare(node.content)))
        elif text := "".join(node.split()):
            found.append(text)
    return tuple(found)


def refusal(expected: object, error: TocsinError | None) -> object:
    """The value to compare with an expected error: whether there was one or, if codes are expected, its codes."""
    codes = [] if error is None else [error.code]
    if isinstance(error, PatternErrors):
        codes = [one.code for one in error.errors]
    if isinstance(expected, str):
        return expected if expected in codes else codes
    return codes if isinstance(expected, list) else bool(codes)
