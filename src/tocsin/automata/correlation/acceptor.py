"""A filter expression as a finite acceptor: its state is a set of bits, one for each place that has its event.

The places (atoms) of a branch are numbered from left to right. `marks` are the places that have taken an
event of the window, `dead` those that are aborted; both are whole numbers read as sets of bits. What an
expression still needs follows from these two numbers alone, so a state is one number, and an abort is one
`and`.

>>> machine = compile_expression(Sequence(Atom("a"), Atom("b")))
>>> marks = 0
>>> for event in "bab":
...     marks = step(machine, marks, 0, event)
>>> is_complete(machine, marks, 0)
True

Paper: 001, section 3.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, assert_never

from tocsin.algebra.correlation.expression import (
    Accumulation,
    Atom,
    Collection,
    Expression,
    Labelled,
    Sequence,
)


class Kind(IntEnum):
    """The operator of a node: what it requires of its operands."""

    PLACE = 0
    ALL = 1
    ANY = 2
    THEN = 3


class Node(NamedTuple):
    """A part of an expression; operands are numbers of earlier nodes, -1 for none."""

    kind: Kind
    left: int
    right: int
    places: int  # bits of the places inside


@dataclass(frozen=True, slots=True)
class Machine:
    """An expression as a list of nodes, operands before their operators.

    `takers`: the places that wait for an event. `gates`: the sequences a place comes second in, by its bit.
    `labels`: the node of what a label marks.
    """

    nodes: tuple[Node, ...]
    takers: Mapping[str, int] = field(hash=False)
    gates: Mapping[int, tuple[int, ...]] = field(hash=False)
    labels: Mapping[str, int] = field(hash=False)

    @property
    def places(self) -> int:
        """All its places."""
        return self.nodes[-1].places

    def events(self, dead: int = 0) -> tuple[str, ...]:
        """The events that its live places wait for."""
        return tuple(event for event, places in self.takers.items() if places & ~dead)


def bits(places: int) -> Iterator[int]:
    """The single bits of a set of places, lowest first.

    >>> list(bits(0b1101))
    [1, 4, 8]
    """
    while places:
        lowest = places & -places
        yield lowest
        places ^= lowest


def compile_expression(expression: Expression, first: int = 0) -> Machine:
    """The acceptor of an expression whose leftmost place has the number `first`."""
    nodes: list[Node] = []
    takers: dict[str, int] = {}
    labels: dict[str, int] = {}
    next_place = first

    def add(part: Expression) -> int:
        nonlocal next_place
        match part:
            case Labelled(label, body):
                labels[label] = add(body)
                return labels[label]
            case Atom(event):
                bit = 1 << next_place
                next_place += 1
                takers[event] = takers.get(event, 0) | bit
                nodes.append(Node(Kind.PLACE, -1, -1, bit))
            case Accumulation(left, right) | Collection(left, right) | Sequence(left, right):
                operands = add(left), add(right)
                places = nodes[operands[0]].places | nodes[operands[1]].places
                nodes.append(Node(_kind(part), *operands, places))
            case _:
                assert_never(part)
        return len(nodes) - 1

    add(expression)
    gates: dict[int, tuple[int, ...]] = {}
    for number, node in enumerate(nodes):
        if node.kind is Kind.THEN:
            for bit in bits(nodes[node.right].places):
                gates[bit] = (*gates.get(bit, ()), number)
    return Machine(tuple(nodes), takers, gates, labels)


def _kind(part: Accumulation | Collection | Sequence) -> Kind:
    match part:
        case Accumulation():
            return Kind.ALL
        case Collection():
            return Kind.ANY
        case Sequence():
            return Kind.THEN


def step(machine: Machine, marks: int, dead: int, event: str) -> int:
    """The marks after an event: places whose turn it is take it."""
    waiting = machine.takers.get(event, 0) & ~dead & ~marks
    if not waiting:
        return marks
    done = completed(machine, marks, dead)
    taken = marks
    for bit in bits(waiting):
        if all(_open(machine, gate, done, marks, dead) for gate in machine.gates.get(bit, ())):
            taken |= bit
    return taken


def _open(machine: Machine, gate: int, done: list[bool], marks: int, dead: int) -> bool:
    """Whether the second operand of a sequence may take events: the first is complete, aborted or passed."""
    _, left, right, _ = machine.nodes[gate]
    return done[left] or not machine.nodes[left].places & ~dead or bool(machine.nodes[right].places & marks)


def is_complete(machine: Machine, marks: int, dead: int) -> bool:
    """Whether the whole expression needs no further event."""
    return completed(machine, marks, dead)[-1]


def completed(machine: Machine, marks: int, dead: int) -> list[bool]:
    """For each node, whether it needs no further event; a node with nothing alive is never complete."""
    done: list[bool] = []
    nodes = machine.nodes
    for kind, left, right, places in nodes:
        if not places & ~dead:
            done.append(False)
        elif kind is Kind.PLACE:
            done.append(bool(places & marks))
        elif not nodes[right].places & ~dead:
            done.append(done[left])
        elif kind is Kind.THEN or not nodes[left].places & ~dead:
            done.append(done[right])
        elif kind is Kind.ALL:
            done.append(done[left] and done[right])
        else:
            done.append(done[left] or done[right])
    return done
