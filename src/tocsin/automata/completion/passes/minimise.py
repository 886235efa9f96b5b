"""Merge the states of a table that no later event tells apart, and kinds of events that no state tells apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from tocsin.automata.completion.passes.partition import coarsest, numbered
from tocsin.automata.completion.table import Determinised, Ints, Table


def minimise(machine: Determinised) -> Determinised:
    """The smallest table with the same outputs and the same status after every trace.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Repeat
    >>> from tocsin.automata.completion.construct import construct
    >>> from tocsin.automata.completion.passes.determinise import determinise
    >>> minimise(determinise(construct(Repeat(Repeat(Predicate(TRUE), 3))))).configurations
    1
    """
    table = machine.table
    rows = [tuple(dict.fromkeys(row)) for row in table.next.tolist()]
    before: list[list[int]] = [[] for _ in rows]
    for state, after in enumerate(rows):
        for other in after:
            before[other].append(state)
    cells = table.next.tolist()

    def look(state: int, classes: Sequence[int]) -> Hashable:
        return tuple([classes[after] for after in cells[state]])

    first = [
        (status, emits.tobytes()) for status, emits in zip(table.status.tolist(), table.emits, strict=True)
    ]
    classes = np.array(coarsest(first, look, before.__getitem__), np.int32)
    kept = _first_of_each(classes)
    next, emits = classes[table.next[kept]], table.emits[kept]
    columns = np.array(numbered(column.tobytes() for column in np.vstack([next, emits]).T), np.int32)
    shown = _first_of_each(columns)
    smaller = Table(
        np.ascontiguousarray(next[:, shown]),
        np.ascontiguousarray(emits[:, shown]),
        columns[table.column],
        table.first,
        table.outputs,
        table.status[kept],
    )
    return Determinised(smaller, machine.alphabet, machine.emits)


def _first_of_each(classes: Ints) -> Ints:
    """The first member of each class."""
    _, first = np.unique(classes, return_index=True)
    return first.astype(np.int32)
