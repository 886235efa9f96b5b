"""Random documents, patterns, queries and streams of the blocks family."""

from __future__ import annotations

from hypothesis import strategies as st

from tocsin.algebra.blocks.conditions import (
    Arithmetic,
    Comparison,
    Constant,
    Every,
    Expression,
    Opposite,
    Predicate,
    Some,
    Value,
)
from tocsin.algebra.blocks.occurrence import XmlEvent
from tocsin.algebra.blocks.paths import AnyName, Chain, Either, Name, Path, Repeated, TagVariable
from tocsin.algebra.blocks.query import (
    CONTEXTS,
    Attribute,
    Block,
    Bound,
    Identity,
    Interpretation,
    Pattern,
    Query,
    Stream,
    Template,
    Text,
    Variable,
    Where,
    variables,
)
from tocsin.algebra.blocks.temporal import Absent, Both, Composition, Of, OneOfTwo, Related
from tocsin.events import Interval
from tocsin.runtime.xml_tree import Content, Element, numbered

NAMES = "abc"
STREAMS = ("S", "T")
_names = st.sampled_from(NAMES)
_texts = st.sampled_from(["1", "2", "x", " 2 ", "a b"])
_variables = st.sampled_from(["x", "y", "z"]).map(Variable)

# --- documents --------------------------------------------------------------------------------------


def _element(content: st.SearchStrategy[Content]) -> st.SearchStrategy[Element]:
    attributes = st.dictionaries(st.sampled_from("kl"), _texts, max_size=2).map(lambda d: tuple(d.items()))
    return st.builds(Element, _names, attributes, content)


elements = st.recursive(
    _element(st.just(())),
    lambda inner: _element(st.lists(inner | _texts, max_size=4).map(tuple)),
    max_leaves=8,
)
documents: st.SearchStrategy[Content] = elements.map(lambda one: numbered((one,)))

# --- patterns ---------------------------------------------------------------------------------------

paths: st.SearchStrategy[Path] = st.recursive(
    _names.map(Name) | st.just(AnyName()),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Chain(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Either(tuple(parts))),
        st.builds(Repeated, inner, st.sampled_from(["*", "+", "?"])),
    ),
    max_leaves=4,
)
# Plain names far more often than anything else, as in what people write.
_tags = st.one_of(_names.map(Name), _names.map(Name), _names.map(Name), paths, st.just(TagVariable("t")))
_values = st.one_of(_variables, _texts.map(str.strip).map(Text))
_attributes = st.lists(st.builds(Attribute, st.sampled_from("kl"), _values), max_size=1).map(tuple)
_bound = st.lists(st.builds(Bound, st.sampled_from(["element", "content"]), _variables), max_size=1).map(
    tuple
)
patterns: st.SearchStrategy[Pattern] = st.recursive(
    st.builds(Pattern, _tags, _attributes, st.lists(_values, max_size=1).map(tuple), _bound),
    lambda inner: st.builds(
        Pattern, _tags, _attributes, st.lists(inner | _values, max_size=2).map(tuple), _bound
    ),
    max_leaves=4,
)

# --- predicates -------------------------------------------------------------------------------------


def _expressions(names: list[str]) -> st.SearchStrategy[Expression]:
    numbers = st.sampled_from(["1", "2", "-3", "0.5", "1e2"]).map(lambda text: Constant(text, False))
    texts = st.sampled_from(["x", "a b", 'say "hi"', "2"]).map(lambda text: Constant(text, True))
    known = [st.sampled_from(names).map(Value)] if names else []
    return st.recursive(
        st.one_of(numbers, texts, *known),
        lambda inner: st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner),
        max_leaves=3,
    )


def predicates(names: list[str]) -> st.SearchStrategy[Predicate]:
    """Predicates over some variables."""
    expressions = _expressions(names)
    relations = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    return st.recursive(
        st.builds(Comparison, relations, expressions, expressions),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: Every(tuple(parts))),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: Some(tuple(parts))),
            inner.map(Opposite),
        ),
        max_leaves=3,
    )


# --- compositions and queries -----------------------------------------------------------------------


def compositions(blocks: list[str]) -> st.SearchStrategy[Composition]:
    """Compositions of some blocks."""
    within = st.none() | st.integers(0, 6).map(lambda seconds: seconds * 1_000_000)
    relations = st.sampled_from(["BEFORE", "BEFORE", "AFTER", "CONCURRENT", "DURING"])
    return st.recursive(
        st.sampled_from(blocks).map(Of),
        lambda inner: st.one_of(
            st.builds(Related, relations, inner, inner, within),
            st.builds(Absent, inner, inner, inner),
            st.builds(Both, inner, inner),
            st.builds(OneOfTwo, inner, inner),
        ),
        max_leaves=4,
    )


@st.composite
def queries(draw: st.DrawFn, *, plain: bool = False) -> Query:
    """Queries over two streams; `plain` ones have small patterns, which often match: it is the composition that matters."""
    number = draw(st.integers(1, 3))
    if plain:
        key = Pattern(Name("k"), (), (Variable("x"),))
        shapes = [Pattern(Name(name), (), (key,)) for name in NAMES]
        chosen = [draw(st.sampled_from(shapes)) for _ in range(number)]
    else:
        chosen = [draw(patterns) for _ in range(number)]
    named = [draw(st.booleans()) for _ in range(number)]
    blocks = tuple(
        Block(pattern, Stream(draw(st.sampled_from(STREAMS))), f"B{n}" if own else f"_{n}", own)
        for n, (pattern, own) in enumerate(zip(chosen, named, strict=True), 1)
    )
    bound = sorted({one.name for block in blocks for one in variables(block.pattern)})
    conditions = () if plain else tuple(draw(st.lists(predicates(bound), max_size=2)))
    composition = draw(st.none() | compositions([block.name for block in blocks]))
    context = None if composition is None else draw(st.none() | st.sampled_from(CONTEXTS))
    known = [Variable(name) for name in bound]
    ordered = tuple(draw(st.lists(st.sampled_from(known), max_size=1))) if known else ()
    parts = tuple(draw(st.lists(st.sampled_from([*known, Text("and"), Text("so on")]), max_size=3)))
    identity = Identity("F", tuple(known[:1])) if known and draw(st.booleans()) else None
    where = Where(blocks, conditions, composition, context, ordered, Template("r", identity, (), parts))
    return Query(where, interpretation=Interpretation(draw(st.booleans()) and not plain))


# --- streams ----------------------------------------------------------------------------------------


@st.composite
def streams(draw: st.DrawFn, *, plain: bool = False) -> list[XmlEvent]:
    """Events in the order of their ends; some have a duration."""
    found, end = [], 0
    for number in range(1, draw(st.integers(1, 10)) + 1):
        end += draw(st.integers(0, 3)) * 1_000_000
        start = end - draw(st.sampled_from([0, 0, 1, 2])) * 1_000_000
        if plain:
            name, key = draw(_names), draw(st.sampled_from("12"))
            document = numbered((Element(name, (), (Element("k", (), (key,)),)),))
        else:
            document = draw(documents)
        found.append(XmlEvent(number, draw(st.sampled_from(STREAMS)), Interval(start, end), document))
    return found
