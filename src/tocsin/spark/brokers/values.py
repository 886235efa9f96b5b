"""Decode the bytes of messages to events, and encode events. Values that cannot be read are kept, with the reason.

Both readers add two columns to the messages: `event`, a struct, and `problem`, which is null for a value that could be
read. Rows with a problem go to the dead letters instead of raising: one bad message must not stop a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from tocsin.runtime.read.json_values import JsonJob, read_values

_CORRUPT = "_corrupt"
_VALUE, _EVENT, _REST = "_value", "_event", "_rest"
# A struct of these is read in Python. For all other types (times, dates, decimals, floats, binary, structs, lists,
# maps) Spark has rules and settings of its own, which are not duplicated here.
_WHOLE = (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType())
_PLAIN = (*_WHOLE, T.DoubleType(), T.StringType(), T.BooleanType())


def read_json(messages: DataFrame, event: T.StructType, *, keep: Sequence[str] | None = None) -> DataFrame:
    """Decode message values as JSON objects.

    Values are accepted and converted as by Spark's `from_json`. If all fields of an event are integers, doubles,
    strings and booleans, ordinary values are read in Python, which takes less than half of the CPU. Spark reads the
    rest.

    Args:
        keep: the columns of the messages to keep, by default all. Each costs time on its way through Python.
    """
    kept = list(messages.columns if keep is None else keep)
    if _is_plain(event):
        rows = _read_in_python(messages, event, kept)
        read = F.coalesce(F.col(_EVENT), _read_by_spark(event))
    else:
        rows = messages.withColumn(_REST, F.col("value"))
        read = _read_by_spark(event)
    # Always true, but not a constant: later predicates stay above this projection, or Spark would parse a value again
    # for each predicate.
    once = F.when(F.spark_partition_id() >= 0, read)
    problem = F.when(F.col(_REST).isNull(), "there is no value").otherwise(
        "the value is not JSON with fields of these types"
    )
    return rows.select(*kept, once.alias("event"), _REST).select(
        *kept, "event", F.when(F.col("event").isNull(), problem).alias("problem")
    )


def write_json(events: DataFrame) -> DataFrame:
    """Encode each row as a JSON object without null fields; returns a table with one column `value`."""
    return events.select(F.to_json(F.struct("*")).cast("binary").alias("value"))


def _is_plain(event: T.StructType) -> bool:
    """Return whether events of this schema can be read in Python."""
    # Spark decides about names that differ in case only; names with quotes, backslashes and the like need escaping.
    names = {field.name.lower() for field in event.fields}
    if len(names) != len(event.fields) or not all(
        name.isprintable() and not {*'"\\'} & {*name} for name in names
    ):
        return False
    return len(names) > 0 and all(field.dataType in _PLAIN for field in event.fields)


def _read_in_python(messages: DataFrame, event: T.StructType, kept: Sequence[str]) -> DataFrame:
    """Return the kept columns, the event if Python could read it, and otherwise the value, for Spark to read."""
    fields = tuple((field.name, to_arrow_type(field.dataType)) for field in event.fields)
    nullable = T.StructType([T.StructField(field.name, field.dataType) for field in event.fields])
    schema = T.StructType([messages.schema[name] for name in kept]).add(_EVENT, nullable).add(_REST, "binary")
    needed = messages.select(*kept, F.col("value").cast("binary").alias(_VALUE))
    job = JsonJob(_VALUE, tuple(kept), fields, (_EVENT, _REST))
    return needed.mapInArrow(partial(read_values, job), schema)


def _read_by_spark(event: T.StructType) -> Column:
    """Parse the values that Python left to Spark; null where a value cannot be read."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    with_corrupt = T.StructType([*event.fields]).add(_CORRUPT, T.StringType())
    read = F.from_json(F.col(_REST).cast("string"), with_corrupt, options)

    def checked(one: Column) -> Column:
        fields = F.struct(*(one[field.name].alias(field.name) for field in event.fields))
        return F.when(one.isNotNull() & one[_CORRUPT].isNull(), fields)

    # In a list of one element, because Spark would parse the value once per mention of the expression.
    return F.when(F.col(_REST).isNotNull(), F.element_at(F.transform(F.array(read), checked), 1))
