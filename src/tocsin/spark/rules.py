"""Streams with rules that change while they run: how the changes come in, and what the shards are told (decision 11)."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.subscription import Subscription
from tocsin.automata.compile import compile
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.registry import show
from tocsin.runtime.arrivals import ArrivalJob
from tocsin.runtime.matches import match_schema
from tocsin.runtime.program import travelling
from tocsin.runtime.rules import Rule
from tocsin.runtime.shard import ShardJob
from tocsin.spark.columns import attribute_kinds
from tocsin.spark.compile_rules import RuleSettings, compile_rules, sent_types
from tocsin.spark.files import whole_path
from tocsin.spark.job import attributes_type, key_type, prepared_columns, readable
from tocsin.spark.lines import source_column, too_far_ahead
from tocsin.spark.predicates import attribute_column
from tocsin.spark.questions import type_at
from tocsin.spark.rule_folder import Query, write_query
from tocsin.spark.ruled import RuledProcessor
from tocsin.spark.stream import RULE_CHANGE, in_shards, opened, use_rocksdb, with_heartbeats

_NEEDED = {"number": T.IntegralType, "action": T.StringType, "name": T.StringType, "text": T.StringType}


def rules_of(pattern: object) -> tuple[Rule, ...]:
    """The rules that the program itself names."""
    named = pattern if isinstance(pattern, Mapping) else {None: pattern}
    found = []
    for name, one in named.items():
        if isinstance(one, Subscription):
            options = (("restart", one.reading.restart), ("strong_scope", one.reading.strong_scope))
            found.append(Rule(name or one.name, show(one, "core"), "core", options))
        elif isinstance(one, str):
            found.append(Rule("" if name is None else name, one))
        else:
            message = "rules that change are texts"
            raise InputError("bad-pattern", message, hint="give the text of a pattern, or texts by name")
    return tuple(found)


def rule_columns_of(events: DataFrame, named: Sequence[str] | None) -> tuple[str, ...]:
    """The attributes that rules may name, which all travel to the shards."""
    kinds = attribute_kinds(events)
    for name in named or ():
        if name not in kinds:
            hint = did_you_mean(name, kinds)
            raise InputError("unknown-column", f"the table has no column {name!r}", hint=hint)
    found = kinds if named is None else named
    return tuple(n for n in found if not isinstance(type_at(events.schema, n), T.MapType | T.VariantType))


def detect_with_rules(
    events: DataFrame,
    rules: DataFrame | str | Path,
    program: tuple[Rule, ...],
    settings: RuleSettings,
    carried: Sequence[str],
    unreadable: str,
    limit: int,
    told: bool,
) -> DataFrame:
    """The matches of a stream, of the rules in force when its events are decided; see `tocsin.detect`."""
    used = readable(prepare_for_rules(events, settings, carried), unreadable)
    if settings.stream.ahead is not None:
        used = used.withColumn("ahead", too_far_ahead(F.col("end"), settings.stream.ahead))
    rows, schema = run_with_rules(used, events, rules, program, settings, carried, limit)
    for name in (["late"] if settings.stream.late == "keep" else []) + ([RULE_CHANGE] if told else []):
        schema = schema.append(pa.field(name, pa.string()))
    return opened(rows, schema)


def prepare_for_rules(
    events: DataFrame, settings: RuleSettings, carried: Sequence[str], others: Sequence[Column] = ()
) -> DataFrame:
    """The events with `columns_for_rules` only."""
    return events.select(*columns_for_rules(events, settings, carried, others))


def columns_for_rules(
    events: DataFrame, settings: RuleSettings, carried: Sequence[str], others: Sequence[Column] = ()
) -> list[Column]:
    """The columns that travel where rules change: all that rules may name, and no answers; see `job.prepared_columns`."""
    columns = settings.columns
    wanted = dict.fromkeys([*settings.rule_columns, *columns.own])
    # What constituents carry travels anyway.
    raw = [name for name in wanted if name.split(".")[0] not in carried]
    asked = [attribute_column(name).alias(travelling("value", name)) for name in raw]
    asked += [source_column(columns)] if settings.stream.sources else []
    catalog = settings.catalog or Catalog(common=settings.kinds)
    return prepared_columns(
        events, columns, compile(()), catalog, carried, asked=(), others=[*asked, *others]
    )


def run_with_rules(
    used: DataFrame,
    events: DataFrame,
    rules: DataFrame | str | Path,
    program: tuple[Rule, ...],
    settings: RuleSettings,
    carried: Sequence[str],
    limit: int,
) -> tuple[DataFrame, pa.Schema]:
    """Prepared rows become rows `kind, packed`, as `stream.run_stream` gives them; and the schema of the matches."""
    plan = plan_rules(used, events, rules, program, settings, carried, limit)
    use_rocksdb(events.sparkSession)
    rows = with_changes(used, plan.changes)
    rows = with_heartbeats(rows) if settings.stream.idle is not None else rows
    return in_shards(rows, plan.arriving, plan.processor), plan.matches


class RulesPlan(NamedTuple):
    """What the workers are told of rules that change, the changes as they come, and the schema of the matches."""

    arriving: ArrivalJob
    processor: RuledProcessor
    changes: DataFrame
    matches: pa.Schema


def plan_rules(
    used: DataFrame,
    events: DataFrame,
    rules: DataFrame | str | Path,
    program: tuple[Rule, ...],
    settings: RuleSettings,
    carried: Sequence[str],
    limit: int,
) -> RulesPlan:
    """What is to be done with prepared rows of a stream."""
    spark, columns, stream = events.sparkSession, settings.columns, settings.stream
    attributes = attributes_type(used, carried)
    settings = replace(settings, carried=attributes)
    settings = replace(settings, outputs=sent_types(settings, program))
    schema = match_schema(key_type(events, columns), attributes, settings.outputs)
    ruled = compile_rules(settings, program)
    changes = _changes(spark, rules)
    if not isinstance(rules, DataFrame) and "://" not in str(rules):
        write_query(Path(rules).expanduser(), Query(settings.language, settings.kinds, program))
    shards = stream.shards or int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    keys = len(columns.key)
    job = ShardJob(
        (),
        schema.serialize().to_pybytes(),
        keys,
        shards if keys else 1,
        limit,
        stream.late,
        stream.repeated,
        stream.allowed_ahead,
    )
    arriving = ArrivalJob(job.shards, keys, None, bool(stream.sources))
    travel = used.schema.simpleString()
    processor = RuledProcessor(job, travel, program, ruled, pickle.dumps(settings, protocol=5))
    return RulesPlan(arriving, processor, changes, schema)


def _changes(spark: SparkSession, rules: DataFrame | str | Path) -> DataFrame:
    """Changes as rows `change string`, from a folder of files or from a stream of rows."""
    if isinstance(rules, DataFrame):
        _check_changes(rules)
        return rules.select(F.to_json(F.struct("*")).alias("change"))
    if "://" not in str(rules):
        Path(rules).expanduser().mkdir(parents=True, exist_ok=True)
    files = (
        spark.readStream.format("text")
        .option("wholetext", True)
        .option("pathGlobFilter", "*.json")
        .load(whole_path(str(rules)))
    )
    told = F.struct(F.col("_metadata.file_name").alias("file"), F.col("value").alias("content"))
    return files.select(F.to_json(told).alias("change"))


def _check_changes(rules: DataFrame) -> None:
    if not rules.isStreaming:
        hint = "give the path of a folder, or a streaming DataFrame"
        raise InputError("bad-option", "changes of rules come as a stream, and this is a table", hint=hint)
    types = {field.name: field.dataType for field in rules.schema.fields}
    for name, kind in _NEEDED.items():
        if not isinstance(types.get(name), kind):
            hint = "number long, action string, name string, text string; language, matches, take, options if need be"
            raise InputError(
                "unknown-column", f"changes of rules have no column {name!r}, or of another type", hint=hint
            )


def with_changes(used: DataFrame, changes: DataFrame) -> DataFrame:
    """The rows, and for each change of rules one that has nothing but the change."""
    empty = [F.lit(None).cast(field.dataType).alias(field.name) for field in used.schema.fields]
    whole = used.withColumn("change", F.lit(None).cast("string"))
    return whole.unionAll(changes.select(*empty, "change"))
