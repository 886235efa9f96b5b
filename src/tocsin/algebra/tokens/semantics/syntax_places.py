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
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
    Within,
    pattern_variables,
)
from tocsin.events import format_duration


@dataclass(frozen=True, eq=False)
class Place:
    """An atom at its place: what it takes and looks at there, the strong links it lies behind, the timers that run.

    `limits`: the timers that limit what it is a part of.
    """

    domain: Domain
    behind: frozenset[int]
    running: frozenset[int]
    limits: frozenset[int]


@dataclass(frozen=True, eq=False)
class Parts:
    """A sequence. `links[i]` joins what comes before `parts[i]` to it; None for a weak link."""

    parts: tuple[Node, ...]
    links: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    body: Node


@dataclass(frozen=True, eq=False)
class Skippable:
    """Copies of a part, of which any number can be left out from the end."""

    copies: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Fork:
    options: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Clocked:
    first: Node
    second: Node
    timer: int


@dataclass(frozen=True, eq=False)
class Limited:
    """A part that must be complete before a timer runs out, which its first event starts."""

    body: Node
    timer: int


Node = Place | Parts | Loop | Skippable | Fork | Clocked | Limited


@dataclass
class Tree:
    """The tree of one detector, its timers, and the detectors for the parallel patterns inside it."""

    root: Node | None = None
    timers: list[Timer] = field(default_factory=list)
    inner: list[tuple[str, AllOf | Within]] = field(default_factory=list)
    links: int = 0


def syntax_tree(pattern: Pattern, prefix: str) -> Tree:
    """The tree of a pattern; the detectors inside it get names that begin with `prefix`."""
    tree = Tree()

    def place(
        node: Pattern,
        behind: frozenset[int],
        seen: Mapping[str, int],
        running: frozenset[int],
        limits: frozenset[int] = frozenset(),
    ) -> Node:
        match node:
            case Atom():
                return Place(domain_of(node, seen), behind, running, limits)
            case AllOf() | Within(AllOf()):
                # Equal parts are one detector: its composite is one event, which a token cannot take twice.
                name = next(
                    (known for known, part in tree.inner if part == node), f"{prefix}#{len(tree.inner)}"
                )
                if all(known != name for known, _ in tree.inner):
                    tree.inner.append((name, node))
                return Place(domain_of(composite_atom(name, node)), behind, running, limits)
            case Sequence(parts, order):
                links: list[int | None] = [None]
                placed = [place(parts[0], behind, seen, running, limits)]
                for part in parts[1:]:
                    link = None
                    if order is Order.STRONG:
                        link, tree.links = tree.links, tree.links + 1
                    links.append(link)
                    crossed = behind if link is None else behind | {link}
                    placed.append(place(part, crossed, seen, running, limits))
                return Parts(tuple(placed), tuple(links))
            case Repeat(body):
                return Loop(place(body, behind, seen, running, limits))
            case Optional(body, most):
                return Skippable(tuple(place(body, behind, seen, running, limits) for _ in range(most)))
            case AnyOf(options):
                return Fork(tuple(place(option, behind, seen, running, limits) for option in options))
            case Timed(first, second, timer):
                placed_first = place(first, behind, seen, running, limits)
                number = len(tree.timers)
                tree.timers.append(timer)
                return Clocked(
                    placed_first,
                    place(second, behind, {**seen, timer.name: number}, running | {number}, limits),
                    number,
                )
            case Within(body, limit):
                number = len(tree.timers)
                tree.timers.append(Timer(f"within {format_duration(limit)}", after=limit))
                return Limited(place(body, behind, seen, running, limits | {number}), number)
            case _:
                assert_never(node)

    tree.root = place(pattern, frozenset(), {}, frozenset())
    return tree


def composite_atom(name: str, pattern: Pattern) -> Atom:
    """The composites of another detector as a symbol; variables that both sides use must agree (C.3.7)."""
    shared = tuple(Unify(variable) for variable in sorted(pattern_variables(pattern)))
    return Atom((EventSpec(name, And(shared) if shared else None),))
