"""Tags of element patterns: a variable, or a regular path of names; and the elements that a path leads to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
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
    steps = _steps(tag)
    found: dict[int, Element] = {}
    known = {(0, start.at)}
    waiting = [(0, start)]
    while waiting:
        state, element = waiting.pop()
        if state == _END:
            found[element.at] = element
            continue
        name, after = steps[state]
        # Without a name the move takes no step down.
        elements = [element] if name is None else [c for c in _children(element) if name in (c.name, _ANY)]
        for one in elements:
            for other in after:
                if (other, one.at) not in known:
                    known.add((other, one.at))
                    waiting.append((other, one))
    return [found[at] for at in sorted(found)]


_END = -1  # the state in which a path has been walked
_ANY = ""  # a name that stands for all
_Steps = dict[int, tuple[str | None, tuple[int, ...]]]


@lru_cache(maxsize=1_000)
def _steps(path: Path) -> _Steps:
    """A path as states, of which 0 is the first: the name of the child to step to, and the states after it.

    So a path costs one look at each element for each of its parts, however its repetitions lie in each other.
    """
    steps: _Steps = {0: (None, ())}
    steps[0] = None, (_state(path, _END, steps),)
    return steps


def _state(path: Path, after: int, steps: _Steps) -> int:
    """The first state of a path that is followed by a state."""
    own = len(steps)
    match path:
        case Name(name):
            steps[own] = name, (after,)
        case AnyName():
            steps[own] = _ANY, (after,)
        case Chain(parts):
            for part in reversed(parts):
                after = _state(part, after, steps)
            return after
        case Either(parts):
            steps[own] = None, ()
            steps[own] = None, tuple(_state(part, after, steps) for part in parts)
        case Repeated(part, times):
            steps[own] = None, ()
            inner = _state(part, after if times == "?" else own, steps)
            steps[own] = None, (inner, after)
            return inner if times == "+" else own
        case _:
            assert_never(path)
    return own


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
