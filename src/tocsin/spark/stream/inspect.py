"""Inspect the checkpoint of a stream: read the figures of each shard, and the rules, from Spark's state store."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import InputError
from tocsin.runtime.stream.carry_over import Outline
from tocsin.runtime.stream.rule_book import Book, read_book
from tocsin.spark.session.failures import explain_failure
from tocsin.spark.stream.damage import DAMAGED, reading
from tocsin.spark.stream.shard_head import read_head, read_outlines
from tocsin.spark.stream.state_store import HEAD, MEMORY, OUTLINES, RULE_BOOK, Counted, figures


def read_state(spark: SparkSession, checkpoint: str | Path) -> pa.Table:
    """Return one row per shard and job: keys, partial matches, waiting events, bytes, watermark, and oldest event.

    Args:
        checkpoint: the `checkpointLocation` of the query.
    """
    found = [
        _figures(data, operator, checkpoint)
        for operator, heads in _values(spark, checkpoint, HEAD).items()
        for data in heads
    ]
    return pa.concat_tables(found).sort_by([("job", "ascending"), ("shard", "ascending")])


def _figures(data: bytes, operator: int, checkpoint: str | Path) -> pa.Table:
    """Return the figures of one shard. Several jobs of a query are one stateful operator in Spark, or several."""
    with reading(str(checkpoint)):
        head = read_head(data)
    own = figures(head.home.shard, head.heads, head.paces, Counted())
    return own.add_column(0, "job", pa.array([operator + head.home.job]))


class KeptState(NamedTuple):
    """The state of one shard of a stream: its outlines, and its memories by pace group and bucket."""

    outlines: list[Outline]
    memories: dict[tuple[int, int], bytes]


def read_memories(spark: SparkSession, checkpoint: str | Path) -> list[KeptState]:
    """Return the state of every shard of every job."""
    shards: dict[tuple[int, object], dict[tuple[int, int], bytes]] = {}
    for operator, rows in _rows(spark, checkpoint, None).items():
        for row in rows:
            place = (int(row["user_map_key"][0]), int(row["user_map_key"][1]))
            shards.setdefault((operator, row["key"]), {})[place] = bytes(row["user_map_value"][0])
    found = []
    for own in shards.values():
        outlines = read_outlines(own[OUTLINES]) if OUTLINES in own else []
        found.append(KeptState(outlines, {place: data for place, data in own.items() if place[0] >= 0}))
    return found


def read_rules(spark: SparkSession, checkpoint: str | Path) -> Book:
    """Return the rules in force of a stream whose rules change, and the decision on each change."""
    (books,) = _values(spark, checkpoint, RULE_BOOK).values()
    with reading(f"{checkpoint}: the book of rules"):
        return read_book(books[0])  # all shards have applied the same changes


def _values(spark: SparkSession, checkpoint: str | Path, key: tuple[int, int]) -> dict[int, list[bytes]]:
    """Return the value under a key from each shard that has one, by stateful operator of the query."""
    return {
        operator: [bytes(row["user_map_value"][0]) for row in own]
        for operator, own in _rows(spark, checkpoint, key).items()
        if own
    }


def _rows(spark: SparkSession, checkpoint: str | Path, key: tuple[int, int] | None) -> dict[int, list[Row]]:
    """Return the rows under a key, or all, by stateful operator of the query."""
    folder = Path(checkpoint).expanduser()
    if "://" not in str(checkpoint) and not (folder / "state").is_dir():
        raise InputError(
            "no-checkpoint",
            f"{checkpoint} is not the checkpoint of a stream that detects",
            hint="give the folder that the query had as its checkpointLocation",
        )
    location = str(checkpoint) if "://" in str(checkpoint) else str(folder.resolve())
    try:
        operators = (
            spark.read.format("state-metadata").load(location).select("operatorId").distinct().collect()
        )
        reader = spark.read.format("statestore").option("stateVarName", MEMORY)
        own = F.lit(True)
        if key is not None:
            own = (F.col("user_map_key.pace_group") == key[0]) & (F.col("user_map_key.bucket") == key[1])
        rows = {
            operator: reader.option("operatorId", operator).load(location).where(own).collect()
            for operator in sorted(row["operatorId"] for row in operators)
        }
    except (PySparkException, Py4JError) as problem:
        raise InputError(
            DAMAGED,
            f"{checkpoint} cannot be read: {explain_failure(problem)}",
            hint="is it the checkpoint of a query of tocsin, with at least one micro-batch behind it? "
            "If it is, restore it from a copy, or start with a new checkpoint folder",
        ) from None
    if not any(rows.values()):
        raise InputError("empty-checkpoint", f"{checkpoint} contains no state yet")
    return rows
