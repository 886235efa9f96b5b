"""What the checkpoint of a stream holds: the figures of each shard, read from Spark's state store."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tocsin.errors import InputError
from tocsin.spark.failures import explain_failure
from tocsin.spark.stream import remembered_figures


def read_state(spark: SparkSession, checkpoint: str | Path) -> pa.Table:
    """A row a shard of each job: keys, partial matches, events that wait, bytes, how far it is decided, its oldest event.

    Args:
        checkpoint: the folder that the query was given as `checkpointLocation`.
    """
    folder = Path(checkpoint).expanduser()
    if "://" not in str(checkpoint) and not (folder / "state").is_dir():
        raise InputError(
            "no-checkpoint",
            f"{checkpoint} is no checkpoint of a stream that detects",
            hint="give the folder that the query had as its checkpointLocation",
        )
    location = str(checkpoint) if "://" in str(checkpoint) else str(folder.resolve())
    try:
        jobs = spark.read.format("state-metadata").load(location).select("operatorId").distinct().collect()
        reader = spark.read.format("statestore").option("stateVarName", "head")
        rows = {
            job: reader.option("operatorId", job).load(location).collect()
            for job in sorted(row["operatorId"] for row in jobs)
        }
    except PySparkException as problem:
        hint = "is it the checkpoint of a query of tocsin, with at least one micro-batch behind it?"
        raise InputError("unreadable-checkpoint", explain_failure(problem), hint=hint) from None
    found = [
        remembered_figures(int(row["key"][0]), bytes(row["value"][0])).add_column(0, "job", pa.array([job]))
        for job, own in rows.items()
        for row in own
    ]
    if not found:
        raise InputError("empty-checkpoint", f"{checkpoint} remembers nothing yet")
    return pa.concat_tables(found).sort_by([("job", "ascending"), ("shard", "ascending")])
