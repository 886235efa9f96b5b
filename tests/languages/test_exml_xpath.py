"""XPath subscriptions: what they find is what XPath itself finds, and mistakes have a place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tocsin.automata.blocks.index import BlockIndex
from tocsin.errors import PatternErrors
from tocsin.languages.exml_ql import parse_xpath
from tocsin.runtime.xml_tree import Content, Element, numbered, written

# Elements with names of their own hold texts: elsewhere a text child and the text of an element differ.
_leaves = st.builds(
    Element,
    st.sampled_from("de"),
    st.just(()),
    st.sampled_from(["1", "2", "30", "x"]).map(lambda text: (text,)),
)
_attributes = st.sampled_from([(), (("k", "1"),), (("k", "x"), ("l", "20"))])
_documents = st.recursive(
    st.builds(Element, st.sampled_from("abc"), _attributes, st.lists(_leaves, max_size=2).map(tuple)),
    lambda inner: st.builds(
        Element, st.sampled_from("abc"), _attributes, st.lists(inner | _leaves, max_size=3).map(tuple)
    ),
    max_leaves=6,
).map(lambda root: numbered((root,)))

_constants = st.sampled_from(["'x'", '"1"', "1", "2", "20.0"])
_relations = st.sampled_from(["=", "!=", "<", ">="]).flatmap(
    lambda sign: (_constants if sign == "=" else st.sampled_from(["1", "2", "-1"])).map(
        lambda one: sign + one
    )
)
_conditions = st.one_of(
    st.sampled_from("kl").map(lambda name: f"@{name}"),
    st.tuples(st.sampled_from("kl"), _relations).map(lambda two: f"@{two[0]}{two[1]}"),
    st.tuples(st.sampled_from(["d", "e", ".//d", "a/e", "*//e"]), _relations).map("".join),
    st.sampled_from(["b", ".//c", "a/b", "c[@k]/d", "b[d='x']", "d[text()='1']"]),
)
_steps = st.tuples(st.sampled_from("abc*"), st.lists(_conditions, max_size=2)).map(
    lambda two: two[0] + "".join(f"[{one}]" for one in two[1])
)
_paths = st.lists(st.tuples(st.sampled_from(["/", "//"]), _steps).map("".join), min_size=1, max_size=3).map(
    "".join
)


def _matched(path: str, document: Content) -> bool:
    index, block = BlockIndex(), parse_xpath(path)
    index.add("path", "S", block.pattern, block.predicates, root_only=block.root_only)
    return bool(index.match("S", document))


@settings(max_examples=400, deadline=None)
@given(_paths, _documents)
def test_what_is_found_is_what_xpath_finds(path: str, document: Content) -> None:
    expected = bool(etree.fromstring(written(document)).getroottree().xpath(path))
    assert _matched(path, document) == expected


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ("a/b", 1),
        ("/", 1),
        ("/a[", 3),
        ("/a[1]", 4),
        ("/a[b", 4),
        ("/a[last()]", 8),
        ("/child::a", 7),
        ("/a[@]", 5),
        ("/a[b=c]", 6),
        ("/a[text()]", 10),
        ("/a[text()=1]", 12),
        ("/a]", 3),
        ("/n:a", 3),
    ],
)
def test_what_is_not_read_has_a_place(path: str, column: int) -> None:
    with pytest.raises(PatternErrors) as raised:
        parse_xpath(path)
    (error,) = raised.value.errors
    assert error.code == "syntax"
    assert error.span is not None
    assert error.span.start + 1 == column, error


def test_deep_paths_are_refused() -> None:
    with pytest.raises(PatternErrors, match="too-deep"):
        parse_xpath("/a" * 100)
    with pytest.raises(PatternErrors, match="too-deep"):
        parse_xpath("/a" + "[a" * 100)
