"""Matches with what is known of their rules, and the matches of many rules as one table.

| column | type | meaning |
|---|---|---|
| `rule` | string | name of the subscription |
| `severity` | string | as the rule says, or null |
| `tags` | array of strings | as the rule says; empty if it says none |
| `description` | string | as the rule says, or null |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.languages.rule_file import Metadata
from tocsin.runtime.results.match_rows import keys_among
from tocsin.spark.pipeline.file.model import Entry, Pipeline, Sink
from tocsin.spark.quoting import quoted

_OF_RULE = "tocsin_rule"
RULE_COLUMNS = ("rule", "severity", "tags", "description")
_SCHEMA = pa.schema(
    [
        ("pattern", pa.string()),
        ("rule", pa.string()),
        ("severity", pa.string()),
        ("tags", pa.list_(pa.string())),
        ("description", pa.string()),
    ]
)

Rules = Mapping[str, tuple[str, Metadata]]
"""For each pattern the rule it belongs to, and what is known of that."""


def tells_of_rules(pipeline: Pipeline, sink: Sink) -> bool:
    """Whether the rows of a sink have the columns of rules: if it holds many rules, or if one has metadata."""
    return sink.together or any(
        entry.metadata for entry in pipeline.subscriptions if entry.name in sink.subscriptions
    )


def rules_of(entries: Iterable[Entry], patterns: Mapping[str, Iterable[str]]) -> Rules:
    """The rule of each pattern; `patterns` are those of each subscription."""
    known = {entry.name: entry.metadata for entry in entries}
    return {pattern: (name, known.get(name, Metadata())) for name, own in patterns.items() for pattern in own}


def with_rules(matches: DataFrame, rules: Rules) -> DataFrame:
    """Add the columns of rules before `pattern`."""
    # A key column that is called like one of ours gets a `_`, as those of all matches do.
    others = [
        F.col(quoted(name)).alias(f"{name}_" if name in RULE_COLUMNS else name)
        for name in matches.columns
        if name != "match_id"
    ]
    distinct = dict(rules.values())
    if len(distinct) == 1:
        ((rule, one),) = distinct.items()
        added = _literals(rule, one)
        return matches.select("match_id", *added, *others)
    rows = [
        {"pattern": pattern, "rule": rule, "severity": one.severity, "tags": list(one.tags)}
        | {"description": one.description}
        for pattern, (rule, one) in rules.items()
    ]
    known = matches.sparkSession.createDataFrame(pa.Table.from_pylist(rows, _SCHEMA))
    of_rule = F.struct(*RULE_COLUMNS).alias(_OF_RULE)
    joined = matches.join(F.broadcast(known.select("pattern", of_rule)), "pattern", "left")
    added = [F.col(_OF_RULE).getField(name).alias(name) for name in RULE_COLUMNS]
    return joined.select("match_id", *added, *others)


def _literals(rule: str, one: Metadata) -> list[Column]:
    tags = F.array(*map(F.lit, one.tags)).cast(T.ArrayType(T.StringType()))
    return [
        F.lit(rule).alias("rule"),
        F.lit(one.severity).cast("string").alias("severity"),
        tags.alias("tags"),
        F.lit(one.description).cast("string").alias("description"),
    ]


def in_one_table(parts: Sequence[DataFrame]) -> DataFrame:
    """The matches of subscriptions that may have different keys and columns as one table; what a row lacks is null."""
    # Subscriptions read one table of events, so a key column has one type.
    keys = {name: part.schema[name].dataType for part in parts for name in keys_among(part.columns)}
    aligned = [_with_keys(part, keys) for part in parts]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), aligned)


def _with_keys(matches: DataFrame, keys: Mapping[str, T.DataType]) -> DataFrame:
    own = keys_among(matches.columns)
    if own == list(keys):
        return matches
    columns = [
        F.col(quoted(name)) if name in own else F.lit(None).cast(type).alias(name)
        for name, type in keys.items()
    ]
    others = [quoted(name) for name in matches.columns if name not in ("match_id", "pattern", *own)]
    return matches.select("match_id", "pattern", *columns, *others)
