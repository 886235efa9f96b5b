"""A case as a part of a query of Spark: its events, its pattern, and what becomes of the rows that are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

CASE = "event case"  # the column with the number of the case; with a blank in it, it cannot be an attribute
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """A case that shares a query with others.

    Args:
        name: of its pattern, and of no other.
        moments: the columns with times; how many microseconds a unit of theirs is.
        arguments: those of `detect` that all parts of a query have in common.
        meaning: what is compared to see whether they have.
        answer: makes the answer of what its pattern finds in its own events.
        mappings: arguments of which each part has its own entries, and the query those of all.
    """

    name: str
    table: pa.Table
    pattern: Any
    moments: Mapping[str, int]
    arguments: Mapping[str, Any]
    meaning: object
    answer: Callable[[Rows], Any]
    mappings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def fits(self, other: Part) -> bool:
        """Whether two cases can be parts of one query: asked alike, of columns with the same types."""
        others = other.table.schema
        return self.meaning == other.meaning and all(
            own.type == others.field(own.name).type for own in self.table.schema if own.name in others.names
        )


def name_of(number: int) -> str:
    """The name of the pattern of a case."""
    return f"case {number}"


def numbered(table: pa.Table, number: int) -> pa.Table:
    """The table of a case with its number in each row."""
    return table.append_column(CASE, pa.array([number] * table.num_rows, pa.int64()))
