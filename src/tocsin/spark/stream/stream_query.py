"""Detection in a stream as a Spark query: prepared rows go to their shards, and shard output is decoded to rows.

A shard emits rows `kind string, packed binary`: matches, late events and figures, each table encoded once as Arrow
bytes. PySpark cannot return Arrow columns from a stateful operator: nested ones, such as constituents, would become
Python objects one by one. So a match is encoded once, in these bytes, and `opened` passes on views of them. Workers
load this module, so it imports nothing that compiles patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial, reduce
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from tocsin.runtime.program import Array
from tocsin.runtime.stream.arrivals import ARRIVALS, ArrivalJob, pack_arrivals
from tocsin.runtime.stream.shard import late_rows
from tocsin.runtime.stream.tally import FIGURES, LATE, MATCH, RULES
from tocsin.runtime.transport.pack import from_ipc
from tocsin.spark.batch.shard_numbers import shard_places
from tocsin.spark.stream.shard_processor import RULE_CHANGE, ShardProcessor

if TYPE_CHECKING:
    from tocsin.spark.events.types_seen import TypesSeen
    from tocsin.spark.observe.task_reports import Work
    from tocsin.spark.stream.stream_plan import StreamPlan

PUT_OUT = "kind string, packed binary"
OBSERVED = "tocsin-"  # prefix of the metrics that Spark observes
_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Otherwise Spark measures the batch for Python after every row, which takes longer than all else it does with a
    # row.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
}


def run_stream(used: DataFrame, plan: StreamPlan, seen: TypesSeen | None = None) -> DataFrame:
    """Run detection over the prepared rows of a stream; return the output of shards as rows `kind, packed`.

    Args:
        seen: collects the types that occur, if somebody asks.
    """
    use_rocksdb(used.sparkSession)
    if plan.lookup is None:
        used = without_irrelevant_values(used, plan.domain)
    if plan.idle:
        used = with_heartbeats(used)
    return in_shards(used, plan.arriving, ShardProcessor(plan.job, plan.detected), seen)


def in_shards(
    used: DataFrame, job: ArrivalJob, processor: StatefulProcessor, seen: TypesSeen | None = None
) -> DataFrame:
    """Run a processor over prepared rows, each shard in its own partition if there are enough partitions."""
    pack: Work = partial(pack_arrivals, job)
    if seen is not None and job.domain is not None:
        pack = seen.packing(pack, len(job.domain))
    arrivals = used.mapInArrow(pack, from_arrow_schema(ARRIVALS))
    place = F.element_at(F.lit(shard_places(job.shards)), F.col("shard") + 1)
    return (
        arrivals.select(place.alias("place"), "kind", "packed")
        .groupBy("place")
        .transformWithStateInPandas(processor, PUT_OUT, "append", "none")
    )


def without_irrelevant_values(used: DataFrame, domain: Array) -> DataFrame:
    """Null all columns of irrelevant rows that do not advance the watermark, so that Spark passes them on cheaply."""
    signed = [mask - (1 << 64) if mask >> 63 else mask for mask in domain.tolist()]
    asked = [
        F.col(f"bits{word}").bitwiseAND(F.lit(mask).cast("long")) != 0 for word, mask in enumerate(signed)
    ]
    ahead = F.col("ahead") if "ahead" in used.columns else F.lit(False)
    relevant = reduce(lambda one, other: one | other, asked, ahead)
    needed = {"end", "source", *(f"bits{word}" for word in range(len(signed)))}
    return used.select(
        *(
            F.col(name) if name in needed else F.when(relevant, F.col(name)).alias(name)
            for name in used.columns
        )
    )


def opened(put_out: DataFrame, schema: pa.Schema) -> DataFrame:
    """Decode the rows of shard output that fit a schema. Spark listeners receive the figures (see `watch`)."""
    own = F.collect_list(F.when(F.col("kind") == FIGURES, F.col("packed"))).alias("figures")
    observed = put_out.observe(f"{OBSERVED}{uuid4().hex}", own)
    return observed.mapInArrow(partial(_opened, schema.serialize().to_pybytes()), from_arrow_schema(schema))


def _opened(schema: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    whole = pa.ipc.read_schema(pa.py_buffer(schema))
    for batch in batches:
        for kind, packed in zip(batch.column("kind").to_pylist(), batch.column("packed"), strict=True):
            found: pa.Table | None = None
            if kind == MATCH or (kind == RULES and RULE_CHANGE in whole.names):
                found = _widened(from_ipc(packed.as_buffer()), whole)
            elif kind == LATE and "late" in whole.names:
                found = late_rows(from_ipc(packed.as_buffer()), whole)
            if found is not None:
                yield from (one for one in found.to_batches() if one.num_rows)


def _widened(rows: pa.Table, whole: pa.Schema) -> pa.Table:
    """Add missing columns as nulls."""
    if rows.schema == whole:
        return rows
    there = set(rows.column_names)
    columns = [
        rows.column(field.name) if field.name in there else pa.nulls(rows.num_rows, field.type)
        for field in whole
    ]
    return pa.table(columns, schema=whole)


def use_rocksdb(spark: SparkSession) -> None:
    """Set what state in Python needs or benefits from, unless the user has set it."""
    for name, value in _SETTINGS.items():
        if spark.conf.get(name, None) is None:
            spark.conf.set(name, value)


def with_heartbeats(used: DataFrame) -> DataFrame:
    """Add a row each second that carries wall-clock time."""
    clock = F.unix_micros("timestamp")
    beats = used.sparkSession.readStream.format("rate").option("rowsPerSecond", 1).load()
    empty = [
        (clock if field.name in ("start", "end") else F.lit(None)).cast(field.dataType).alias(field.name)
        for field in used.schema.fields
    ]
    return used.withColumn("clock", F.lit(None).cast("long")).unionAll(
        beats.select(*empty, clock.alias("clock"))
    )
