"""Matches without those that a quiet rule holds back, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from tocsin.runtime.results.match_rows import keys_among
from tocsin.runtime.results.quiet_rows import END, FIRST, quiet_partition
from tocsin.spark.quoting import quoted


def hold_back_in(matches: DataFrame, quiet: Mapping[str, int]) -> DataFrame:
    """The matches of quiet patterns that are heard, and all of the others.

    Args:
        quiet: for patterns, how many microseconds after a match of a key no other of it is heard.
    """
    ours = F.col("pattern").isin(list(quiet))
    keys = map(quoted, keys_among(matches.columns))
    of_key = Window.partitionBy("pattern", *keys).orderBy("end", "start", "match_id")
    in_order = matches.where(ours).withColumns(
        {FIRST: F.row_number().over(of_key) == 1, END: F.unix_micros("end")}
    )
    heard = in_order.mapInArrow(partial(quiet_partition, dict(quiet)), matches.schema)
    return matches.where(~ours).unionByName(heard)
