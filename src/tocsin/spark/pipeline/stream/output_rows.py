"""The output of a micro-batch of a streaming pipeline, as rows in the form of `runtime.stream.tally`.

They are few, and most of the tables that they hold are small. These come to the driver at once, in the one job that detects:
then what is to be written takes no further way through Python, and to count needs no further job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from tocsin.runtime.stream import tally
from tocsin.runtime.transport.pack import from_ipc

_COUNTED = (tally.TALLY, tally.BLOCKS, tally.FIGURES, tally.RULES)  # kinds whose tables the driver needs
_SMALL = 65_536  # bytes of a table that is always collected to the driver

Opener = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class OutputRows:
    """The number of rows of each kind, and the rows themselves."""

    def __init__(self, kept: DataFrame) -> None:
        self._kept = kept
        here = F.col("kind").isin(*_COUNTED) | (F.length("packed") <= _SMALL)
        packed = F.when(here, F.col("packed")).alias("packed")
        self._rows = kept.select("kind", "name", "rows", packed).collect()
        # Counted once, because each of many subscriptions asks for its own.
        self._counts: dict[str, dict[str, int]] = {}
        for kind, name, rows, _ in self._rows:
            own = self._counts.setdefault(kind, {})
            own[name] = own.get(name, 0) + rows

    def count(self, kind: str, name: str | None = None) -> int:
        own = self._counts.get(kind, {})
        return sum(own.values()) if name is None else own.get(name, 0)

    def names(self, kind: str) -> list[str]:
        return sorted(self._counts.get(kind, ()))

    def table(self, kind: str) -> list[dict[str, Any]]:
        """Return the rows of all tables of a kind, with the number of their job, if any, as `job`."""
        return [
            {**one, "job": row["name"]}
            for row in self._rows
            if row["kind"] == kind
            for one in from_ipc(pa.py_buffer(row["packed"])).to_pylist()
        ]

    def opened(
        self, kinds: Collection[str], open: Opener, schema: StructType, names: Collection[str] | None = None
    ) -> DataFrame:
        """Apply `open` to rows `name, packed` of all names or some: here if all rows are local, else in the workers."""
        asked = None if names is None else frozenset(names)
        own = [
            (row["name"], row["packed"])
            for row in self._rows
            if row["kind"] in kinds and (asked is None or row["name"] in asked)
        ]
        if all(packed is not None for _, packed in own):
            rows = pa.record_batch({"name": [name for name, _ in own], "packed": [data for _, data in own]})
            found = open([rows]) if own else ()
            whole = to_arrow_schema(schema, timezone="UTC")
            return self._kept.sparkSession.createDataFrame(_joined(found, whole), schema)
        chosen = F.col("kind").isin(*kinds)
        if names is not None:
            chosen &= F.col("name").isin(*names)
        return self._kept.where(chosen).select("name", "packed").mapInArrow(open, schema)


def _joined(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    tables = [pa.Table.from_batches([batch]).select(schema.names) for batch in batches]
    return pa.concat_tables(tables).combine_chunks() if tables else schema.empty_table()
