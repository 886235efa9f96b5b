"""Plan a stream whose rules change while it runs: how changes are read, and what the shards receive (decision 11)."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.compile import compile
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.registry import DEFAULT, show
from tocsin.runtime.program import travelling
from tocsin.runtime.results.match_rows import match_schema
from tocsin.runtime.stream.arrivals import ArrivalJob
from tocsin.runtime.stream.rule_book import MAX_BYTES, Rule
from tocsin.runtime.stream.shard import ShardJob
from tocsin.spark.events.columns import attribute_kinds
from tocsin.spark.events.event_files import whole_path
from tocsin.spark.events.naming import column_at, names_at, spelled, type_at
from tocsin.spark.events.prepare import prepared_columns, readable
from tocsin.spark.events.worker_job import attributes_type, key_fields
from tocsin.spark.query import Query
from tocsin.spark.rules.changing_rules import RulesInForce
from tocsin.spark.rules.compile_rules import RuleSettings, compile_rules, sent_types
from tocsin.spark.rules.folder import Query as StoredQuery
from tocsin.spark.rules.folder import write_query
from tocsin.spark.stream.shard_processor import RULE_CHANGE, ShardProcessor
from tocsin.spark.stream.stream_plan import source_column, too_far_ahead
from tocsin.spark.stream.stream_query import in_shards, opened, use_rocksdb, with_heartbeats

# Changes of a folder that a micro-batch makes at most, so that many of them do not hold up the matches.
MAX_FILES = 2_500
_NEEDED = {"number": T.IntegralType, "action": T.StringType, "name": T.StringType, "text": T.StringType}


def rules_of(pattern: object) -> tuple[Rule, ...]:
    """Return the rules that the program itself names."""
    named = pattern if isinstance(pattern, Mapping) else {None: pattern}
    found = []
    for name, one in named.items():
        if isinstance(one, Subscription):
            options = tuple(asdict(one.interpretation).items())
            found.append(Rule(name or one.name, show(one, DEFAULT), DEFAULT, options))
        elif isinstance(one, str):
            found.append(Rule("" if name is None else name, one))
        else:
            message = "rules that may change must be given as text"
            raise InputError("bad-pattern", message, hint="give the text of a pattern, or texts by name")
    return tuple(found)


def rule_columns_of(events: DataFrame, named: Sequence[str] | None) -> tuple[str, ...]:
    """Return the attributes that rules may name, all of which are sent to the shards."""
    kinds = attribute_kinds(events)
    for name in named or ():
        if name not in kinds:
            hint = did_you_mean(name, kinds)
            raise InputError("unknown-column", f"the table has no column {name!r}", hint=hint)
    found = kinds if named is None else [spelled(events.schema, name) for name in named]
    return tuple(n for n in found if not isinstance(type_at(events.schema, n), T.MapType | T.VariantType))


def detect_with_rules(events: DataFrame, asked: RuledQuery, unreadable: str, report: bool) -> DataFrame:
    """Return the matches of a stream by the rules in force when its events are decided; see `tocsin.detect`.

    Args:
        report: whether to add rows whose column `rule_change` holds the decision on each change.
    """
    options = asked.settings.stream
    used = readable(prepare_for_rules(events, asked.settings, asked.carried), unreadable)
    if options.ahead is not None:
        used = used.withColumn("ahead", too_far_ahead(F.col("end"), options.ahead))
    plan = plan_rules(used, events, asked)
    use_rocksdb(events.sparkSession)
    rows = with_changes(used, plan.changes)
    rows = with_heartbeats(rows) if options.idle is not None else rows
    schema = plan.matches
    for name in (["late"] if options.late == "keep" else []) + ([RULE_CHANGE] if report else []):
        schema = schema.append(pa.field(name, pa.string()))
    return opened(in_shards(rows, plan.arriving, plan.processor), schema)


def prepare_for_rules(
    events: DataFrame, settings: RuleSettings, carried: Sequence[str], others: Sequence[Column] = ()
) -> DataFrame:
    """Select the `columns_for_rules` of the events."""
    return events.select(*columns_for_rules(events, settings, carried, others))


def columns_for_rules(
    events: DataFrame, settings: RuleSettings, carried: Sequence[str], others: Sequence[Column] = ()
) -> list[Column]:
    """Return the columns to send to shards where rules change: all that rules may name, but no bits."""
    columns = settings.columns
    wanted = dict.fromkeys([*settings.rule_columns, *columns.own])
    # The attributes of constituents are sent anyway.
    raw = [name for name in wanted if (names_at(events.schema, name) or (name,))[0] not in carried]
    asked = [column_at(events.schema, name).alias(travelling("value", name)) for name in raw]
    asked += [source_column(columns, events.schema)] if settings.stream.sources else []
    catalog = settings.catalog or Catalog(common=settings.kinds)
    query = Query(events, columns, compile(()), catalog, carried)
    return prepared_columns(query, asked=(), others=[*asked, *others])


class RuledQuery(NamedTuple):
    """A query whose rules change."""

    changes: DataFrame | str | Path  # a stream of changes, or the folder to watch for them
    program: tuple[Rule, ...]  # the rules that the program itself names
    settings: RuleSettings
    carried: Sequence[str]  # the attributes that constituents carry
    limit: int  # of partial matches of a key


class RulesPlan(NamedTuple):
    """The worker job for rules that change, the stream of changes, and the schema of the matches."""

    arriving: ArrivalJob
    processor: ShardProcessor
    changes: DataFrame
    matches: pa.Schema


def plan_rules(used: DataFrame, events: DataFrame, asked: RuledQuery) -> RulesPlan:
    """Plan detection in the prepared rows of a stream."""
    spark, columns, stream = events.sparkSession, asked.settings.columns, asked.settings.stream
    attributes = attributes_type(events.schema, asked.carried)
    settings = replace(asked.settings, carried=attributes)
    settings = replace(settings, outputs=sent_types(settings, asked.program))
    schema = match_schema(key_fields(events.schema, columns, settings.sends), attributes, settings.outputs)
    compiled = compile_rules(settings, asked.program)
    changes = _changes(spark, asked.changes)
    if not isinstance(asked.changes, DataFrame) and "://" not in str(asked.changes):
        folder = Path(asked.changes).expanduser()
        write_query(folder, StoredQuery(settings.language, settings.kinds, asked.program))
    shards = stream.shards or int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    keys = len(columns.key)
    job = ShardJob(
        (),  # the pace groups depend on the rules in force
        schema.serialize().to_pybytes(),
        keys,
        shards if keys else 1,
        asked.limit,
        stream.late,
        stream.repeated,
        stream.allowed_ahead,
    )
    arriving = ArrivalJob(job.shards, keys, None, bool(stream.sources))
    in_force = RulesInForce(
        used.schema.simpleString(), asked.program, compiled, pickle.dumps(settings, protocol=5)
    )
    return RulesPlan(arriving, ShardProcessor(job, compiled, in_force), changes, schema)


def _changes(spark: SparkSession, rules: DataFrame | str | Path) -> DataFrame:
    """Return the changes as rows `change string`, from a folder of files or from a stream of rows."""
    if isinstance(rules, DataFrame):
        _check_changes(rules)
        return rules.select(F.to_json(F.struct("*")).alias("change"))
    if "://" not in str(rules):
        Path(rules).expanduser().mkdir(parents=True, exist_ok=True)
    files = (
        spark.readStream.format("binaryFile")
        .schema("path string, modificationTime timestamp, length long, content binary")
        .option("pathGlobFilter", "*.json")
        .option("maxFilesPerTrigger", MAX_FILES)
        .load(whole_path(str(rules)))
    )
    # Spark leaves out what a filter on the length leaves out, so a file that is too long is never read.
    name = F.col("_metadata.file_name").alias("file")
    short = files.where(F.col("length") <= MAX_BYTES).select(
        F.to_json(F.struct(name, F.base64("content").alias("data"))).alias("change")
    )
    long = files.where(F.col("length") > MAX_BYTES).select(
        F.to_json(F.struct(name, F.col("length").alias("size"))).alias("change")
    )
    return short.unionAll(long)


def _check_changes(rules: DataFrame) -> None:
    if not rules.isStreaming:
        hint = "give the path of a folder, or a streaming DataFrame"
        raise InputError("bad-option", "changes of rules come as a stream, and this is a table", hint=hint)
    types = {field.name: field.dataType for field in rules.schema.fields}
    for name, kind in _NEEDED.items():
        if not isinstance(types.get(name), kind):
            hint = "number long, action string, name string, text string; optionally language, matches, take, options"
            raise InputError(
                "unknown-column", f"changes of rules have no column {name!r}, or of another type", hint=hint
            )


def with_changes(used: DataFrame, changes: DataFrame) -> DataFrame:
    """Add a row for each change of rules, with all other columns null."""
    empty = [F.lit(None).cast(field.dataType).alias(field.name) for field in used.schema.fields]
    whole = used.withColumn("change", F.lit(None).cast("string"))
    return whole.unionAll(changes.select(*empty, "change"))
