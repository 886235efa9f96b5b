"""What is constructed: one result for a row, identities, and what cannot be constructed."""

from __future__ import annotations

import pytest

from tocsin.algebra.blocks import construct
from tocsin.algebra.blocks.construct import is_event
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.algebra.blocks.semantics import answer
from tocsin.errors import InputError, LimitError
from tocsin.events import Interval
from tocsin.languages import registry
from tocsin.runtime.read.xml_documents import Unreadable, read_document
from tocsin.runtime.xml_tree import Element, written


def _results(text: str, *documents: str) -> list[str]:
    events = []
    for number, document in enumerate(documents, 1):
        found = read_document(document)
        assert not isinstance(found, Unreadable)
        events.append(XmlEvent(number, "S", Interval(number, number), (found,)))
    found = answer(registry.parse(text, "exml-ql"), events)
    return [written(result) for one in found.detections for result in one.results]


def test_values_keep_what_is_markup_and_what_is_text() -> None:
    text = 'WHERE <a k=$k>$x</> IN "S" CONSTRUCT <r k=$k l=$x> $k $x </>'
    document = '<a k="1 &lt; 2">a&amp;b<i>c</i></a>'
    assert _results(text, document) == ['<r k="1 &lt; 2" l="a&amp;bc">1 &lt; 2a&amp;b<i>c</i></r>']


def test_rows_are_ordered_numbers_first() -> None:
    text = 'WHERE <a> <b>$x</> </> IN "S" ORDERED-BY $x CONSTRUCT <r> $x </>'
    document = "<a><b>x</b><b>10</b><b>9</b><b>X</b></a>"
    assert _results(text, document) == ["<r>9</r>", "<r>10</r>", "<r>X</r>", "<r>x</r>"]


def test_equal_elements_with_one_identity_are_one_in_their_parent() -> None:
    text = (
        (
            'WHERE <a> <b> <k>$k</> <v>$v</> </> </> IN "S" '
            "CONSTRUCT <all ID=All($none)> <group ID=G($k) k=$k> <v> $v </> </> </>"
        )
        .replace("$none", "$s")
        .replace("<a> ", "<a s=$s> ")
    )
    document = '<a s="1"><b><k>1</k><v>x</v></b><b><k>2</k><v>y</v></b><b><k>1</k><v>z</v><v>x</v></b></a>'
    assert _results(text, document) == [
        '<all><group k="1"><v>x</v><v>z</v></group><group k="2"><v>y</v></group></all>'
    ]


def test_a_result_need_not_be_an_element() -> None:
    assert _results('WHERE <a>$x</> IN "S" CONSTRUCT $x', "<a>x<b/></a>") == ["x<b/>"]
    assert is_event((" ", Element("b", (), ())))
    assert not is_event(("x", Element("b", (), ())))
    assert not is_event((Element("b", (), ()), Element("b", (), ())))


def test_a_tag_that_is_no_name_is_refused() -> None:
    with pytest.raises(InputError, match="bad-name: the value of \\$x is 'not a name'"):
        _results('WHERE <a>$x</> IN "S" CONSTRUCT <$x></>', "<a>not a name</a>")


def test_results_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(construct, "MAX_SIZE", 10)
    text = 'WHERE <a>$x</> IN "S" CONSTRUCT <r> $x </>'
    assert _results(text, "<a>123456789</a>") == ["<r>123456789</r>"]
    with pytest.raises(LimitError, match="constructs more than 10"):
        _results(text, "<a>1234567890</a>")


def test_many_rows_are_refused() -> None:
    text = 'WHERE <a> <b>$x</> </> IN "S", <a> <b>$y</> </> IN "S", <a> <b>$z</> </> IN "S" CONSTRUCT <r></>'
    with pytest.raises(LimitError, match="too-many-results"):
        _results(text, f"<a>{'<b/>' * 30}</a>")


def test_a_nested_query_may_bind_again_what_it_looks_into() -> None:
    inner = "WHERE <c></> CONTENT_AS $y IN $x, <d>$z</> IN $y CONSTRUCT <e> $z </>"
    text = f'WHERE <a> <b>$x</> </> IN "S" CONSTRUCT <r> {inner} </>'
    assert _results(text, "<a><b><c><d>1</d></c></b></a>") == ["<r><e>1</e></r>"]
    again = 'WHERE <a>$x</> IN "S" CONSTRUCT <r> WHERE <b>$x</> IN $x CONSTRUCT <e> $x </> </>'
    assert _results(again, "<a><b>1</b></a>") == ["<r/>"]  # no value is the same as what lies inside it
