"""Laws of queries over XML events: the index finds what looking at every block finds, the tree what the definitions say."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from support.block_strategies import documents, patterns, predicates, queries, streams
from tocsin.algebra.blocks.conditions import Predicate
from tocsin.algebra.blocks.joining import own_predicates
from tocsin.algebra.blocks.matching import found_with
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.algebra.blocks.query import Block, Pattern, Query, Stream, Where, variables
from tocsin.algebra.blocks.semantics import answer
from tocsin.automata.blocks.index import BlockIndex
from tocsin.automata.blocks.online import answer_online
from tocsin.runtime.read.xml_documents import Unreadable, read_document
from tocsin.runtime.xml_tree import Content, written


@st.composite
def _blocks(draw: st.DrawFn) -> list[tuple[Pattern, tuple[Predicate, ...], bool]]:
    found = []
    for pattern in draw(st.lists(patterns, min_size=1, max_size=8)):
        bound = sorted({one.name for one in variables(pattern)})
        where = Where(
            (Block(pattern, Stream("S"), "B"),), tuple(draw(st.lists(predicates(bound), max_size=1)))
        )
        found.append((pattern, own_predicates(where, where.blocks[0]), draw(st.booleans())))
    return found


@settings(max_examples=300, deadline=None)
@given(_blocks(), st.lists(documents, min_size=1, max_size=3), st.sets(st.integers(0, 7)))
def test_the_index_finds_what_looking_at_every_block_finds(
    blocks: list[tuple[Pattern, tuple[Predicate, ...], bool]], some: list[Content], removed: set[int]
) -> None:
    index = BlockIndex()
    for number, (pattern, own, root_only) in enumerate(blocks):
        index.add(number, "S", pattern, own, root_only=root_only)
    there = dict(enumerate(blocks))
    for document in some:
        expected = {
            number: ways
            for number, (pattern, own, root_only) in there.items()
            if (ways := found_with(pattern, document, own, root_only=root_only))
        }
        assert index.match("S", document) == expected
        assert index.match("T", document) == {}
        # Blocks go while documents come.
        for number in removed & there.keys():
            index.remove(number)
            del there[number]
    for number in there:
        index.remove(number)
    assert len(index) == 0
    assert index.match("S", some[0]) == {}


@settings(max_examples=300, deadline=None)
@given(queries(plain=True), streams(plain=True))
def test_the_event_tree_finds_what_the_definitions_say(query: Query, events: list[XmlEvent]) -> None:
    assert answer_online(query, events) == answer(query, events)


@settings(max_examples=200, deadline=None)
@given(queries(), streams())
def test_whole_queries_find_what_the_definitions_say(query: Query, events: list[XmlEvent]) -> None:
    assert answer_online(query, events) == answer(query, events)


@settings(max_examples=200, deadline=None)
@given(documents)
def test_what_is_written_is_read_again(document: Content) -> None:
    found = read_document(written(document))
    assert not isinstance(found, Unreadable)
    assert written((found,)) == written(document)
