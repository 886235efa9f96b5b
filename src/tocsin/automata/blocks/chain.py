"""A block as a node chain: what the index knows of it, and how it is compared with a document.

| paper (002, Algorithm 1)                  | here                                         |
|-------------------------------------------|----------------------------------------------|
| MT, hash table of element names           | `index.BlockIndex`                           |
| NC, node chains                           | `Chain`                                      |
| MatchElementName                          | `Chain.names`: the names that must occur     |
| CompareHRN, the hierarchy relation        | `matcher.Matcher`                            |
| ComparePredicate                          | `matcher.Matcher`, `Chain.predicates`        |
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, assert_never

from tocsin.algebra.blocks.conditions import Predicate, holds
from tocsin.algebra.blocks.matching import Found, found_with
from tocsin.algebra.blocks.paths import (
    AnyName,
    Either,
    Name,
    Path,
    Repeated,
    TagVariable,
    first_names,
)
from tocsin.algebra.blocks.paths import (
    Chain as PathChain,
)
from tocsin.algebra.blocks.query import Pattern, Text
from tocsin.automata.blocks.matcher import Family, Matcher, matcher_of
from tocsin.runtime.xml_tree import Content, Element

ByName = Mapping[str, list[Element]]


class Required(NamedTuple):
    """A text that must stand at a place below the head: in a child, or with `attribute` in an attribute there."""

    path: tuple[str, ...]
    attribute: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A pattern with its own predicates, as the index compares it; and whose block it is."""

    pattern: Pattern
    predicates: tuple[Predicate, ...]
    root_only: bool
    heads: frozenset[str] | None  # the names that an element may have where it begins; None if any
    names: tuple[str, ...]  # names that a document must have, in the order of the pattern
    length: int  # nodes of the pattern
    required: Required | None
    matcher: Matcher | None  # None if a tag is not a plain name
    number: int = 0
    users: dict[Hashable, None] = field(default_factory=dict, compare=False)


def chain_of(pattern: Pattern, predicates: tuple[Predicate, ...], root_only: bool, number: int = 0) -> Chain:
    """The chain of a pattern.

    >>> chain = chain_of(Pattern(Name("a"), (), (Pattern(Name("b"), (), (Text("1"),)),)), (), False)
    >>> chain.names, chain.length, chain.required
    (('a', 'b'), 2, Required(path=('b',), attribute=None, text='1'))
    """
    heads = None if isinstance(pattern.tag, TagVariable) else first_names(pattern.tag)
    plain = isinstance(pattern.tag, Name)
    required = next(_required(pattern, ()), None) if plain else None
    names = tuple(dict.fromkeys(_names(pattern)))
    return Chain(
        pattern, predicates, root_only, heads, names, _length(pattern), required, matcher_of(pattern), number
    )


def _required(pattern: Pattern, path: tuple[str, ...]) -> Iterator[Required]:
    """The texts that must stand at a place that only names lead to, nearest first."""
    for attribute in pattern.attributes:
        if isinstance(attribute.value, Text):
            yield Required(path, attribute.name, attribute.value.text)
    for part in pattern.parts:
        if isinstance(part, Text):
            yield Required(path, None, part.text)
    for part in pattern.parts:
        if isinstance(part, Pattern) and isinstance(part.tag, Name):
            yield from _required(part, (*path, part.tag.name))


def _names(pattern: Pattern) -> Iterator[str]:
    if not isinstance(pattern.tag, TagVariable):
        yield from _names_of(pattern.tag)
    for part in pattern.parts:
        if isinstance(part, Pattern):
            yield from _names(part)


def _names_of(path: Path) -> Iterator[str]:
    """The names that every way along a path takes."""
    match path:
        case Name(name):
            yield name
        case AnyName():
            pass
        case PathChain(parts):
            for part in parts:
                yield from _names_of(part)
        case Either(parts):
            every = [set(_names_of(part)) for part in parts]
            yield from sorted(set.intersection(*every))
        case Repeated(part, times):
            if times == "+":
                yield from _names_of(part)
        case _:
            assert_never(path)


def _length(pattern: Pattern) -> int:
    return 1 + sum(_length(part) for part in pattern.parts if isinstance(part, Pattern))


def texts_at(element: Element, path: tuple[str, ...], attribute: str | None) -> Iterator[str]:
    """The texts at a place below an element."""
    if path:
        for node in element.content:
            if isinstance(node, Element) and node.name == path[0]:
                yield from texts_at(node, path[1:], attribute)
    elif attribute is None:
        for node in element.content:
            if isinstance(node, str):
                yield node.strip()
    else:
        for name, value in element.attributes:
            if name == attribute:
                yield value


def found_by(chain: Chain, document: Content, by_name: ByName, family: Family) -> list[Found]:
    """The ways in which a chain matches a document whose elements have been sorted by name."""
    if chain.matcher is None:
        return found_with(chain.pattern, document, chain.predicates, root_only=chain.root_only)
    heads = by_name[chain.matcher.name]
    if chain.root_only:
        heads = [node for node in document if isinstance(node, Element) and node.name == chain.matcher.name]
    ways = chain.matcher.below(heads, family)
    return [way for way in ways if all(holds(one, way.values) for one in chain.predicates)]
