"""From the texts of rules to what a shard is told. Workers load this, and the compiler with it, when rules change."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import add
from pathlib import Path

import pyarrow as pa
from pyspark.sql import types as T

from tocsin.algebra.correlation.types import Types
from tocsin.algebra.subscription import Detection, Reading
from tocsin.automata.compile import Compiled, compile
from tocsin.automata.transduce import Drafts, transducers
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.events.pace import PaceSettings
from tocsin.languages import ksu
from tocsin.languages.registry import SENDING, parse_subscription, selection_of
from tocsin.runtime.asking import Asking, to_bytes
from tocsin.runtime.rules import Rule
from tocsin.runtime.shard import Line
from tocsin.spark.columns import EventColumns, struct_kinds
from tocsin.spark.completion import (
    Ports,
    draft_library,
    draft_programs,
    ports_of,
    read_library,
    read_program,
    record_types,
    text_of,
)
from tocsin.spark.job import taken_fields
from tocsin.spark.lines import StreamOptions, line_of, paces_of
from tocsin.spark.questions import NoArrowForm, arrow_questions, type_at
from tocsin.spark.rule_folder import check_language
from tocsin.spark.ruled import Ruled
from tocsin.spark.sent import common_type, output_types


@dataclass(frozen=True)
class RuleSettings:
    """What rules are compiled for: the events, the options of the query, and the columns that its matches have."""

    schema: T.StructType  # of the events
    columns: EventColumns
    rule_columns: tuple[str, ...]  # the attributes that rules may name
    time_zone: str
    stream: StreamOptions
    language: str
    options: Mapping[str, object] = field(default_factory=dict)
    matches: str | None = None
    take: str | None = None
    catalog: Catalog | None = None
    types: str | Path | Types | None = None
    assembly: str | Path | None = None
    ports: Ports | None = None
    carried: pa.StructType | None = None  # the attributes of constituents
    outputs: pa.StructType | None = None  # of the events that are sent; None before that is known

    @property
    def sends(self) -> bool:
        """Whether the rules are of a language that sends events."""
        return self.language in SENDING

    @property
    def kinds(self) -> dict[str, str]:
        """The attributes that rules may name, with their kinds."""
        kinds = struct_kinds(self.schema)
        return {name: kinds[name] for name in self.rule_columns}


def compile_rules(settings: RuleSettings, rules: Sequence[Rule]) -> Ruled:
    """What a shard is told of some rules; raises an error of ours if one of them cannot be used."""
    compiled, catalog, detections, owners = _compiled(settings, rules)
    _check_columns(settings, compiled)
    if settings.outputs is not None:
        _check_outputs(settings, compiled, settings.outputs)
    asked = arrow_questions(compiled, catalog, settings.schema, settings.columns, settings.time_zone)
    if isinstance(asked, NoArrowForm):
        raise InputError(
            "no-arrow-form",
            f"a rule that comes while a stream runs cannot ask this: {asked.reason}",
            hint="compare a column with a constant of its own kind, or make a column for it before tocsin.detect",
        )
    asking = to_bytes(
        Asking(
            asked.index,
            tuple(asked.columns.items()),
            tuple(sorted(taken_fields(compiled))),
            frozenset({*settings.rule_columns, *settings.columns.own}),
            settings.columns.type,
            settings.columns.source,
        )
    )
    # The line of the query's own options is always there: events wait in it for rules that may come.
    paces: dict[PaceSettings, list[int]] = {settings.stream.pace(None): []}
    paces |= paces_of(compiled, settings.stream, detections)
    lines: list[Line] = []
    placed: dict[str, int] = {}
    for number, (pace, own) in enumerate(paces.items()):
        line = line_of(compiled, own, at_once=pace.mode == "best-effort")
        since = tuple(owners[output].since for output in own)
        # What it asks is in `asking`; nothing is asked before.
        lines.append(line._replace(questions=(), columns=(), asks=asking, since=since))
        placed |= {owners[output].name: number for output in own}
    return Ruled(tuple(lines), tuple(paces), placed)


def sent_types(settings: RuleSettings, rules: Sequence[Rule]) -> pa.StructType | None:
    """The types of the events that rules send; None if their language sends none."""
    if not settings.sends:
        return None
    compiled, *_ = _compiled(settings, rules)
    return output_types(compiled, _field_types(settings, compiled), settings.carried)


def _compiled(
    settings: RuleSettings, rules: Sequence[Rule]
) -> tuple[Compiled, Catalog, dict[str, Detection | None], list[Rule]]:
    """One plan for all rules, the types it is about, what subscriptions say of time, and the rule of each output."""
    for rule in rules:
        check_language(settings.language, rule)
    if settings.sends:
        return _transducers(settings, rules)
    catalog = settings.catalog or Catalog(common=settings.kinds)
    subscriptions = [
        parse_subscription(
            rule.text,
            rule.language or settings.language,
            catalog=catalog,
            reading=Reading.of({**settings.options, **dict(rule.options)}),
            selection=selection_of(
                settings.language, rule.matches or settings.matches, rule.take or settings.take
            ),
            name=rule.name,
        )
        for rule in rules
    ]
    points = settings.columns.time[0] == settings.columns.time[1]
    compiled = compile(subscriptions, points=points, groups=[rule.since for rule in rules])
    return compiled, catalog, {one.name: one.detection for one in subscriptions}, list(rules)


def _transducers(
    settings: RuleSettings, rules: Sequence[Rule]
) -> tuple[Compiled, Catalog, dict[str, Detection | None], list[Rule]]:
    kinds = settings.kinds
    each: list[Drafts] = []
    if settings.language == "ecl":
        catalog = settings.catalog or Catalog(common=kinds)
        for rule in rules:
            program = read_program(rule.text, {**settings.options, **dict(rule.options)})
            each.append(draft_programs({rule.name: program}, kinds, catalog))
    else:
        types = settings.types
        declared = types if isinstance(types, Types) or types is None else ksu.parse_idl(text_of(types))
        catalog = settings.catalog or Catalog(record_types(declared), common=kinds)
        libraries = [read_library(rule.text, declared) for rule in rules]
        ports = settings.ports
        if settings.assembly is not None:
            ports = ports_of(text_of(settings.assembly), libraries, declared)
        for rule, library in zip(rules, libraries, strict=True):
            options = {**settings.options, **dict(rule.options)}
            names = {correlation.name for correlation in library.correlations}
            own = None if ports is None else {name: ports[name] for name in ports if name in names}
            each.append(draft_library(rule.name, library, options, kinds, declared, own))
    owners = [rule for rule, drafts in zip(rules, each, strict=True) for _ in drafts.meanings]
    _check_names(each)
    compiled = transducers(reduce(add, each, Drafts((), {})))
    return compiled, catalog, {}, owners


def _check_names(each: Sequence[Drafts]) -> None:
    seen: set[str] = set()
    for name in (name for drafts in each for name in drafts.meanings):
        if name in seen:
            hint = "give one of the rules another name"
            raise InputError("rule-there", f"two rules report as {name!r}", hint=hint)
        seen.add(name)


def _check_columns(settings: RuleSettings, compiled: Compiled) -> None:
    """Refuse what takes a column that does not travel to the shards."""
    kinds = struct_kinds(settings.schema)
    for name in (*compiled.plan.columns, *sorted(compiled.attributes)):
        if name in kinds and name not in settings.rule_columns:
            hint = did_you_mean(name, settings.rule_columns)
            raise InputError("unknown-column", f"rules of this query have no column {name!r}", hint=hint)


def _field_types(settings: RuleSettings, compiled: Compiled) -> dict[str, T.DataType]:
    """The types that `spark.fields.field_column` gives."""
    fixed: dict[str, T.DataType] = {
        "timestamp": T.LongType(),
        "source": T.StringType(),
        "type": T.StringType(),
    }
    return {
        name: fixed.get(name) or type_at(settings.schema, name) or T.StringType()
        for name in taken_fields(compiled)
    }


def _check_outputs(settings: RuleSettings, compiled: Compiled, there: pa.StructType) -> None:
    """Refuse what sends events that the matches of the query have no columns for."""
    wanted = output_types(compiled, _field_types(settings, compiled), settings.carried)
    known = {table.name: {one.name: one.type for one in table.type} for table in there}
    for table in wanted:
        own = known.get(table.name, {})
        for one in table.type:
            fits = (
                one.name in own
                and common_type(table.name, one.name, own[one.name], one.type) == own[one.name]
            )
            if not fits:
                raise InputError(
                    "new-output",
                    f"the matches of this query have no column for {one.name!r} of the events {table.name!r}",
                    hint="start a query of its own for it, or this one afresh with the rule in its text",
                )


@lru_cache(maxsize=8)
def compiled_from(settings: bytes, rules: tuple[Rule, ...]) -> Ruled:
    """The same, from settings as bytes; a worker is asked for the same rules again and again."""
    return compile_rules(pickle.loads(settings), rules)
