"""The bytes of messages as events, and events as bytes. What cannot be read is kept, with the reason.

Both ways of reading add two columns to the messages: `event`, a struct, and `problem`, which is null for a value that
could be read. Such rows are for the dead-letter output, not for an exception: one bad message must not stop a stream.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType

_CORRUPT = "_corrupt"


def read_json(messages: DataFrame, event: StructType) -> DataFrame:
    """Messages with their values read as JSON objects."""
    with_corrupt = StructType([*event.fields]).add(_CORRUPT, StringType())
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    read = F.from_json(F.col("value").cast("string"), with_corrupt, options)
    parsed = messages.withColumn("_read", read)
    bad = F.col("_read").isNull() | F.col("_read")[_CORRUPT].isNotNull()
    problem = F.when(F.col("value").isNull(), "there is no value").when(
        bad, "the value is not JSON with fields of these types"
    )
    fields = F.struct(*(F.col("_read")[field.name].alias(field.name) for field in event.fields))
    return (
        parsed.withColumn("problem", problem)
        .withColumn("event", F.when(F.col("problem").isNull(), fields))
        .select(*messages.columns, "event", "problem")
    )


def write_json(events: DataFrame) -> DataFrame:
    """A table with one column `value`: each row as a JSON object, without the fields that are null."""
    return events.select(F.to_json(F.struct("*")).cast("binary").alias("value"))
