"""What the checkpoint of a stream holds: the figures of each shard, read from Spark's state store."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tocsin.errors import InputError
from tocsin.runtime.rules import Book
from tocsin.spark.failures import explain_failure
from tocsin.spark.memory import HEAD, MEMORY, RULE_BOOK, remembered_figures


def read_state(spark: SparkSession, checkpoint: str | Path) -> pa.Table:
    """A row a shard of each job: keys, partial matches, events that wait, bytes, how far it is decided, its oldest event.

    Args:
        checkpoint: the folder that the query was given as `checkpointLocation`.
    """
    found = [
        remembered_figures(head, operator)
        for operator, heads in _values(spark, checkpoint, HEAD).items()
        for head in heads
    ]
    return pa.concat_tables(found).sort_by([("job", "ascending"), ("shard", "ascending")])


def read_rules(spark: SparkSession, checkpoint: str | Path) -> Book:
    """The rules in force of a stream whose rules change, and what became of each change."""
    (books,) = _values(spark, checkpoint, RULE_BOOK).values()
    book: Book = pickle.loads(books[0])  # all shards have made the same changes
    return book


def _values(spark: SparkSession, checkpoint: str | Path, key: tuple[int, int]) -> dict[int, list[bytes]]:
    """A value of each shard that remembers one, by the operator of the query that it belongs to."""
    folder = Path(checkpoint).expanduser()
    if "://" not in str(checkpoint) and not (folder / "state").is_dir():
        raise InputError(
            "no-checkpoint",
            f"{checkpoint} is no checkpoint of a stream that detects",
            hint="give the folder that the query had as its checkpointLocation",
        )
    location = str(checkpoint) if "://" in str(checkpoint) else str(folder.resolve())
    try:
        operators = (
            spark.read.format("state-metadata").load(location).select("operatorId").distinct().collect()
        )
        reader = spark.read.format("statestore").option("stateVarName", MEMORY)
        own = (F.col("user_map_key.line") == key[0]) & (F.col("user_map_key.bucket") == key[1])
        rows = {
            operator: reader.option("operatorId", operator).load(location).where(own).collect()
            for operator in sorted(row["operatorId"] for row in operators)
        }
    except PySparkException as problem:
        hint = "is it the checkpoint of a query of tocsin, with at least one micro-batch behind it?"
        raise InputError("unreadable-checkpoint", explain_failure(problem), hint=hint) from None
    if not any(rows.values()):
        raise InputError("empty-checkpoint", f"{checkpoint} remembers nothing yet")
    return {
        operator: [bytes(row["user_map_value"][0]) for row in own] for operator, own in rows.items() if own
    }
