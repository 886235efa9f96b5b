"""Columns of Arrow tables by dotted names, which lead into structs."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def column_at(table: pa.Table, name: str) -> pa.Array | pa.ChunkedArray:
    """A column, or a field inside a struct."""
    first, inner = _path(name, table.column_names)
    column = table.column(first)
    if column.num_chunks == 1:
        column = column.chunk(0)
    while inner:
        field, inner = _path(inner, [one.name for one in column.type])
        column = pc.struct_field(column, [field])
    return column


def _path(name: str, there: Sequence[str]) -> tuple[str, str]:
    """The first part of a dotted name, which may itself have dots, and what is left; as `spark.events.naming` finds it."""
    if name in there:
        return name, ""
    dots = [at for at, sign in enumerate(name) if sign == "."]
    at = next(at for at in reversed(dots) if name[:at] in there)
    return name[:at], name[at + 1 :]
