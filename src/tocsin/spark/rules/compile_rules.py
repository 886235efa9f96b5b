"""Compile the texts of rules for the shards. Workers load this module, and the compiler with it, when rules change."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import types as T

from tocsin.algebra.tokens.subscription import Detection, Subscription
from tocsin.automata.detection_plan import Compiled
from tocsin.compile.family import KnownEvents, Meaning, NamedText, Sending
from tocsin.compile.plan_texts import family_of, linked, plan_meanings
from tocsin.errors import InputError, did_you_mean
from tocsin.events import Catalog
from tocsin.events.pace import PaceSettings
from tocsin.languages.registry import language, selection_of
from tocsin.runtime.predicates.at_decision import Asking, to_bytes
from tocsin.runtime.stream.rule_book import Rule
from tocsin.runtime.stream.shard import PaceGroup
from tocsin.spark.events.arrow_predicates import arrow_predicates
from tocsin.spark.events.columns import struct_kinds
from tocsin.spark.events.naming import type_at
from tocsin.spark.events.prepare import taken_fields
from tocsin.spark.query import EventColumns, Refusal
from tocsin.spark.rules.folder import check_language
from tocsin.spark.sent import common_type, output_types
from tocsin.spark.stream.recall import Watched, watched
from tocsin.spark.stream.stream_options import StreamOptions
from tocsin.spark.stream.stream_plan import pace_group, paces_of


@dataclass(frozen=True)
class RuleSettings:
    """The context rules are compiled in: the events, the options of the query, and the columns of its matches."""

    schema: T.StructType  # of the events
    columns: EventColumns
    rule_columns: tuple[str, ...]  # the attributes that rules may name
    stream: StreamOptions
    language: str
    options: Mapping[str, object] = field(default_factory=dict)  # of the language
    matches: str | None = None
    take: str | None = None
    catalog: Catalog | None = None
    carried: pa.StructType | None = None  # the attributes of constituents
    outputs: pa.StructType | None = None  # of the events that are sent; None until that is known

    @property
    def sends(self) -> bool:
        """Whether the rules are of a language that sends events."""
        return language(self.language).sends

    @property
    def kinds(self) -> dict[str, str]:
        """The attributes that rules may name, with their kinds."""
        kinds = struct_kinds(self.schema)
        return {name: kinds[name] for name in self.rule_columns}


def compile_rules(settings: RuleSettings, rules: Sequence[Rule]) -> Watched:
    """Compile rules to what a shard detects; raise one of our errors if a rule cannot be used."""
    compiled, catalog, detections, owners = _compiled(settings, rules)
    _check_columns(settings, compiled)
    if settings.outputs is not None:
        _check_outputs(settings, compiled, settings.outputs)
    asked = arrow_predicates(compiled, catalog, settings.schema, settings.columns)
    if isinstance(asked, Refusal):
        raise InputError(
            "no-arrow-form",
            f"a rule that is added while a stream runs cannot use this predicate: {asked.reason}",
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
    # The pace group of the query's own options always exists: events wait in it for future rules.
    paces: dict[PaceSettings, list[int]] = {settings.stream.pace(None): []}
    paces |= paces_of(compiled, settings.stream, detections)
    groups: list[PaceGroup] = []
    placed: dict[str, int] = {}
    for number, (pace, own) in enumerate(paces.items()):
        group = pace_group(compiled, own, at_once=pace.mode == "best-effort")
        since = tuple(owners[output].since for output in own)
        # The predicates are in `asking`; none are evaluated before.
        groups.append(group._replace(predicates=(), columns=(), asks=asking, since=since))
        placed |= {owners[output].name: number for output in own}
    return watched(tuple(groups), tuple(paces), placed)


def sent_types(settings: RuleSettings, rules: Sequence[Rule]) -> pa.StructType | None:
    """Return the types of the events that rules send; None if their language sends none."""
    if not settings.sends:
        return None
    compiled, *_ = _compiled(settings, rules)
    return output_types(compiled, _field_types(settings, compiled), settings.carried)


class _Rules(NamedTuple):
    """One plan for all rules, the event types, the detection policies of subscriptions, and the rule of each output."""

    compiled: Compiled
    catalog: Catalog
    detections: dict[str, Detection | None]
    owners: list[Rule]


def _compiled(settings: RuleSettings, rules: Sequence[Rule]) -> _Rules:
    points = settings.columns.time[0] == settings.columns.time[1]
    known = KnownEvents(settings.kinds, settings.catalog, points)
    meanings: list[Meaning] = []
    texts = linked([rule_text(rule, settings) for rule in rules], more_to_come=True)
    for text in texts:
        # Each on its own, because removing a rule must not change the others.
        meanings += family_of(text.language).read([text], known)
    owners = [rule for rule, one in zip(rules, meanings, strict=True) for _ in _reported(one)]
    _check_names(meanings)
    groups = [rule.since for rule in rules]
    declared = {one.name: one for m in meanings if isinstance(m, Sending) for one in m.declares}
    return _Rules(
        plan_meanings(meanings, points=points, groups=groups),
        settings.catalog or Catalog(declared.values(), common=settings.kinds),
        {one.name: one.detection for one in meanings if isinstance(one, Subscription)},
        owners,
    )


def rule_text(rule: Rule, settings: RuleSettings) -> NamedText:
    """Return a rule as a text to be compiled, with the query's options as defaults."""
    check_language(settings.language, rule)
    return NamedText(
        language(rule.language or settings.language),
        rule.name,
        rule.text,
        {**settings.options, **dict(rule.options)},
        selection_of(settings.language, rule.matches or settings.matches, rule.take or settings.take),
    )


def _reported(meaning: Meaning) -> Sequence[str]:
    """Return the names under which rows are reported."""
    return tuple(meaning.drafts.meanings) if isinstance(meaning, Sending) else (meaning.name,)


def _check_names(meanings: Sequence[Meaning]) -> None:
    seen: set[str] = set()
    for name in (name for one in meanings if isinstance(one, Sending) for name in _reported(one)):
        if name in seen:
            hint = "give one of the rules another name"
            raise InputError("duplicate-name", f"two rules report as {name!r}", hint=hint)
        seen.add(name)


def _check_columns(settings: RuleSettings, compiled: Compiled) -> None:
    """Raise an error if a rule uses a column that is not sent to the shards."""
    kinds = struct_kinds(settings.schema)
    for name in (*compiled.plan.columns, *sorted(compiled.attributes)):
        if name in kinds and name not in settings.rule_columns:
            hint = did_you_mean(name, settings.rule_columns)
            raise InputError("unknown-column", f"rules of this query have no column {name!r}", hint=hint)


def _field_types(settings: RuleSettings, compiled: Compiled) -> dict[str, T.DataType]:
    """Return the types of the columns that `spark.events.fields.field_column` returns."""
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
    """Raise an error if a rule sends events for which the query's matches have no columns."""
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
                    hint="start a query of its own for it, or this one again with the rule in its text and a new checkpoint",
                )


@lru_cache(maxsize=8)
def compiled_from(settings: bytes, rules: tuple[Rule, ...]) -> Watched:
    """Call `compile_rules` with pickled settings, cached because a worker needs the same rules again and again."""
    return compile_rules(pickle.loads(settings), rules)
