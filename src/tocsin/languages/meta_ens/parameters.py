"""Reads the parameters of an operator: which duplicates, which pairs, what is consumed, and its modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tocsin.algebra.pairs.expression import Expression
from tocsin.algebra.pairs.parameters import (
    ALL,
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Evaluation,
    Gather,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
    nth,
)
from tocsin.languages.lexis import Failure, Reader
from tocsin.languages.meta_ens.scope import Scope, duration, number, word
from tocsin.languages.meta_ens.words import GATHERS, PICKS

_FLAGS = {"unique": Pairing.UNIQUE, "allpairs": Pairing.ALL}
_MODES: dict[str, type[StrEnum]] = {
    "consume": Consumption,
    "traverse": Traversal,
    "coupling": Coupling,
    "concurrency": Concurrency,
}
_KNOWN = (*_MODES, *_FLAGS, "z", "w", "P", "dup", "without", "tolerance")


@dataclass
class Suffix:
    """The parameters between braces; None where one is not given."""

    first: Pick | Gather | None = None
    second: Pick | Gather | None = None
    pairing: Pairing | None = None
    equal: bool = False
    consumption: Consumption | None = None
    traversal: Traversal = Traversal.LEFT_TO_RIGHT
    coupling: Coupling = Coupling.NON_CONTINUOUS
    concurrency: Concurrency = Concurrency.OVERLAPPING
    detects: bool = False
    without: Expression | None = None
    tolerance: int | None = None

    @property
    def chooses(self) -> bool:
        """Whether duplicates, pairs or consumption are given."""
        given = (self.first, self.second, self.pairing, self.consumption)
        return self.equal or any(one is not None for one in given)

    def evaluation(self, operands: int) -> Evaluation:
        """How an operator with these parameters is evaluated: per terminator if consumption or another mode is given."""
        first, second = self.first or ALL, self.second or ALL
        if not self.detects and isinstance(first, Pick) and isinstance(second, Pick):
            return Views(first, second, self.pairing or Pairing.ALL, self.equal)
        consumption = self.consumption or Consumption.KEEP
        modes = (Mode(first, consumption), *(Mode(second, consumption),) * (operands - 1))
        return Detection(modes, self.traversal, self.coupling, self.concurrency)


def suffix(reader: Reader, scope: Scope, expression: Callable[[Reader, Scope], Expression]) -> Suffix:
    """`{z=1..2, w=first, P: x<=y}`"""
    opening = reader.expect("{", "'{'")
    found = Suffix()
    while not reader.accept("}"):
        if reader.last is not opening:
            reader.expect(",", "',' or '}'")
        _parameter(reader, scope, found, expression)
    gathers = isinstance(found.first, Gather) or isinstance(found.second, Gather)
    found.detects = found.detects or gathers
    if found.detects and (found.pairing is not None or found.equal):
        message = (
            "pairs and equal duplicates are of trace views, consumption and modes of detection per terminator"
        )
        reader.note(
            "two-evaluations", message, reader.span_from(opening), "give parameters of one of the two"
        )
    return found


def _parameter(
    reader: Reader, scope: Scope, found: Suffix, expression: Callable[[Reader, Scope], Expression]
) -> None:
    name = word(reader, dict.fromkeys(_KNOWN), "a parameter")
    if name in _FLAGS:
        found.pairing = _FLAGS[name]
    elif name == "P":
        reader.expect(":", "':'", "write P: x=y or P: x<=y")
        found.pairing = _pairing(reader)
    else:
        reader.expect("=", "'='")
        _set(reader, scope, found, name, expression)


def _set(
    reader: Reader,
    scope: Scope,
    found: Suffix,
    name: str,
    expression: Callable[[Reader, Scope], Expression],
) -> None:
    if name == "z":
        found.first = selection(reader, scope)
    elif name == "w":
        found.second = selection(reader, scope)
    elif name == "dup":
        word(reader, {"equal": None}, "equal")
        found.equal = True
    elif name == "without":
        found.without = expression(reader, scope)
    elif name == "tolerance":
        found.tolerance = duration(reader, scope)
    else:
        kind = _MODES[name]
        chosen = kind(word(reader, {one.value: None for one in kind}, f"what {name} is"))
        found.detects = True
        match chosen:
            case Consumption():
                found.consumption = chosen
            case Traversal():
                found.traversal = chosen
            case Coupling():
                found.coupling = chosen
            case Concurrency():
                found.concurrency = chosen


def _pairing(reader: Reader) -> Pairing:
    """`x=y` or `x<=y`"""
    left = reader.accept_word("x")
    sign = reader.advance().kind if reader.at("=", "<=") else ""
    if left is None or not sign or not reader.accept_word("y"):
        reader.unexpected("x=y or x<=y")
        raise Failure
    return Pairing.UNIQUE if sign == "=" else Pairing.ALL


def selection(reader: Reader, scope: Scope) -> Pick | Gather:
    """`first`, `2`, `2..4`, `cumulative` …"""
    if reader.at_word(*GATHERS):
        return GATHERS[reader.advance().text]
    return bounds(reader, scope)


def bounds(reader: Reader, scope: Scope) -> Pick:
    """`first`, `last`, `all`, `2`, `2..4` or `2..length`"""
    if reader.at_word(*PICKS):
        return PICKS[reader.advance().text]
    low = number(reader, scope)
    if not reader.accept(".."):
        return nth(low)
    if reader.accept_word("length"):
        return Pick(low, None)
    return Pick(low, number(reader, scope))
