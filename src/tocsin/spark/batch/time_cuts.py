"""Where to cut the time axis of a table, so that tasks have about as many events each.

The matches do not depend on where the cuts are, so the cheapest estimate of the distribution is good enough.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from tocsin.runtime.transport.time_chunks import BOUNDS
from tocsin.spark.events.naming import names_at
from tocsin.spark.parquet.row_groups import CannotReadError, footers, local_files, row_groups
from tocsin.spark.parquet.time_layout import even_cuts, moment_of
from tocsin.spark.query import Query
from tocsin.spark.session.session import is_remote

_SAMPLED = 0.02  # the fraction of events in the sample
_ACCURACY = 1000  # of `percentile_approx`: chunk sizes differ by about a thousandth of the events
_FILES = 100  # at most this many footers are read, however many files there are


def cut_moments(
    query: Query, used: DataFrame, chunks: int, overlap: int
) -> tuple[DataFrame, Sequence[int] | None]:
    """Find the moments that cut prepared rows into about `chunks` chunks (see `runtime.transport.time_chunks`).

    Returns the moments with the rows unchanged; or None with rows of which the first in each partition carries the
    moments.
    """
    known = _told_by_files(query, chunks, overlap)
    return (used if known is not None else _sampled(used, chunks)), known


def _told_by_files(query: Query, chunks: int, overlap: int) -> Sequence[int] | None:
    """Estimate the moments from the footers of the table's Parquet files, if those are on this machine."""
    events, columns = query.table, query.columns
    name = columns.time[1]
    if is_remote(events.sparkSession):
        return None
    try:
        files = local_files(events)
        outermost = [(names_at(events.schema, name) or (name,))[0]]
        groups = row_groups(footers(files[:: len(files) // _FILES + 1]), events.schema, outermost, name)
        cuts = even_cuts(
            groups, moment_of(name, events.schema, columns.time_unit, query.time_zone), chunks, overlap
        )
    except CannotReadError:
        return None
    return cuts or None


def _sampled(used: DataFrame, chunks: int) -> DataFrame:
    """Add the moments to the first row of each partition.

    They come from a sample of the events, computed in a subquery so that nothing runs before the matches are requested.
    """
    quantiles = [F.lit(number / chunks) for number in range(1, chunks)]
    if not quantiles:
        return used.withColumn(BOUNDS, F.lit(None).cast("array<bigint>"))
    sample = used.select("end").sample(_SAMPLED, 0)
    moments = sample.agg(F.percentile_approx("end", F.array(*quantiles), F.lit(_ACCURACY))).scalar()
    first = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << 33) - 1)) == 0
    return used.withColumn(BOUNDS, F.when(first, moments))
