"""Builds the index of predicates: the classes that constants cut values into, and for each predicate the classes it allows.

Done once, before any event is processed. Three truth values become two: a predicate is true, or it is not; and the values that
make a condition true or false are sets of classes of its columns. See `index`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tocsin.runtime.predicates.index import Condition, Index, Operand, Ranges, Sweep
from tocsin.runtime.predicates.value_classes import FLOAT, KINDS, TEXT, TEXTS, Axis, Column
from tocsin.runtime.program import Array
from tocsin.values import Relation, first_float, first_whole, kind

_LEAST, _MOST = -(2**63), 2**63 - 1
_CODES = 2**62  # the number of values of one code
_LIST_CLASSES = 60  # the classes of elements that fit the code of a list


class TooManyTypesError(ValueError):
    """Predicates on lists of types use more names than a code has room for."""


def build(
    predicates: Sequence[tuple[int, Condition]], columns: Mapping[Operand, Column], words: int, domain: Array
) -> Index:
    """The index of predicates by bit; raises `TooManyTypesError` if there is no room for them."""
    constants: dict[Column, set[Any]] = {}
    ordered: set[Column] = set()
    for _, condition in predicates:
        _collect(condition, columns, constants, ordered)
    cutters = {column: _Cutter(column, found, column in ordered) for column, found in constants.items()}
    numbers = {column: number for number, column in enumerate(cutters)}
    axes = _placed(cutters.values())
    simple, others = np.zeros(words, np.uint64), []
    boxes: list[tuple[int, dict[int, Ranges]]] = []
    for bit, condition in predicates:
        formula = _formula(condition, True, columns, cutters, numbers)
        box = _box(formula)
        if box is None:
            others.append((bit, formula))
        else:
            boxes.append((bit, box))
            _set(simple, bit)
    sweeps = tuple(_sweep(number, boxes, words) for number in range(len(axes)))
    return Index(words, axes, sweeps, simple, tuple(others), domain)


def _collect(
    condition: Condition,
    columns: Mapping[Operand, Column],
    constants: dict[Column, set[Any]],
    ordered: set[Column],
) -> None:
    match condition:
        case ("compare", relation, operand, ("literal", value)):
            found = constants.setdefault(columns[operand], set())
            if kind(value) == KINDS[columns[operand].kind]:
                found.add(value)
                if relation not in (Relation.EQ, Relation.NE):
                    ordered.add(columns[operand])
        case ("among", operand, names):
            constants.setdefault(columns[operand], set()).update(names)
        case ("null", operand):
            constants.setdefault(columns[operand], set())
        case (_, *parts):
            for part in parts:
                _collect(part, columns, constants, ordered)
        case ():
            return
        case _:
            raise TypeError(f"unknown condition {condition!r}")


class _Cutter:
    """The classes of one column, while formulas are being built."""

    def __init__(self, column: Column, constants: set[Any], ordered: bool) -> None:
        self.column, self.ordered = column, ordered
        self.texts: list[str] = []
        self.cuts: list[int | float] = []
        if column.kind in (TEXT, TEXTS):
            self.texts = sorted(constants)
            self.elements = 2 + len(self.texts) * (2 if ordered else 1)
            self.size = self.elements if column.kind == TEXT else 1 + 2**self.elements
            if column.kind == TEXTS and self.elements > _LIST_CLASSES:
                raise TooManyTypesError(column.name)
        else:
            bounds = {bound for constant in constants for bound in self._bounds(constant)}
            self.cuts = sorted(bound for bound in bounds if self._inside(bound))
            self.size = self.elements = len(self.cuts) + 2
        self._places = {cut: place for place, cut in enumerate([*self.texts, *self.cuts])}

    def _bounds(self, constant: int | float | bool) -> tuple[int | float, int | float]:
        """The first value that is not less than a constant, and the first that is greater."""
        first = first_float if self.column.kind == FLOAT else first_whole
        return first(constant, above=False), first(constant, above=True)

    def _inside(self, bound: int | float) -> bool:
        return self.column.kind == FLOAT or _LEAST < bound <= _MOST

    def _first_class(self, bound: int | float) -> int:
        """The first class whose values are at least the bound."""
        if self._inside(bound):
            return self._places[bound] + 2
        return 1 if bound <= _LEAST else self.elements

    def ranges(self, relation: Relation, constant: Any) -> Ranges:
        """The classes whose values are in the relation with a constant."""
        end = self.elements
        if kind(constant) != KINDS[self.column.kind]:
            # Values of different kinds are neither equal nor ordered.
            return ((1, end),) if relation is Relation.NE else ()
        if self.texts:
            place = self._places[constant]
            least = 2 * place + 2 if self.ordered else place + 2
            after = least + 1
        else:
            least, after = (self._first_class(bound) for bound in self._bounds(constant))
        found = {
            Relation.EQ: ((least, after),),
            Relation.NE: ((1, least), (after, end)),
            Relation.LT: ((1, least),),
            Relation.LE: ((1, after),),
            Relation.GT: ((after, end),),
            Relation.GE: ((least, end),),
        }[relation]
        return tuple((first, last) for first, last in found if first < last)

    def among(self, names: Iterable[str], sense: bool) -> Ranges:
        """The classes of texts that are among these names, or are not."""
        inside = _union(one for name in names for one in self.ranges(Relation.EQ, name))
        return inside if sense else _without(inside, 1, self.elements)


def _placed(cutters: Iterable[_Cutter]) -> tuple[Axis, ...]:
    """The axes as digits of as few codes as have room for them."""
    axes = []
    place, radix = 0, 1
    for cutter in cutters:
        if radix * cutter.size > _CODES:
            place, radix = place + 1, 1
        number = np.float64 if cutter.column.kind == FLOAT else np.int64
        cuts = tuple(cutter.texts) if cutter.column.kind in (TEXT, TEXTS) else np.array(cutter.cuts, number)
        axes.append(Axis(cutter.column, cuts, cutter.ordered, cutter.size, place, radix))
        radix *= cutter.size
    return tuple(axes)


def _formula(
    condition: Condition,
    sense: bool,
    columns: Mapping[Operand, Column],
    cutters: Mapping[Column, _Cutter],
    numbers: Mapping[Column, int],
) -> Condition:
    """The formula for when a condition is true (or, for `sense=False`, false), in two truth values.

    `("all", f, …)`, `("any", f, …)`, `("in", axis, ranges)`; for lists `("holds", axis, mask)` and `("lacks", axis, mask)`.
    """

    def inner(part: Condition, same: bool = True) -> Condition:
        return _formula(part, sense is same, columns, cutters, numbers)

    match condition:
        case ():
            return ("all",) if sense else ("any",)
        case ("and" | "or" as word, *parts):
            return _joined("all" if (word == "and") is sense else "any", [inner(part) for part in parts])
        case ("not", part):
            return inner(part, False)
        case ("sure", part):
            true = _formula(part, True, columns, cutters, numbers)
            return true if sense else _complement(true, {numbers[c]: cutters[c].size for c in cutters})
        case ("among", operand, names):
            column = columns[operand]
            cutter = cutters[column]
            if column.kind != TEXTS:
                return ("in", numbers[column], cutter.among(names, sense))
            return ("holds" if sense else "lacks", numbers[column], _mask(cutter.among(names, True)))
        case ("null", operand):
            column = columns[operand]
            return ("in", numbers[column], ((0, 1),) if sense else ((1, cutters[column].elements),))
        case ("compare", word, operand, ("literal", value)):
            column, relation = columns[operand], Relation(word)
            if column.kind == TEXTS:
                assert sense, "lists are compared by `among`, or for sure"
                return ("holds", numbers[column], _mask(cutters[column].ranges(relation, value)))
            ranges = cutters[column].ranges(relation if sense else relation.opposite, value)
            return ("in", numbers[column], ranges)
        case _:
            raise TypeError(f"unknown condition {condition!r}")


def _joined(word: str, parts: list[Condition]) -> Condition:
    """All or any of some formulas; those about one axis become one."""
    flat = [inner for part in parts for inner in (part[1:] if part[0] == word else [part])]
    found: dict[int, list[Ranges]] = {}
    rest = []
    for part in flat:
        if part[0] == "in":
            found.setdefault(part[1], []).append(part[2])
        else:
            rest.append(part)
    merge = _common if word == "all" else _union_of
    ranges = {axis: own[0] if len(own) == 1 else merge(own) for axis, own in found.items()}
    merged = [*(("in", axis, own) for axis, own in ranges.items()), *rest]
    return merged[0] if len(merged) == 1 else (word, *merged)


def _complement(formula: Condition, sizes: Mapping[int, int]) -> Condition:
    match formula:
        case ("in", axis, ranges):
            return ("in", axis, _without(ranges, 0, sizes[axis]))
        case ("all" | "any" as word, *parts):
            return _joined("any" if word == "all" else "all", [_complement(part, sizes) for part in parts])
        case ("holds" | "lacks", _, _):
            return ("not", formula)
        case _:
            raise TypeError(f"unknown formula {formula!r}")


def _box(formula: Condition) -> dict[int, Ranges] | None:
    """The classes that a formula requires of each axis; None if the formula is not of that form."""
    if formula[0] == "in":
        return {formula[1]: formula[2]}
    if formula[0] == "all" and all(part[0] == "in" for part in formula[1:]):
        return {axis: ranges for _, axis, ranges in formula[1:]}
    return None


def _sweep(axis: int, boxes: Iterable[tuple[int, dict[int, Ranges]]], words: int) -> Sweep:
    free = np.zeros(words, np.uint64)
    changes = []
    for bit, box in boxes:
        if axis not in box:
            _set(free, bit)
        else:
            changes += [(place, bit) for one in box[axis] for place in one]
    table = np.array(sorted(changes), np.int64).reshape(-1, 2)
    return Sweep(free, table[:, 0].copy(), table[:, 1].copy())


def _set(words: Array, bit: int) -> None:
    words[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


def _union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def _union_of(many: Iterable[Ranges]) -> Ranges:
    return _union(one for ranges in many for one in ranges)


def _common(many: Iterable[Ranges]) -> Ranges:
    """The classes in all of the ranges: those that none of them lacks."""
    return _without(_union_of(_without(ranges, 0, _CODES) for ranges in many), 0, _CODES)


def _without(ranges: Ranges, start: int, stop: int) -> Ranges:
    """The complement of the ranges from `start` to `stop`."""
    ends = [start, *(end for one in ranges for end in one), stop]
    return tuple((a, b) for a, b in zip(ends[::2], ends[1::2], strict=True) if a < b)


def _mask(ranges: Ranges) -> int:
    return sum(1 << number for first, last in ranges for number in range(first, last))
