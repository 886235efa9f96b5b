"""How blocks are composed: the event tree as data.

| written                     | holds for                                                     |
|-----------------------------|---------------------------------------------------------------|
| `x BEFORE y`, `y AFTER x`   | x ends before y starts                                        |
| `x CONCURRENT y`            | neither ends before the other starts                          |
| `x DURING y`                | y starts before x and ends after it                           |
| `NOT x BETWEEN a AND b`     | a before b, and no x that starts after a and ends before b    |
| `x AND y`, `x OR y`         | both, or one of them                                          |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import assert_never

from tocsin.errors import Span

Relation = OneOf["BEFORE", "AFTER", "CONCURRENT", "DURING"]


@dataclass(frozen=True, slots=True)
class Of:
    """The events that a block matches."""

    block: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Related:
    """Two occurrences in a relation of time; `within` bounds the time from the start of both to their end, in microseconds."""

    relation: Relation
    left: Composition
    right: Composition
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """A first occurrence before a last one, and nothing of a third strictly between."""

    absent: Composition
    first: Composition
    last: Composition


@dataclass(frozen=True, slots=True)
class Both:
    """Two occurrences, whatever their times."""

    left: Composition
    right: Composition


@dataclass(frozen=True, slots=True)
class OneOfTwo:
    """Each occurrence of either."""

    left: Composition
    right: Composition


Composition = Of | Related | Absent | Both | OneOfTwo


def parts_of(composition: Composition) -> tuple[Composition, ...]:
    """The operands of an operator."""
    match composition:
        case Of():
            return ()
        case Absent(absent, first, last):
            return absent, first, last
        case Related(_, left, right, _) | Both(left, right) | OneOfTwo(left, right):
            return left, right
        case _:
            assert_never(composition)


def leaves(composition: Composition) -> Iterator[Of]:
    """Every mention of a block, from left to right."""
    if isinstance(composition, Of):
        yield composition
    for part in parts_of(composition):
        yield from leaves(part)


def tree_of(composition: Composition | None, blocks: tuple[str, ...]) -> Composition:
    """The tree with all blocks: those that are not mentioned must match, too.

    >>> tree_of(None, ("P", "T"))
    Both(left=Of(block='P'), right=Of(block='T'))
    """
    mentioned = set() if composition is None else {leaf.block for leaf in leaves(composition)}
    tree = composition
    for block in blocks:
        if block not in mentioned:
            tree = Of(block) if tree is None else Both(tree, Of(block))
    if tree is None:
        raise ValueError("a query without blocks has no tree")
    return tree
