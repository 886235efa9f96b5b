"""Find the columns that patterns, keys and limits of a pipeline need, and check that the sources have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyspark.sql import types as T

from tocsin.errors import PipelineErrors, did_you_mean
from tocsin.spark.pipeline.added_columns import ORIGIN
from tocsin.spark.pipeline.file.document import Place
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.plan.jobs import Plan
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.pipeline.sources.open import Opened


def with_needed(pipeline: Pipeline, schema: Schema, plan: Plan, sources: Sequence[Opened]) -> Schema:
    """Return the schema with every column that is needed.

    One that no source has is a mistake, unless some source is empty: then it may be one of that source.
    """
    certain = all(one.columns is not None for one in sources)
    found = {name for one in sources for name in one.columns or {}} | {ORIGIN}
    added: dict[str, T.DataType] = {}
    errors = []
    for name, place in dict(_asked(pipeline, plan)).items():
        first, *inner = name.split(".")
        if certain and first not in found:
            message = f"no source has a column {first!r}"
            errors.append(pipeline.error("unknown-column", message, place, did_you_mean(first, found)))
        elif first not in schema.attributes:
            added[first] = _nested(inner)
    if errors:
        raise PipelineErrors(errors)
    return replace(schema, attributes={**schema.attributes, **added})


def _asked(pipeline: Pipeline, plan: Plan) -> Iterator[tuple[str, Place]]:
    for source in pipeline.sources:
        for number, limit in enumerate(source.limits):
            yield from ((name, (*source.place, "limit", number, "by")) for name in limit.by)
    places = {entry.name: entry.place for entry in pipeline.subscriptions}
    for entry in pipeline.subscriptions:
        yield from ((name, (*entry.place, "key")) for name in entry.key)
        yield from ((name, (*entry.place, "attributes")) for name in entry.attributes or ())
    for job in plan.jobs:
        for subscription, names in job.asked.items():
            place = (*places[subscription], "pattern")
            yield from ((name, place) for name in sorted(names))


def _nested(path: Sequence[str]) -> T.DataType:
    """Return a type that has a field at this path."""
    type: T.DataType = T.StringType()
    for name in reversed(path):
        type = T.StructType([T.StructField(name, type)])
    return type
