"""XML documents from strangers: read within bounds, or refused with a reason and a place."""

from __future__ import annotations

import tracemalloc

import pytest

from tocsin.runtime.read.xml_documents import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS, Unreadable, read_document
from tocsin.runtime.xml_tree import elements, written


def _read(data: bytes | str) -> str:
    found = read_document(data)
    assert not isinstance(found, Unreadable), found
    return written((found,))


def _refused(data: bytes | str) -> Unreadable:
    found = read_document(data)
    assert isinstance(found, Unreadable)
    assert found.reason
    return found


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<a>x<!-- c -->y<?p q?>z<b k='1'/></a>", '<a>xyz<b k="1"/></a>'),
        ("<a><![CDATA[1 < 2]]> &amp; &#65;</a>", "<a>1 &lt; 2 &amp; A</a>"),
        (b'<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>', "<a>é</a>"),
        ('<?xml version="1.0" encoding="iso-8859-1"?>\n<a>é</a>', "<a>é</a>"),
        ("\ufeff<a/>", "<a/>"),
        ("<a>é</a>".encode("utf-16"), "<a>é</a>"),
        ('<n:a xmlns:n="u" n:b="1"><c xmlns="v"/></n:a>', '<a b="1"><c/></a>'),
        ('<a xmlns:n="u" n:b="1" b="2"/>', '<a b="2"/>'),
    ],
)
def test_documents_are_read(data: bytes | str, text: str) -> None:
    assert _read(data) == text


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        ("", 1, 1),
        (" \n ", 2, 2),
        ("no XML", 1, 1),
        ("<a>\n<b></a>", 2, 8),
        ("<a>\n  <b", 2, 5),
        ("<a/><b/>", 1, 5),
        ("<a>&nowhere;</a>", 1, 13),
        ("<a>\x01</a>", 1, 4),
        (b"<a>\xff</a>", 1, 4),
        (b'<?xml version="1.0" encoding="no-such"?><a/>', 1, 39),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 1, 1),
        ('<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', 2, 1),
        ("<a>" * 1_000_000, 1, None),
        ("<a>" * (MAX_DEPTH + 1) + "</a>" * (MAX_DEPTH + 1), 1, None),
    ],
)
def test_what_is_wrong_has_a_place(data: bytes | str, line: int, column: int | None) -> None:
    found = _refused(data)
    assert found.line == line
    assert column is None or found.column == column
    assert f"(line {found.line}, column {found.column})" in found.text


def test_half_a_character_is_refused() -> None:
    assert _refused("<a>\ud800</a>").text == "it holds half a character"


def test_the_bounds_are_exact() -> None:
    found = read_document("<a>" * MAX_DEPTH + "</a>" * MAX_DEPTH)
    assert not isinstance(found, Unreadable)
    assert sum(1 for _ in elements((found,))) == MAX_DEPTH
    assert f"{MAX_ELEMENTS:,} elements" in _refused(f"<a>{'<b/>' * MAX_ELEMENTS}</a>").text


@pytest.mark.slow
def test_hostile_documents_take_no_memory() -> None:
    bomb = '<!DOCTYPE l [<!ENTITY a0 "aaaaaaaaaa">'
    bomb += "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 20))
    tracemalloc.start()
    _refused(f"{bomb}]><l>&a19;</l>")
    _refused(f'<a k="{"y" * 100_000_000}"/>')
    assert tracemalloc.get_traced_memory()[1] < 500_000_000  # which is what the text itself takes, encoded
    tracemalloc.stop()
    assert f"the limit is {MAX_BYTES:,}" in _refused(b"<a>" + b"y" * MAX_BYTES + b"</a>").text
