"""Tags of element patterns: a variable, or a regular path of names; and the elements that a path leads to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import assert_never

from tocsin.runtime.xml_tree import Element


@dataclass(frozen=True, slots=True)
class Name:
    """One step to a child with this name."""

    name: str


@dataclass(frozen=True, slots=True)
class AnyName:
    """One step to any child."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One path after the other."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of several paths."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A path any number of times, at least once, or at most once."""

    part: Path
    times: OneOf["*", "+", "?"]


@dataclass(frozen=True, slots=True)
class TagVariable:
    """One step to any child, whose name is bound."""

    variable: str


Path = Name | AnyName | Chain | Either | Repeated
Tag = Path | TagVariable


def reached(tag: Tag, start: Element) -> list[Element]:
    """The elements that a path leads to from an element, in the order of the document.

    A path that may be empty leads to the element itself, too.

    >>> tree = Element("", (), (Element("a", (), (Element("b", (), (), 1),), 0),))
    >>> [found.name for found in reached(Repeated(AnyName(), "+"), tree)]
    ['a', 'b']
    """
    if isinstance(tag, TagVariable):
        return _children(start)
    found = {element.at: element for element in _steps(tag, [start])}
    return [found[at] for at in sorted(found)]


def _steps(path: Path, starts: Iterable[Element]) -> list[Element]:
    match path:
        case Name(name):
            return [child for start in starts for child in _children(start) if child.name == name]
        case AnyName():
            return [child for start in starts for child in _children(start)]
        case Chain(parts):
            found = list(starts)
            for part in parts:
                found = _distinct(_steps(part, found))
            return found
        case Either(parts):
            starts = list(starts)
            return _distinct([element for part in parts for element in _steps(part, starts)])
        case Repeated(part, times):
            starts = list(starts)
            if times == "?":
                return _distinct([*starts, *_steps(part, starts)])
            return _closure(part, starts if times == "*" else _distinct(_steps(part, starts)))
        case _:
            assert_never(path)


def _closure(part: Path, starts: list[Element]) -> list[Element]:
    known = {element.at: element for element in starts}
    new = starts
    while new:
        new = [element for element in _distinct(_steps(part, new)) if element.at not in known]
        known |= {element.at: element for element in new}
    return list(known.values())


def _distinct(elements: list[Element]) -> list[Element]:
    return list({element.at: element for element in elements}.values())


def _children(element: Element) -> list[Element]:
    return [node for node in element.content if isinstance(node, Element)]


def may_be_empty(path: Path) -> bool:
    """Whether a path may lead to where it starts."""
    match path:
        case Name() | AnyName():
            return False
        case Chain(parts):
            return all(may_be_empty(part) for part in parts)
        case Either(parts):
            return any(may_be_empty(part) for part in parts)
        case Repeated(part, times):
            return times != "+" or may_be_empty(part)
        case _:
            assert_never(path)


def first_names(path: Path) -> frozenset[str] | None:
    """The names that the first element on a path may have; None if it may have any name, or if the path may be empty."""
    match path:
        case Name(name):
            return frozenset({name})
        case AnyName():
            return None
        case Chain(parts):
            found: frozenset[str] = frozenset()
            for part in parts:
                own = first_names(part.part if isinstance(part, Repeated) else part)
                if own is None:
                    return None
                found |= own
                if not may_be_empty(part):
                    return found
            return None
        case Either(parts):
            names = [first_names(part) for part in parts]
            return None if None in names else frozenset().union(*(one for one in names if one is not None))
        case Repeated(part, times):
            return first_names(part) if times == "+" else None
        case _:
            assert_never(path)
