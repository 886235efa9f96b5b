"""Row groups of Parquet files as a table that Spark would make of them: some columns, perhaps renamed, of some rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.read.parquet_columns import OpenFiles
from tocsin.runtime.rows.microseconds import as_micros

Condition = tuple[Any, ...]
"""A condition on rows: `("and", c, c)`, `("or", c, c)`, `("not", c)`, `("null", COLUMN)`, `("among", COLUMN, VALUES)`,
`("compare", RELATION, COLUMN, VALUE)`, `("text", FUNCTION, COLUMN, VALUE)`. Columns are named as in the files; times are
microseconds, dates are days."""

_RELATIONS = {
    "=": pc.equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_TEXT = {"starts": pc.starts_with, "ends": pc.ends_with, "contains": pc.match_substring}


class Scan(NamedTuple):
    """Which columns of the files are the columns of the table, and which rows are its rows."""

    names: tuple[tuple[str, str], ...]  # of a column of the table, and of the column in the files
    where: Condition | None
    asked: tuple[str, ...]  # the columns in the files that `where` uses

    def in_files(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names in the files of columns of the table."""
        found = dict(self.names)
        return tuple(dict.fromkeys(found[name] for name in names))


def read_scan(
    scan: Scan, files: OpenFiles, file: str, group: int, columns: tuple[str, ...], coded: tuple[str, ...]
) -> pa.Table:
    """The rows of a row group that a table has, with some columns under the names they have there."""
    read = tuple(dict.fromkeys((*scan.in_files(columns), *scan.asked)))
    opened = files(file, scan.in_files(coded))
    rows = opened.read_row_group(group, columns=list(read), use_threads=False)
    if scan.where is not None:
        rows = rows.filter(holds(scan.where, rows))  # rows for which it is unknown are dropped
    names = dict(scan.names)
    return pa.table({name: rows.column(names[name]) for name in columns})


def holds(condition: Condition, rows: pa.Table) -> pa.ChunkedArray:
    """The truth of a condition for each row, as Spark has it: null where it is unknown."""
    match condition:
        case ("and", left, right):
            return pc.and_kleene(holds(left, rows), holds(right, rows))
        case ("or", left, right):
            return pc.or_kleene(holds(left, rows), holds(right, rows))
        case ("not", inner):
            return pc.invert(holds(inner, rows))
        case ("null", name):
            return rows.column(name).is_null()
        case ("compare", relation, name, value):
            return _compared(relation, _plain(rows, name), value)
        case ("among", name, values):
            column = _plain(rows, name)
            found = pc.is_in(column, value_set=pa.array(values, column.type))
            return pc.if_else(column.is_null(), pa.scalar(None, pa.bool_()), found)
        case ("text", function, name, value):
            return _TEXT[function](_plain(rows, name), pattern=value)
        case _:
            raise TypeError(f"unknown condition {condition!r}")


def _compared(relation: str, column: pa.ChunkedArray, value: Any) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type):
        return _RELATIONS[relation](column, pa.scalar(value, column.type))
    # To Spark, no number is greater than NaN.
    numbers = column.cast(pa.float64())
    found = _RELATIONS[relation](numbers, pa.scalar(value, pa.float64()))
    return pc.or_(found, pc.is_nan(numbers)) if relation in (">", ">=") else found


def _plain(rows: pa.Table, name: str) -> pa.ChunkedArray:
    """A column in a form that is compared with constants: whole numbers in 64 bits, times in microseconds."""
    column = rows.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_timestamp(column.type):
        return as_micros(column)
    if pa.types.is_date(column.type):
        return column.cast(pa.int32()).cast(pa.int64())
    return column.cast(pa.int64()) if pa.types.is_integer(column.type) else column
