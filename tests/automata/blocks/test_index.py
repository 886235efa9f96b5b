"""The block index: what it shares, what it costs, and that blocks come and go."""

from __future__ import annotations

import pytest

from tocsin.algebra.blocks.joining import Evaluation
from tocsin.automata.blocks.index import BlockIndex
from tocsin.cases.blocks.workload import STREAM, Workload
from tocsin.languages import registry
from tocsin.runtime.xml_tree import Content, Element, numbered

_pattern = registry.language("exml-ql").part("block-pattern")


def _document(*names: str) -> Content:
    return numbered((Element("a", (), tuple(Element(name, (), ("1",)) for name in names)),))


def test_equal_blocks_are_compared_once() -> None:
    index = BlockIndex()
    for name in ("one", "two"):
        index.add(name, "S", _pattern("<a> <b>$x</> </>"))
    index.add("three", "S", _pattern("<a> <b>$y</> </>"))
    assert len(index) == 2
    assert sorted(map(str, index.match("S", _document("b")))) == ["one", "three", "two"]
    assert index.work.chains == 2
    index.remove("one")
    assert sorted(map(str, index.match("S", _document("b")))) == ["three", "two"]
    index.remove("two")
    assert len(index) == 1
    index.remove("two")  # it is gone already


def test_a_block_that_is_added_again_takes_the_place_of_the_first() -> None:
    index = BlockIndex()
    index.add("one", "S", _pattern("<a></>"))
    index.add("one", "S", _pattern("<b></>"))
    assert len(index) == 1
    assert list(index.match("S", _document("b"))) == ["one"]
    assert list(index.match("S", _document("c"))) == []


def test_names_are_compared_before_anything_else() -> None:
    index = BlockIndex()
    index.add("long", "S", _pattern("<a> <b></> <c></> <d></> </>"))
    index.match("S", _document("b"))
    assert (index.work.elements, index.work.chains, index.work.comparisons) == (2, 1, 2)
    index.match("S", _document("b", "c", "d"))
    assert index.work.comparisons == 2 + 3


def test_a_required_text_is_looked_up() -> None:
    index = BlockIndex()
    for number in range(100):
        index.add(f"text {number}", "S", _pattern(f"<a> <b>{number}</> </>"))
        index.add(f"attribute {number}", "S", _pattern(f'<a k="{number}"></>'))
    document = numbered(
        (Element("a", (("k", "8"),), (Element("b", (), (" 7 ",)), Element("b", (), ("7",)))),)
    )
    assert sorted(map(str, index.match("S", document))) == ["attribute 8", "text 7"]
    assert index.work.chains == 2


@pytest.mark.parametrize("topics", [0, 50])
def test_the_work_for_each_document_is_within_the_bound_of_the_paper(topics: int) -> None:
    """(S + m·n − 1)·t: S elements are looked up, and m chains of at most n nodes compared; heads were found by name."""
    workload, index = Workload(events=50, topics=topics), BlockIndex()
    for number in range(200):
        query = workload.query(number)
        evaluation = Evaluation(query)
        for block in query.blocks:
            index.add((number, block.name), STREAM, block.pattern, evaluation.own_predicates(block.name))
    compared = 0
    for document in workload.documents():
        before = index.work.steps
        chains = index.work.chains
        elements = index.work.elements
        index.match(STREAM, document)
        tried = index.work.chains - chains
        bound = (index.work.elements - elements) + max(0, tried * index.work.longest - 1)
        assert index.work.steps - before <= bound
        compared += tried
    assert compared > 0
    assert index.work.steps <= index.work.bound
    # Where blocks require a text, hardly any that do not match are compared.
    assert (compared == index.work.matched) == (topics > 0)
