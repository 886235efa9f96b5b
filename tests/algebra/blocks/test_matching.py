"""What patterns find in a document, by hand."""

from __future__ import annotations

import pytest

from tocsin.algebra.blocks.matching import MAX_FOUND, found_in
from tocsin.errors import LimitError
from tocsin.languages import registry
from tocsin.runtime.read.xml_documents import Unreadable, read_document
from tocsin.runtime.xml_tree import Content, written

_pattern = registry.language("exml-ql").part("block-pattern")


def _document(text: str) -> Content:
    found = read_document(text)
    assert not isinstance(found, Unreadable)
    return (found,)


def _found(pattern: str, text: str, *, root_only: bool = False) -> list[dict[str, str]]:
    ways = found_in(_pattern(pattern), _document(text), root_only=root_only)
    return [{name: written(value) for name, value in way.values.items()} for way in ways]


def test_ways_come_in_the_order_of_the_document() -> None:
    text = "<r><a><b>1</b><c>x</c><b>2</b><c>y</c></a><a><b>3</b><c>z</c></a></r>"
    found = _found("<a> <c>$c</> <b>$b</> </>", text)
    assert [way["c"] + way["b"] for way in found] == ["x1", "x2", "y1", "y2", "z3"]


def test_what_binds_nothing_does_not_multiply() -> None:
    assert _found("<a> <b></> </>", "<a><b/><b/><b/></a>") == [{}]
    assert _found("<a> <b></> <c>$c</> </>", "<a><b/><b/><c>1</c></a>") == [{"c": "1"}]


def test_equal_values_at_different_places_count() -> None:
    assert _found("<a> <b>$b</> </>", "<a><b>1</b><b>1</b></a>") == [{"b": "1"}, {"b": "1"}]


def test_two_parts_may_use_the_same_child() -> None:
    assert _found("<a> <b>$x</> <b>$y</> </>", "<a><b>1</b></a>") == [{"x": "1", "y": "1"}]


def test_a_variable_has_one_value() -> None:
    text = "<a><b>1</b><b>2</b><c> 2 </c><c>02</c></a>"
    assert _found("<a> <b>$x</> <c>$x</> </>", text) == [{"x": "2"}]
    assert _found("<a k=$x> <b>$x</> </>", '<a k="2"><b>1</b><b>2</b></a>') == [{"x": "2"}]


def test_several_ways_to_one_element_are_one() -> None:
    assert _found("<$*> <b>$x</> </>", "<a><c><b>1</b></c></a>") == [{"x": "1"}]
    assert _found("<a.$*.b>$x</>", "<a><a><b>1</b></a></a>") == [{"x": "1"}]


def test_a_text_is_a_text_child() -> None:
    assert _found("<a>x</>", "<a> x <i/>y</a>") == [{}]
    assert _found("<a>xy</>", "<a>x<i/>y</a>") == []
    assert _found("<a>x</>", "<a><i>x</i></a>") == []


def test_elements_contents_tags_and_attributes_are_bound() -> None:
    text = '<a><b k="1">x<i/></b></a>'
    assert _found("<$t k=$k>$c</> ELEMENT_AS $e CONTENT_AS $d", text) == [
        {"t": "b", "k": "1", "c": "x<i/>", "d": "x<i/>", "e": '<b k="1">x<i/></b>'}
    ]


def test_a_pattern_begins_at_the_root_only_if_it_must() -> None:
    assert _found("<b>$x</>", "<a><b>1</b></a>", root_only=True) == []
    assert _found("<a.b>$x</>", "<a><b>1</b></a>", root_only=True) == [{"x": "1"}]
    assert _found("<a> <a>$x</> </>", "<a><a>1</a></a>", root_only=True) == [{"x": "1"}]


def test_ways_are_bounded() -> None:
    text = f"<a>{'<b/>' * 101}</a>"
    with pytest.raises(LimitError, match="too-many-results"):
        _found("<a> <b>$x</> <b>$y</> </>", text)
    assert MAX_FOUND == 100 * 100


def test_parts_that_never_join_are_not_tried_for_ever() -> None:
    same = " ".join("<b>$x</>" for _ in range(8))
    other = "".join(f"<b>{number}</b>" for number in range(300))
    found = _found(f"<a> {same} </>", f"<a>{other}</a>")
    assert [way["x"] for way in found] == [str(number) for number in range(300)]
    with pytest.raises(LimitError, match="too-many-results"):
        _found("<a> <b>$x</> <b>$x</> </>", f"<a>{other * 4}</a>")


def test_repetitions_in_each_other_cost_no_more() -> None:
    path = "a"
    for _ in range(40):
        path = f"({path}|b)*"
    assert _found(f"<{path}.c>$x</>", "<a><b><a><c>1</c></a></b></a>") == [{"x": "1"}]
