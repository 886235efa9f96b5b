"""What a pattern finds in a document: each way to give its variables an element or attribute.

Slow and plain: every element is a possible beginning, and every combination of parts is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, TypeVar

from tocsin.algebra.blocks.conditions import Predicate, holds
from tocsin.algebra.blocks.paths import TagVariable, reached
from tocsin.algebra.blocks.query import Attribute, Pattern, Text, Variable
from tocsin.errors import LimitError
from tocsin.runtime.xml_tree import Content, Element, elements, written

A = TypeVar("A")
B = TypeVar("B")
MAX_PAIRS = 1_000_000  # that are tried to join them
MAX_FOUND = 10_000  # ways in which one pattern matches one document, and rows of one detection


class Found(NamedTuple):
    """One way to match: the elements that variables stand in, in the order of the pattern, and the values."""

    places: tuple[int, ...]
    values: Mapping[str, Content]


def found_in(pattern: Pattern, content: Content, *, root_only: bool = False) -> list[Found]:
    """Every way in which a pattern matches a content, in the order of the document.

    A pattern begins at any element, or only at the outermost ones. What binds nothing does not multiply the ways.
    """
    top = Element("", (), content)
    starts = [top] if root_only else [top, *elements(content)]
    return list(_found(pattern, starts))


def found_with(
    pattern: Pattern, content: Content, predicates: Sequence[Predicate], *, root_only: bool = False
) -> list[Found]:
    """The ways in which a pattern matches that satisfy all predicates."""
    found = found_in(pattern, content, root_only=root_only)
    return [one for one in found if all(holds(predicate, one.values) for predicate in predicates)]


def _found(pattern: Pattern, starts: Iterable[Element]) -> Iterator[Found]:
    known: set[tuple[int, ...]] = set()
    elements = {element.at: element for start in starts for element in reached(pattern.tag, start)}
    for at in sorted(elements):
        for found in found_at(pattern, elements[at]):
            if found.places not in known:
                known.add(found.places)
                if len(known) > MAX_FOUND:
                    raise too_many_results()
                yield found


def found_at(pattern: Pattern, element: Element) -> Iterator[Found]:
    """Every way in which a pattern whose path has led to this element matches there."""
    own = _own(pattern, element)
    if own is None:
        return
    inner: list[list[Found]] = []
    for part in pattern.parts:
        if isinstance(part, Pattern):
            inner.append(list(_found(part, [element])))
            if not inner[-1]:
                return
    yield from combined(own, inner)


def combined(own: Found, inner: Iterable[Sequence[Found]]) -> list[Found]:
    """The ways of an element with those of its parts, the first outermost, where each variable has one value."""
    rows = [own]
    for ways in inner:
        rows = [
            Found(row.places + way.places, values)
            for row, way in pairs(rows, ways)
            if (values := joined((row.values, way.values))) is not None
        ]
        if len(rows) > MAX_FOUND:
            raise too_many_results()
    return rows


def pairs(rows: Sequence[A], more: Sequence[B]) -> Iterator[tuple[A, B]]:
    """Every pair of two lists, the first outermost; refused if there are so many that to try them would take minutes."""
    if len(rows) * len(more) > MAX_PAIRS:
        raise too_many_results()
    return product(rows, more)


def _own(pattern: Pattern, element: Element) -> Found | None:
    """What the pattern requires of the element itself, and binds to it; None if that is not there."""
    values: list[dict[str, Content]] = []
    if isinstance(pattern.tag, TagVariable):
        values.append({pattern.tag.variable: (element.name,)})
    attributes = dict(element.attributes)
    for attribute in pattern.attributes:
        value = attributes.get(attribute.name)
        if value is None or not _fits(attribute, value):
            return None
        if isinstance(attribute.value, Variable):
            values.append({attribute.value.name: (value,)})
    for part in pattern.parts:
        if isinstance(part, Variable):
            values.append({part.name: element.content})
        elif isinstance(part, Text) and not has_text(element, part.text):
            return None
    for bound in pattern.bound:
        # What stands above the root is no element; its content is what an empty path binds.
        itself = bound.what == "element" and element.name
        values.append({bound.variable.name: (element,) if itself else element.content})
    together = joined(values)
    return None if together is None else Found((element.at,) * len(values), together)


def _fits(attribute: Attribute, value: str) -> bool:
    return isinstance(attribute.value, Variable) or attribute.value.text == value


def has_text(element: Element, text: str) -> bool:
    """Whether an element has a text child that is this text, trimmed."""
    return any(isinstance(node, str) and node.strip() == text for node in element.content)


def joined(rows: Iterable[Mapping[str, Content]]) -> dict[str, Content] | None:
    """The values of several rows; None if two give a variable different values."""
    values: dict[str, Content] = {}
    for row in rows:
        for name, value in row.items():
            if name not in values:
                values[name] = value
            elif not same(values[name], value):
                return None
    return values


def same(one: Content, other: Content) -> bool:
    """Whether two values join: they are the same trimmed XML.

    >>> same((" 7",), ("7",)), same(("007",), ("7",))
    (True, False)
    """
    return one is other or key_of(one) == key_of(other)


def key_of(value: Content) -> str:
    """What a value is compared as when it is joined: its trimmed XML."""
    return written(value).strip()


def too_many_results() -> LimitError:
    """The error about a document in which patterns match in too many ways."""
    message = f"the patterns match in more than {MAX_FOUND:,} ways"
    return LimitError("too-many-results", message, hint="bind fewer variables to parts that repeat")
