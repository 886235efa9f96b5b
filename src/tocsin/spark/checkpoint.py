"""What the checkpoint of a stream holds: the figures of each shard, read from Spark's state store."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import InputError
from tocsin.runtime.rules import Book
from tocsin.spark.failures import explain_failure
from tocsin.spark.places import placed
from tocsin.spark.stream import remembered_figures


def read_state(spark: SparkSession, checkpoint: str | Path) -> pa.Table:
    """A row a shard of each job: keys, partial matches, events that wait, bytes, how far it is decided, its oldest event.

    Args:
        checkpoint: the folder that the query was given as `checkpointLocation`.
    """
    found = [
        remembered_figures(shard, bytes(row["value"][0])).add_column(0, "job", pa.array([job]))
        for row in _values(spark, checkpoint, "head")
        for job, shard in [_home(row)]
    ]
    return pa.concat_tables(found).sort_by([("job", "ascending"), ("shard", "ascending")])


def read_rules(spark: SparkSession, checkpoint: str | Path) -> Book:
    """The rules in force of a stream whose rules change, and what became of each change."""
    rows = _values(spark, checkpoint, "rules")
    book: Book = pickle.loads(bytes(rows[0]["value"][0]))  # all shards have made the same changes
    return book


def _home(row: Row) -> tuple[int, int]:
    """The job and the shard that a value is of. A pipeline keeps all its jobs together, in places (see `stream_jobs`)."""
    key = row["key"]
    if "place" in key:
        return placed(key["place"], row["partitions"])
    return row["operator"], key["shard"]


def _values(spark: SparkSession, checkpoint: str | Path, name: str) -> list[Row]:
    """A value of each shard that remembers one, with what is to be known to say which shard that is."""
    folder = Path(checkpoint).expanduser()
    if "://" not in str(checkpoint) and not (folder / "state").is_dir():
        raise InputError(
            "no-checkpoint",
            f"{checkpoint} is no checkpoint of a stream that detects",
            hint="give the folder that the query had as its checkpointLocation",
        )
    location = str(checkpoint) if "://" in str(checkpoint) else str(folder.resolve())
    try:
        operators = spark.read.format("state-metadata").load(location).select("operatorId", "numPartitions")
        reader = spark.read.format("statestore").option("stateVarName", name)
        rows = [
            row
            for operator, partitions in sorted(set(operators.collect()))
            for row in reader.option("operatorId", operator)
            .load(location)
            .select("key", "value", F.lit(operator).alias("operator"), F.lit(partitions).alias("partitions"))
            .collect()
        ]
    except PySparkException as problem:
        hint = "is it the checkpoint of a query of tocsin, with at least one micro-batch behind it?"
        raise InputError("unreadable-checkpoint", explain_failure(problem), hint=hint) from None
    if not rows:
        raise InputError("empty-checkpoint", f"{checkpoint} remembers nothing yet")
    return rows
