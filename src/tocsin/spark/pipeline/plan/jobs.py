"""Group the subscriptions of a pipeline into Spark jobs: those with the same key are detected together.

A subscription may use the composites of another as events. If both have the same key, the other's pattern
becomes a named composite of the one plan. If not, the other is detected first, and its matches become rows
among the events: its name as the type, start, end, its variables and its key as attributes. The second way
also serves where the first would not say the same: when the other has a `where`, or wants only some of its
matches, or is read with other options, or is asked for its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tocsin.algebra.predicate import RoleAttribute, attributes, operands
from tocsin.algebra.tokens.pattern import specs
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Definition, Detection, Subscription
from tocsin.automata.detection_plan import Compiled
from tocsin.compile.plan_texts import plan_meanings
from tocsin.errors import PipelineError, PipelineErrors, TocsinError
from tocsin.events import Catalog, EventType
from tocsin.spark.pipeline.added_columns import ORIGIN
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.file.read_patterns import Parsed, located, parse_entries
from tocsin.spark.pipeline.file.read_senders import Sender
from tocsin.spark.pipeline.file.rename_types import renamed

# Attributes that events may have to say how they are delivered, but need not.
OPTIONAL = ("overwrite",)


@dataclass(frozen=True, slots=True)
class Job:
    """Subscriptions that are detected in one pass over the events of each key."""

    number: int
    key: tuple[str, ...]
    patterns: Mapping[
        str, Mapping[str, str]
    ]  # for each subscription the names of its rows, and their sources
    compiled: Compiled
    catalog: Catalog
    reads: tuple[str, ...]  # subscriptions whose matches are events of this job
    asked: Mapping[str, frozenset[str]]  # for each subscription the attributes of primitive events it names
    sends: bool = False
    detections: Mapping[str, Detection | None] = field(default_factory=dict)  # what subscriptions say of it

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.patterns)


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a pipeline, each after those whose matches it reads."""

    jobs: tuple[Job, ...]
    composites: Mapping[
        str, tuple[EventType, ...]
    ]  # what the matches of subscriptions that others read become
    kinds: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # what the matches of each have as events
    relevant_types: Mapping[str, frozenset[str] | None] = field(
        default_factory=dict
    )  # types of events; None for all


def plan_jobs(
    pipeline: Pipeline, errors: list[PipelineError] | None = None, common: Mapping[str, str] | None = None
) -> Plan:
    """The jobs of a pipeline. Mistakes in patterns are added to `errors`, or raised if there is no list.

    Args:
        common: the columns of the sources as attributes, once they are known; patterns may name no others.
            Where the types are declared strictly, that is known without looking.
    """
    if pipeline.declarations.strict:
        common = {ORIGIN: "string"}
    found: list[PipelineError] = [] if errors is None else errors
    parsed = parse_entries(pipeline, found, common)
    jobs: tuple[Job, ...] = ()
    if not found:
        jobs = _jobs(pipeline, parsed, found, common)
    if found and errors is None:
        raise PipelineErrors(found)
    return Plan(
        jobs,
        {name: parsed[name].composites for job in jobs for name in job.reads},
        {name: {} if isinstance(one, Sender) else one.composite.attributes for name, one in parsed.items()},
        {name: _looks_at(one, pipeline.declarations.catalog(common)) for name, one in parsed.items()},
    )


def _looks_at(one: Parsed | Sender, catalog: Catalog) -> frozenset[str] | None:
    """The types of events that a subscription looks at; None if it may be any, as where events must be adjacent."""
    if isinstance(one, Sender) or _adjacent(one):
        return None
    own = one.subscription
    patterns = (*(definition.pattern for definition in own.definitions), own.pattern)
    return frozenset(
        type for pattern in patterns for spec in specs(pattern) for type in catalog.members(spec.name)
    )


def _jobs(
    pipeline: Pipeline,
    parsed: Mapping[str, Parsed | Sender],
    errors: list[PipelineError],
    common: Mapping[str, str] | None,
) -> tuple[Job, ...]:
    whole: dict[str, Subscription] = {}
    level: dict[str, int] = {}
    read: dict[str, set[str]] = {}  # for each subscription, those whose matches it needs as rows
    for name, one in parsed.items():
        if isinstance(one, Sender):
            read[name] = set(one.uses)
            level[name] = max([level[other] + 1 for other in one.uses], default=0)
            continue
        inlined = {other for other in one.uses if _can_inline(one, parsed[other])}
        whole[name] = _with_definitions(
            one.subscription, [whole[other] for other in one.uses if other in inlined]
        )
        read[name] = {other for other in one.uses if other not in inlined}
        read[name] |= {row for other in inlined for row in read[other]}
        level[name] = max([level[other] + 1 for other in read[name]], default=0)
    _move_together(parsed, level, needed=set().union(*read.values()))
    groups: dict[tuple[int, bool, tuple[str, ...]], list[str]] = {}
    for name, one in parsed.items():
        groups.setdefault((level[name], one.entry.sends, one.entry.key), []).append(name)
    jobs: list[Job] = []
    for (_, sends, key), names in sorted(groups.items(), key=lambda group: group[0][0]):
        reads = tuple(other for other in parsed if any(other in read[name] for name in names))
        composites = [composite for other in reads for composite in parsed[other].composites]
        senders = [one for one in (parsed[name] for name in names) if isinstance(one, Sender)]
        try:
            compiled = plan_meanings(
                [*(one.sending for one in senders), *(whole[n] for n in names if n in whole)]
            )
        except TocsinError as problem:
            entry = parsed[names[0]].entry
            errors.append(located(pipeline, entry, problem))
            continue
        patterns = {one.entry.name: one.patterns for one in senders} or {name: {name: name} for name in names}
        declared = [event_type for one in senders for event_type in one.sending.declares]
        catalog = pipeline.declarations.catalog(common, [*declared, *composites])
        of_composites = {composite.name for composite in composites}
        asked = {
            name: primitive_attributes(whole[name], of_composites)
            if name in whole
            else _asked(senders, name, composites)
            for name in names
        }
        detections = {name: whole[name].detection for name in names if name in whole}
        jobs.append(Job(len(jobs), key, patterns, compiled, catalog, reads, asked, sends, detections))
    return tuple(jobs)


def _asked(senders: Iterable[Sender], name: str, composites: Iterable[EventType]) -> frozenset[str]:
    """The attributes that a sender names, but those that only events sent by others have."""
    own = next(one for one in senders if one.entry.name == name)
    elsewhere = {attribute for composite in composites for attribute in composite.attributes}
    return own.sending.drafts.attributes - elsewhere - {"type", "timestamp", "source", *OPTIONAL}


def primitive_attributes(subscription: Subscription, composites: set[str]) -> frozenset[str]:
    """The attributes of primitive events that a subscription names."""
    own = composites | {definition.name for definition in subscription.definitions}
    patterns = (*(definition.pattern for definition in subscription.definitions), subscription.pattern)
    named = {
        name
        for p in patterns
        for spec in specs(p)
        if spec.name not in own
        for name in attributes(spec.filter)
    }
    sides = operands(subscription.where)
    return frozenset(named | {s.name for s in sides if isinstance(s, RoleAttribute) and s.role not in own})


def _can_inline(one: Parsed, other: Parsed | Sender) -> bool:
    """Whether a named composite says the same as the rows of the other subscription's matches would."""
    if isinstance(other, Sender):
        return False
    roles = {side.role for side in operands(one.subscription.where) if isinstance(side, RoleAttribute)}
    asked = {
        name
        for pattern in (*(d.pattern for d in one.subscription.definitions), one.subscription.pattern)
        for spec in specs(pattern)
        if spec.name == other.entry.name
        for name in attributes(spec.filter)
    }
    return (
        one.entry.key == other.entry.key
        and one.subscription.interpretation == other.subscription.interpretation
        and other.subscription.where is None
        and other.subscription.selection == Selection()
        and other.entry.name not in roles
        and asked <= other.variables.keys()
    )


def _with_definitions(subscription: Subscription, others: list[Subscription]) -> Subscription:
    """The subscription with the patterns of others as named composites in front of its own."""
    inherited: list[Definition] = []
    for other in others:
        # The other's own names must not meet those of this text; a dot cannot stand in a name.
        names = {d.name: f"{other.name}.{d.name}" for d in other.definitions}
        inherited += [Definition(names[d.name], renamed(d.pattern, names), d.span) for d in other.definitions]
        inherited.append(Definition(other.name, renamed(other.pattern, names)))
    return replace(subscription, definitions=(*inherited, *subscription.definitions))


def _adjacent(one: Parsed | Sender) -> bool:
    return isinstance(one, Parsed) and one.subscription.selection.matches == "adjacent"


def _move_together(parsed: Mapping[str, Parsed | Sender], level: dict[str, int], needed: set[str]) -> None:
    """Move subscriptions that no other reads to a later job of the same key, which saves a job.

    Not so where events must be adjacent: later, rows of composites could lie between them.
    """
    for name, one in parsed.items():
        if name not in needed and not _adjacent(one):
            level[name] = max(level[other] for other in parsed if parsed[other].entry.key == one.entry.key)
