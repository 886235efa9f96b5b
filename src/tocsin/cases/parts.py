"""A case as a part of a Spark query: its events, its pattern, and how the resulting rows are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from tocsin.cases.model import Skip
from tocsin.values import Time, Value, kind

CASE = "event case"  # the column with the number of the case; with a blank in it, it cannot be an attribute
_LARGEST_EXACT_FLOAT = 1 << 53
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """A case that shares a query with others.

    Args:
        name: of its pattern, and of no other.
        moments: the columns with times; how many microseconds a unit of theirs is.
        arguments: the keywords of `detect` that all parts of a query have in common.
        meaning: the value that must be equal for parts to share a query.
        answer: makes the result from what its pattern finds in its own events.
        mappings: options of the language of which each part has its own entries, and the query those of all.
        options: other options of `detect` that all parts have in common.
        language_options: options of the language that all parts have in common.
        id: the column of the ids.
    """

    name: str
    table: pa.Table
    pattern: Any
    moments: Mapping[str, int]
    arguments: Mapping[str, Any]
    meaning: object
    answer: Callable[[Rows], Any]
    mappings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    options: tuple[object, ...] = ()
    language_options: Mapping[str, Any] = field(default_factory=dict)
    id: str = "id"

    def fits(self, other: Part) -> bool:
        """Whether two cases can be parts of one query: the same arguments, and columns of the same types."""
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


def column(name: str, values: Sequence[Value], example: Value) -> pa.Array:
    """A column of one type; `example` is a value that a column without values is compared with."""
    kinds = {kind(value) for value in values if value is not None} or {kind(example)}
    if len(kinds) > 1:
        raise Skip(f"the attribute {name} holds a {' and a '.join(sorted(kinds))}, which no column can")
    match kinds.pop():
        case "number":
            numbers = [value for value in values if isinstance(value, int | float)]
            whole = all(isinstance(value, int) for value in numbers)
            largest = max((abs(value) for value in numbers), default=0)
            if (whole and largest >= 1 << 63) or (not whole and largest > _LARGEST_EXACT_FLOAT):
                raise Skip(f"the attribute {name} holds numbers that no column holds exactly")
            return pa.array(values, pa.int64() if whole else pa.float64())
        case "bool":
            return pa.array(values, pa.bool_())
        case "time":
            moments = [value.micros if isinstance(value, Time) else None for value in values]
            return pa.array(moments, pa.timestamp("us", "UTC"))
        case _:
            return pa.array(values, pa.string())
