"""Convert composites to events: the matches of one subscription become rows that another reads.

In what that one reports, a composite is replaced by its own constituents, as if both had been one pattern:
only their `path` shows that they came together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.events import EventType
from tocsin.runtime.results.match_rows import keys_among
from tocsin.spark.pipeline.added_columns import (
    BLOCK,
    END,
    FILE,
    ID,
    LIMITED,
    ORIGIN,
    PARTS,
    PROBLEM,
    ROW,
    SOURCE,
    START,
    TEXT,
    TYPE,
)
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.pipeline.sources.cells import from_text
from tocsin.spark.quoting import quoted


def sent_as_events(
    matches: DataFrame,
    name: str,
    origins: Mapping[str, str],
    key: Sequence[str],
    schema: Schema,
    whole_ids: bool,
) -> DataFrame:
    """Return the events that a subscription sent; their source is the correlation, their time that of sending."""
    outputs = matches.schema["output"].dataType if "output" in matches.columns else T.StructType()
    assert isinstance(outputs, T.StructType)
    sources = F.create_map(*(F.lit(part) for pair in origins.items() for part in pair))
    values: dict[str, Column] = {ORIGIN: sources[F.col("pattern")]}
    for attribute in schema.attributes:
        holders = [
            F.col("output").getField(table.name).getField(attribute)
            for table in outputs.fields
            if isinstance(table.dataType, T.StructType) and attribute in table.dataType.names
        ]
        if holders and attribute != ORIGIN:
            values[attribute] = F.coalesce(*(h.cast(schema.attributes[attribute]) for h in holders))
    values |= _key_values(matches, key)
    pushed = matches.where(F.col("what") == "push")
    if "delivered_at" in matches.columns:
        pushed = pushed.where(F.col("lost").isNull()).withColumns(
            {end: F.col("delivered_at") for end in ("start", "end")}
        )
    return _events(pushed, name, F.col("type"), F.unix_micros("end"), values, schema, whole_ids)


def as_events(
    matches: DataFrame, composite: EventType, key: Sequence[str], schema: Schema, whole_ids: bool
) -> DataFrame:
    """Return the matches of a subscription as events, whose type has its name."""
    values = {
        name: F.try_element_at("variables", F.lit(name)) for name in composite.attributes if name not in key
    }
    typed = {name: from_text(text, composite.attributes[name]) for name, text in values.items()}
    typed |= _key_values(matches, key)
    typed[ORIGIN] = typed.get(ORIGIN, F.lit(composite.name))
    own = matches.where(F.col("pattern") == composite.name)
    type, start = F.lit(composite.name), F.unix_micros("start")
    return _events(own, composite.name, type, start, typed, schema, whole_ids)


def _key_values(matches: DataFrame, key: Sequence[str]) -> dict[str, Column]:
    """Return the key columns of matches by the names that they have in events."""
    return {name: F.col(quoted(own)) for name, own in zip(key, keys_among(matches.columns), strict=True)}


def _events(
    matches: DataFrame,
    name: str,
    type: Column,
    start: Column,
    values: Mapping[str, Column],
    schema: Schema,
    whole_ids: bool,
) -> DataFrame:
    """Return rows in the form in which events are read, one for each match."""
    nothing = F.lit(None)
    return matches.select(
        F.lit(name).alias(SOURCE),
        nothing.cast("string").alias(FILE),
        nothing.cast("long").alias(BLOCK),
        nothing.cast("long").alias(ROW),
        nothing.cast("string").alias(TEXT),
        nothing.cast("string").alias(PROBLEM),
        type.alias(TYPE),
        start.alias(START),
        F.unix_micros("end").alias(END),
        _id(whole_ids).alias(ID),
        *(values.get(a, nothing).cast(kind).alias(a) for a, kind in schema.attributes.items()),
        F.lit(False).alias(LIMITED),
        F.col("constituents").alias(PARTS),
    )


def _id(whole_ids: bool) -> Column:
    """Return an id that sorts before all others: among events of equal times, a composite comes first."""
    if not whole_ids:
        return F.concat(F.lit("\x01"), F.col("match_id"))
    lowest = F.lit(-(2**63)).cast("long")
    return lowest + F.shiftrightunsigned(F.xxhash64("match_id"), 2)


def opened(matches: DataFrame) -> DataFrame:
    """Replace composites among the constituents of matches by their own constituents."""
    struct = _constituent(matches)
    attributes = struct["attributes"].dataType
    assert isinstance(attributes, T.StructType)
    kept = [field.name for field in attributes.fields if field.name != PARTS]

    def own(constituent: Column) -> Column:
        carried = constituent.getField("attributes")
        plain = F.when(carried.isNotNull(), F.struct(*(carried.getField(name).alias(name) for name in kept)))
        return constituent.withField("attributes", plain)

    def parts(constituent: Column) -> Column:
        inside = constituent.getField("attributes").getField(PARTS)
        path = constituent.getField("path")
        return F.transform(inside, lambda part: part.withField("path", F.concat(path, part.getField("path"))))

    listed = F.transform(
        "constituents",
        lambda c: F.coalesce(parts(c), F.array(own(c))),
    )
    return matches.withColumn("constituents", F.flatten(listed))


def carrying(matches: DataFrame, attributes: Sequence[str]) -> DataFrame:
    """Return matches whose constituents carry only these attributes."""
    fields = _constituent(matches).fieldNames()
    if "attributes" not in fields:
        return matches

    def chosen(constituent: Column) -> Column:
        if not attributes:
            return constituent.dropFields("attributes")
        carried = constituent.getField("attributes")
        some = F.struct(*(carried.getField(name).alias(name) for name in attributes))
        return constituent.withField("attributes", F.when(carried.isNotNull(), some))

    return matches.withColumn("constituents", F.transform("constituents", chosen))


def _constituent(matches: DataFrame) -> T.StructType:
    array = matches.schema["constituents"].dataType
    assert isinstance(array, T.ArrayType)
    assert isinstance(array.elementType, T.StructType)
    return array.elementType
