"""Apply the prefilters of a source: repeated events of a type are held back for a time."""

from __future__ import annotations

from functools import partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.events import Catalog
from tocsin.runtime.batch.hold_back import LimitJob, limit_partition
from tocsin.spark.events.predicates import attribute_column
from tocsin.spark.pipeline.added_columns import END, ID, LIMITED, PREFIX, PROBLEM, START, TYPE
from tocsin.spark.pipeline.file.model import Limit

_NUMBER = f"{PREFIX}limit"
_GROUP = f"{PREFIX}group"


def hold_back(events: DataFrame, limits: tuple[Limit, ...], catalog: Catalog) -> DataFrame:
    """Add `tocsin_limited` to the events of a source: whether one of its limits holds the event back.

    An event falls under the first limit that names its type or a parent of it, and repeats another of its own
    type that agrees in the attributes of the limit. One that lacks such an attribute repeats nothing.
    """
    if not limits:
        return events.withColumn(LIMITED, F.lit(False))
    readable = F.col(PROBLEM).isNull()
    number = F.coalesce(
        *(
            F.when(
                readable
                & F.col(TYPE).isin(*sorted(catalog.members(limit.type)))
                & reduce(Column.__and__, (attribute_column(name).isNotNull() for name in limit.by)),
                F.lit(place),
            )
            for place, limit in enumerate(limits)
        )
    )
    group = F.coalesce(
        *(
            # As JSON, so that no separator makes different events look alike.
            F.when(number == place, F.to_json(F.struct(TYPE, *map(attribute_column, limit.by))))
            for place, limit in enumerate(limits)
        )
    )
    numbered = events.withColumn(_NUMBER, number).withColumn(_GROUP, group)
    # Events that no limit looks at are spread by their id.
    together = numbered.repartition(F.coalesce(F.col(_GROUP), F.col(ID).cast("string")))
    job = LimitJob(tuple(limit.every for limit in limits), _NUMBER, _GROUP, START, END, ID, LIMITED)
    schema = T.StructType([*events.schema.fields, T.StructField(LIMITED, T.BooleanType())])
    return together.mapInArrow(partial(limit_partition, job), schema)
