"""Where to cut the time axis of a table, so that tasks have about as many events each.

Where the moments lie makes no difference to what is found, so the cheapest way to know them is good enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from tocsin.runtime.chunks import BOUNDS, pack_by_time
from tocsin.runtime.pack import PACKED
from tocsin.spark.columns import EventColumns
from tocsin.spark.layout import even_cuts, moment_of
from tocsin.spark.parquet_files import CannotReadError, footers, local_files, row_groups
from tocsin.spark.session import is_remote

_SAMPLED = 0.02  # the share of events that is looked at
_ACCURACY = 1000  # chunks differ by a thousandth of the events or so
_FILES = 100  # whose footers are looked at, however many there are


def packed_by_time(
    used: DataFrame, events: DataFrame, columns: EventColumns, chunks: int, overlap: int
) -> DataFrame:
    """The prepared rows of a table `events`, packed into about so many chunks of the time axis (see `runtime.chunks`)."""
    known = _told_by_files(events, columns, chunks, overlap)
    bounded = used if known is not None else _sampled(used, chunks)
    return bounded.mapInArrow(partial(pack_by_time, overlap, known), from_arrow_schema(PACKED))


def _told_by_files(
    events: DataFrame, columns: EventColumns, chunks: int, overlap: int
) -> Sequence[int] | None:
    """The moments as Parquet files tell them that a table comes from, if there are such files on this machine."""
    name = columns.time[1]
    if is_remote(events.sparkSession):
        return None
    try:
        files = local_files(events)
        groups = row_groups(footers(files[:: len(files) // _FILES + 1]), events.schema, [name], name)
        cuts = even_cuts(groups, moment_of(name, events.schema, columns.time_unit), chunks, overlap)
    except CannotReadError:
        return None
    return cuts or None


def _sampled(used: DataFrame, chunks: int) -> DataFrame:
    """The first row of each partition with the moments.

    Spark looks at a sample of the events before it begins, which is why the moments are a subquery: nothing runs before the
    matches are asked for.
    """
    quantiles = [F.lit(number / chunks) for number in range(1, chunks)]
    if not quantiles:
        return used.withColumn(BOUNDS, F.lit(None).cast("array<bigint>"))
    sample = used.select("end").sample(_SAMPLED, 0)
    moments = sample.agg(F.percentile_approx("end", F.array(*quantiles), F.lit(_ACCURACY))).scalar()
    first = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << 33) - 1)) == 0
    return used.withColumn(BOUNDS, F.when(first, moments))
