"""The bytes of messages as events, and events as bytes. What cannot be read is kept, with the reason.

Both ways of reading add two columns to the messages: `event`, a struct, and `problem`, which is null for a value that
could be read. Such rows are for the dead-letter output, not for an exception: one bad message must not stop a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tocsin.runtime.json_values import JsonJob, read_values

_CORRUPT = "_corrupt"
_VALUE, _EVENT, _REST = "_value", "_event", "_rest"
# A struct of these is read in Python. Of all other types (times, dates, decimals, floats, binary, structs, lists, maps) Spark
# has rules and settings of its own, which nobody should have to know twice.
_WHOLE = (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType())
_PLAIN = (*_WHOLE, T.DoubleType(), T.StringType(), T.BooleanType())


def read_json(messages: DataFrame, event: T.StructType, *, keep: Sequence[str] | None = None) -> DataFrame:
    """Messages with their values read as JSON objects.

    What can be read, and as what, is as Spark's `from_json` has it. A value without oddities is read in Python, which takes
    less than half of the CPU, if all fields of an event are whole numbers, doubles, strings and booleans. Spark reads the rest.

    Args:
        keep: the columns of the messages that are kept, by default all. Each costs time on its way through Python.
    """
    kept = list(messages.columns if keep is None else keep)
    if _is_plain(event):
        rows = _read_in_python(messages, event, kept)
        read = F.coalesce(F.col(_EVENT), _read_by_spark(event))
    else:
        rows = messages.withColumn(_REST, F.col("value"))
        read = _read_by_spark(event)
    # Always true, and no constant: what is asked of events later stays behind this, or Spark would read a value anew for each
    # question.
    once = F.when(F.spark_partition_id() >= 0, read)
    problem = F.when(F.col(_REST).isNull(), "there is no value").otherwise(
        "the value is not JSON with fields of these types"
    )
    return rows.select(*kept, once.alias("event"), _REST).select(
        *kept, "event", F.when(F.col("event").isNull(), problem).alias("problem")
    )


def write_json(events: DataFrame) -> DataFrame:
    """A table with one column `value`: each row as a JSON object, without the fields that are null."""
    return events.select(F.to_json(F.struct("*")).cast("binary").alias("value"))


def _is_plain(event: T.StructType) -> bool:
    """Whether an event can be read in Python."""
    # Names that differ in case only are for Spark to accept or refuse; others cannot be written as they are.
    names = {field.name.lower() for field in event.fields}
    if len(names) != len(event.fields) or not all(
        name.isprintable() and not {*'"\\'} & {*name} for name in names
    ):
        return False
    return len(names) > 0 and all(field.dataType in _PLAIN for field in event.fields)


def _read_in_python(messages: DataFrame, event: T.StructType, kept: Sequence[str]) -> DataFrame:
    """The columns that are kept, then the event if it was read, and the value if it is left to Spark."""
    fields = tuple((field.name, to_arrow_type(field.dataType)) for field in event.fields)
    nullable = T.StructType([T.StructField(field.name, field.dataType) for field in event.fields])
    schema = T.StructType([messages.schema[name] for name in kept]).add(_EVENT, nullable).add(_REST, "binary")
    needed = messages.select(*kept, F.col("value").cast("binary").alias(_VALUE))
    job = JsonJob(_VALUE, tuple(kept), fields, (_EVENT, _REST))
    return needed.mapInArrow(partial(read_values, job), schema)


def _read_by_spark(event: T.StructType) -> Column:
    """The value that is left to Spark as an event, null if it cannot be read."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    with_corrupt = T.StructType([*event.fields]).add(_CORRUPT, T.StringType())
    read = F.from_json(F.col(_REST).cast("string"), with_corrupt, options)

    def checked(one: Column) -> Column:
        fields = F.struct(*(one[field.name].alias(field.name) for field in event.fields))
        return F.when(one.isNotNull() & one[_CORRUPT].isNull(), fields)

    # In a list of one, because each mention of an expression is a reading of its own.
    return F.when(F.col(_REST).isNotNull(), F.element_at(F.transform(F.array(read), checked), 1))
