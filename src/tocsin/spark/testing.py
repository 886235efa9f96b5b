"""Run a table as a stream: its rows arrive out of order and in pieces, and the query is restarted in the middle."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.spark.session.run_folder import passing_folder
from tocsin.spark.session.session import local_session

DELAY = 5  # seconds by which an event may be late
END_TYPE = "end of the stream"  # a type that no pattern names
_END = 1 << 52  # microseconds: later than any timer of a case
_SECOND = 1_000_000
_CUTS = 3


def streamed(
    table: pa.Table,
    detect: Callable[[DataFrame], DataFrame],
    *,
    types: str,
    moments: Mapping[str, int],
    last: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return what `detect` finds in a table that arrives as a stream of files, with a restart between micro-batches.

    Args:
        detect: turns a streaming DataFrame of events into one of matches; it must allow a delay of `DELAY` seconds,
            and events ahead of wall-clock time.
        types: the column with the types of an event.
        moments: the time columns, each with the microseconds in its unit. The last is the end.
        last: the required values, key and id, of an event after all others, which advances the watermark until
            everything is decided.
    """
    at_last = {
        name: pa.scalar(_END // unit, pa.int64()).cast(table.schema.field(name).type).as_py()
        for name, unit in moments.items()
    }
    listed = pa.types.is_list(table.schema.field(types).type)
    row = {**last, types: [END_TYPE] if listed else END_TYPE, **at_last}
    whole = pa.concat_tables([table, pa.Table.from_pylist([row], table.schema)])
    random = Random(zlib.crc32(repr(table.select([types, *moments]).to_pydict()).encode()))
    name, unit = list(moments.items())[-1]
    ends = [moment * unit for moment in table.column(name).cast(pa.int64()).to_pylist()]
    late = {at: end + random.randrange(DELAY * _SECOND) for at, end in enumerate(ends)}
    order = [*sorted(late, key=lambda at: (late[at], at)), len(ends)]
    cuts = sorted({0, *(random.randrange(1, len(order)) for _ in range(_CUTS))})
    pieces = [order[first:stop] for first, stop in zip(cuts, [*cuts[1:], len(order)], strict=True)]
    with passing_folder("stream") as folder:
        return _run(folder, whole, pieces, detect)


def _run(
    folder: Path, table: pa.Table, pieces: list[list[int]], detect: Callable[[DataFrame], DataFrame]
) -> list[dict[str, Any]]:
    spark = local_session()
    arriving = folder / "in"
    arriving.mkdir()
    middle = (len(pieces) + 1) // 2
    for numbers in (range(middle), range(middle, len(pieces))):
        for number in numbers:
            file = arriving / f"{number}.parquet"
            pq.write_table(table.take(pa.array(pieces[number])), file)
            os.utime(file, (1_000 + number, 1_000 + number))  # Spark reads files in the order of their times
        events = (
            spark.readStream.schema(from_arrow_schema(table.schema))
            .option("maxFilesPerTrigger", 1)
            .parquet(str(arriving))
        )
        query = (
            detect(events)
            .writeStream.option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(folder / "out"), format="parquet")
        )
        query.awaitTermination()
    return spark.read.parquet(str(folder / "out")).toArrow().to_pylist()  # type: ignore[no-any-return]
