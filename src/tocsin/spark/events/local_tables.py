"""Tables of pandas, polars and Arrow as events, and matches as a table of the same kind.

Spark reads such a table from a Parquet file if it runs on this machine. The matches are computed at once, because the file
is not kept.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import InputError
from tocsin.spark.session.advice import fast_settings
from tocsin.spark.session.session import is_on_one_machine, is_remote

_ROW_GROUP = 1_000_000  # rows; several groups make several tasks


@dataclass(frozen=True, slots=True)
class LocalTable:
    """The rows of a table in this process, and the library it is a table of: `pandas`, `polars` or `arrow`."""

    rows: pa.Table
    library: str

    @contextmanager
    def for_spark(self, spark: SparkSession) -> Iterator[DataFrame | Path]:
        """Yield the table in a form that Spark reads, which is gone afterwards."""
        if is_remote(spark) or not is_on_one_machine(spark.sparkContext):
            yield spark.createDataFrame(self.rows)
            return
        with tempfile.TemporaryDirectory(prefix="tocsin-table-") as folder:
            file = Path(folder) / "events.parquet"
            pq.write_table(self.rows, file, row_group_size=_ROW_GROUP)
            yield file

    def like(self, found: DataFrame) -> Any:
        """Return the rows of a Spark table as a table of the same library."""
        with fast_settings(found.sparkSession):
            rows = found.toArrow()
        match self.library:
            case "pandas":
                return rows.to_pandas()
            case "polars":
                return sys.modules["polars"].from_arrow(rows)
            case _:
                return rows


def local_table(events: object) -> LocalTable | None:
    """Return events that are a table of pandas, polars or Arrow; None if they are anything else."""
    library = type(events).__module__.partition(".")[0]
    try:
        match events:
            case pa.Table():
                return LocalTable(_plain(events), "arrow")
            case pa.RecordBatch():
                return LocalTable(_plain(pa.Table.from_batches([events])), "arrow")
            case _ if library == "pandas" and type(events).__name__ == "DataFrame":
                return LocalTable(_from_pandas(events), "pandas")
            # Never imported here: to have a table of polars is to have loaded it.
            case _ if library == "polars" and type(events).__name__ == "DataFrame":
                return LocalTable(_plain(events.to_arrow()), "polars")  # type: ignore[attr-defined]
            case _ if library == "polars" and type(events).__name__ == "LazyFrame":
                return local_table(events.collect())  # type: ignore[attr-defined]
            case _:
                return None
    except pa.ArrowException as problem:
        said = str(problem).splitlines()[0]
        hint = "give each column values of one type"
        raise InputError("bad-table", f"the table cannot be converted to Arrow: {said}", hint=hint) from None


def _from_pandas(events: Any) -> pa.Table:
    """Return the columns of a pandas table, and the levels of its index that have a name."""
    named = [name for name in events.index.names if name is not None]
    unnamed = [number for number, name in enumerate(events.index.names) if name is None]
    whole = events.reset_index(level=unnamed, drop=True) if named and unnamed else events
    return _plain(pa.Table.from_pandas(whole.reset_index(drop=not named), preserve_index=False))


def _plain(rows: pa.Table) -> pa.Table:
    """Return a table with the types that Spark knows for texts and categories."""
    fields = [pa.field(one.name, _plain_type(one.type)) for one in rows.schema]
    return rows.cast(pa.schema(fields))


def _plain_type(type: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type):
        return _plain_type(type.value_type)
    if pa.types.is_large_string(type) or pa.types.is_string_view(type):
        return pa.string()
    if pa.types.is_large_binary(type) or pa.types.is_binary_view(type):
        return pa.binary()
    if pa.types.is_large_list(type):
        return pa.list_(_plain_type(type.value_type))
    return type
