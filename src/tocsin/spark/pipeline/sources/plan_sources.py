"""Shared by batch and stream: the jobs of a pipeline over the columns of its sources, and the rows for each job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame

from tocsin.spark.pipeline.added_columns import ORIGIN
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.plan.jobs import Plan, plan_jobs
from tocsin.spark.pipeline.plan.schema import Schema, build_schema
from tocsin.spark.pipeline.sources.hold_back import hold_back
from tocsin.spark.pipeline.sources.open import Opened, normalise
from tocsin.spark.pipeline.sources.required_columns import with_needed


def plan_sources(pipeline: Pipeline, sources: Sequence[Opened]) -> tuple[Plan, Schema]:
    """Plan the jobs with the known columns, and find the columns that those jobs need."""
    found = [(one.source, one.roles, one.columns) for one in sources]
    schema = build_schema(pipeline, found, hold_to_types=pipeline.stream is not None)
    # Where a source is empty, an attribute that no other has may well be one of its own.
    certain = all(one.columns is not None for one in sources)
    plan = plan_jobs(pipeline, common=schema.kinds_of_columns() if certain else None)
    complete = with_needed(pipeline, schema, plan, sources)
    composites = [composite for several in plan.composites.values() for composite in several]
    return plan, complete.with_composites(pipeline, composites)


@dataclass(frozen=True, slots=True)
class PipelineEvents:
    """The events of all sources, made alike: as a table, with their attributes, and those that matches carry."""

    united: DataFrame
    schema: Schema
    carried: tuple[str, ...]
    whole_ids: bool  # whether all ids are whole numbers


def unite(pipeline: Pipeline, sources: Sequence[Opened], schema: Schema, whole_ids: bool) -> DataFrame:
    """The events of all sources, made alike."""
    catalog = pipeline.declarations.catalog()
    frames = [hold_back(normalise(one, schema, whole_ids), one.source.limits, catalog) for one in sources]
    return reduce(DataFrame.union, frames)


def chosen(pipeline: Pipeline, name: str, schema: Schema) -> tuple[str, ...]:
    """Return the attributes that the matches of a subscription carry."""
    entry = next(entry for entry in pipeline.subscriptions if entry.name == name)
    return _all_attributes(schema) if entry.attributes is None else entry.attributes


def carried_by_all(pipeline: Pipeline, schema: Schema) -> tuple[str, ...]:
    """Return the attributes that all jobs carry: a composite may be a constituent of any other."""
    wanted = {name for entry in pipeline.subscriptions for name in chosen(pipeline, entry.name, schema)}
    if pipeline.stream is not None and pipeline.stream.rules is not None:
        return _all_attributes(schema) or (ORIGIN,)  # for subscriptions that are still to come
    return tuple(name for name in _all_attributes(schema) if name in wanted) or (ORIGIN,)


def _all_attributes(schema: Schema) -> tuple[str, ...]:
    return tuple(name for name in schema.attributes if name not in schema.of_composites)
