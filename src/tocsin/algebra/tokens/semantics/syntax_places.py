"""The syntax tree of one detector, with an identity for each place at which a token can wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from tocsin.algebra.predicate import And, Unify
from tocsin.algebra.tokens.domain import Domain, domain_of
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
    pattern_variables,
)


@dataclass(frozen=True, eq=False)
class Place:
    """An atom at its place: what it takes and looks at there, the strong links it lies behind, the timers that run."""

    domain: Domain
    behind: frozenset[int]
    running: frozenset[int]


@dataclass(frozen=True, eq=False)
class Parts:
    """A sequence. `links[i]` joins what comes before `parts[i]` to it; None for a weak link."""

    parts: tuple[Node, ...]
    links: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    body: Node


@dataclass(frozen=True, eq=False)
class Fork:
    options: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Clocked:
    first: Node
    second: Node
    timer: int


Node = Place | Parts | Loop | Fork | Clocked


@dataclass
class Tree:
    """The tree of one detector, its timers, and the detectors for the parallel patterns inside it."""

    root: Node | None = None
    timers: list[Timer] = field(default_factory=list)
    inner: list[tuple[str, AllOf]] = field(default_factory=list)
    links: int = 0


def syntax_tree(pattern: Pattern, prefix: str) -> Tree:
    """The tree of a pattern; the detectors inside it get names that begin with `prefix`."""
    tree = Tree()

    def place(
        node: Pattern, behind: frozenset[int], seen: Mapping[str, int], running: frozenset[int]
    ) -> Node:
        match node:
            case Atom():
                return Place(domain_of(node, seen), behind, running)
            case AllOf():
                # Equal parts are one detector: its composite is one event, which a token cannot take twice.
                name = next(
                    (known for known, part in tree.inner if part == node), f"{prefix}#{len(tree.inner)}"
                )
                if all(known != name for known, _ in tree.inner):
                    tree.inner.append((name, node))
                return Place(domain_of(composite_atom(name, node)), behind, running)
            case Sequence(parts, order):
                links: list[int | None] = [None]
                placed = [place(parts[0], behind, seen, running)]
                for part in parts[1:]:
                    link = None
                    if order is Order.STRONG:
                        link, tree.links = tree.links, tree.links + 1
                    links.append(link)
                    placed.append(place(part, behind | ({link} - {None}), seen, running))  # type: ignore[operator]
                return Parts(tuple(placed), tuple(links))
            case Repeat(body):
                return Loop(place(body, behind, seen, running))
            case AnyOf(options):
                return Fork(tuple(place(option, behind, seen, running) for option in options))
            case Timed(first, second, timer):
                placed_first = place(first, behind, seen, running)
                number = len(tree.timers)
                tree.timers.append(timer)
                return Clocked(
                    placed_first,
                    place(second, behind, {**seen, timer.name: number}, running | {number}),
                    number,
                )
            case _:
                assert_never(node)

    tree.root = place(pattern, frozenset(), {}, frozenset())
    return tree


def composite_atom(name: str, pattern: Pattern) -> Atom:
    """The composites of another detector as a symbol; variables that both sides use must agree (C.3.7)."""
    shared = tuple(Unify(variable) for variable in sorted(pattern_variables(pattern)))
    return Atom((EventSpec(name, And(shared) if shared else None),))
