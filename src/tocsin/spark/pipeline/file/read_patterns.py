"""Parse the patterns of a pipeline, each after those whose composites it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tocsin.algebra.predicate import Attribute, Compare, Variable, comparisons, operands
from tocsin.algebra.tokens.pattern import Pattern, pattern_variables, specs
from tocsin.algebra.tokens.selection import COUNT
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.pairs.compile import Wanted
from tocsin.compile.family import KnownEvents, NamedText, Sending
from tocsin.compile.plan_texts import family_of
from tocsin.errors import PatternError, PatternErrors, PipelineError, Span, TocsinError, did_you_mean
from tocsin.events import ATTRIBUTE_TYPES, Catalog, EventType
from tocsin.spark.pipeline.file.model import Entry, Pipeline
from tocsin.spark.pipeline.file.read_senders import Sender, in_file, sender
from tocsin.values import Relation


@dataclass(frozen=True, slots=True)
class Parsed:
    """A subscription with its parsed pattern. `variables` and `keys` are the attributes of its composites."""

    entry: Entry
    subscription: Subscription
    uses: tuple[str, ...]
    variables: Mapping[str, str]
    keys: Mapping[str, str]

    @property
    def composite(self) -> EventType:
        """The event type of its matches, which has its name."""
        return EventType(self.entry.name, {**self.keys, **self.variables})

    @property
    def composites(self) -> tuple[EventType, ...]:
        return (self.composite,)

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes that all its composites have."""
        return frozenset(self.composite.attributes)


def parse_entries(
    pipeline: Pipeline, errors: list[PipelineError], common: Mapping[str, str] | None
) -> dict[str, Parsed | Sender]:
    """Return the subscriptions by name, each after those it uses."""
    parsed: dict[str, Parsed | Sender] = {}
    texts = _linked(pipeline, errors)
    for entry in _ordered(pipeline, errors):
        if entry.name not in texts or any(other not in parsed for other in entry.events):
            continue  # the mistake in it, or in the other one, is noted already
        used = {other: parsed[other] for other in entry.events}
        kinds = {**pipeline.declarations.attributes, **(common or {})}
        keys = {name: kinds.get(name, "string") for name in entry.key}
        errors += _keyless(pipeline, entry, used)
        sent = {a: kind for one in used.values() for c in one.composites for a, kind in c.attributes.items()}
        known = KnownEvents(
            {**kinds, **sent} if common or pipeline.declarations.strict else None,
            _catalog(pipeline, used, common),
        )
        text = texts[entry.name]
        try:
            (meaning,) = family_of(text.language).read([text], known)
        except PatternErrors as problems:
            advised = PatternErrors([_advised(pipeline, problem) for problem in problems.errors])
            errors += in_file(pipeline, entry, advised, entry.file)
            continue
        except TocsinError as problem:
            errors += in_file(pipeline, entry, problem, entry.file)
            continue
        if isinstance(meaning, Sending):
            parsed[entry.name] = sender(entry, meaning, known.kinds, keys)
            continue
        if isinstance(meaning, Wanted):
            errors.append(located(pipeline, entry, _not_in_a_file()))
            continue
        errors += _no_neighbours(pipeline, entry, meaning)
        errors += [located(pipeline, entry, problem) for problem in _misused(pipeline, entry, meaning, used)]
        assert known.catalog is not None
        variables = _variable_kinds(meaning, known.catalog, used)
        parsed[entry.name] = Parsed(entry, meaning, entry.events, variables, keys)
    return parsed


def _not_in_a_file() -> PatternError:
    hint = "detect it in Python or on the command line: tocsin.detect(events, text, language=…)"
    return PatternError(
        "no-pipeline", "profiles of the event algebra cannot stand in pipeline files yet", hint=hint
    )


def _linked(pipeline: Pipeline, errors: list[PipelineError]) -> dict[str, NamedText]:
    """Parse the subscriptions with what they use of each other; note mistakes, and leave those subscriptions out."""
    texts: dict[str, NamedText] = {}
    for entry in pipeline.subscriptions:
        text = entry.named_text
        try:
            if text.language.sends:  # it is read without knowing the events, and so before all others
                options = text.language.options_of(text.options)
                text = replace(text, options=options, given=text.language.read(text.given, options))
        except TocsinError as problem:
            errors += in_file(pipeline, entry, problem, entry.file)
            continue
        texts[entry.name] = text
    if errors:
        return texts
    for own in {text.language.name: text.language for text in texts.values()}.values():
        group = [text for text in texts.values() if text.language == own]
        try:
            texts |= {text.name: text for text in family_of(own).link(group, False)}
        except TocsinError as problem:
            entry = next(entry for entry in pipeline.subscriptions if entry.name == group[0].name)
            errors += in_file(pipeline, entry, problem, entry.file)
            for text in group:
                del texts[text.name]
    return texts


def located(pipeline: Pipeline, entry: Entry, problem: TocsinError) -> PipelineError:
    """Convert an error in a pattern to an error in the file that contains it."""
    (found,) = in_file(pipeline, entry, problem, entry.file)
    return found


def _ordered(pipeline: Pipeline, errors: list[PipelineError]) -> list[Entry]:
    """Return the entries, used ones first; note unknown names and loops."""
    entries = {entry.name: entry for entry in pipeline.subscriptions}
    ordered: dict[str, Entry] = {}

    def visit(entry: Entry, way: tuple[str, ...]) -> None:
        if entry.name in ordered:
            return
        if entry.name in way:
            loop = [*way[way.index(entry.name) :], entry.name]
            place = (*entries[way[-1]].place, "events")
            message = f"subscriptions use each other's composites in a loop: {' → '.join(loop)}"
            errors.append(pipeline.error("subscription-loop", message, place, "remove one of these uses"))
            return
        for number, other in enumerate(entry.events):
            if other in entries:
                visit(entries[other], (*way, entry.name))
            else:
                place = (*entry.place, "events", number)
                hint = did_you_mean(other, entries)
                errors.append(
                    pipeline.error("unknown-subscription", f"there is no subscription {other!r}", place, hint)
                )
        ordered[entry.name] = entry

    for entry in entries.values():
        visit(entry, ())
    return list(ordered.values())


def _catalog(
    pipeline: Pipeline, used: Mapping[str, Parsed | Sender], common: Mapping[str, str] | None
) -> Catalog:
    # Where types are not declared and columns not yet known, a variable may have any type.
    known = (
        [c for one in used.values() for c in one.composites] if common or pipeline.declarations.strict else []
    )
    return pipeline.declarations.catalog(common, known)


def _misused(
    pipeline: Pipeline, entry: Entry, subscription: Subscription, used: Mapping[str, Parsed | Sender]
) -> Iterator[PatternError]:
    """Note composites that are not listed under `events`, and attributes that a composite does not have."""
    others = {other.name for other in pipeline.subscriptions} - {d.name for d in subscription.definitions}
    for spec in (spec for pattern in _patterns(subscription) for spec in specs(pattern)):
        if spec.name in others - used.keys():
            yield _unlisted(spec.name, spec.span)
        other = used.get(spec.name)
        if not isinstance(other, Parsed):
            continue
        known = other.composite.attributes
        for asked in operands(spec.filter):
            if isinstance(asked, Attribute) and asked.name not in known:
                yield PatternError(
                    "unknown-attribute",
                    f"the composite {spec.name} has no attribute {asked.name!r}",
                    asked.span,
                    did_you_mean(asked.name, known, "it has the variables of its pattern, and its key"),
                )


def _advised(pipeline: Pipeline, problem: PatternError) -> PatternError:
    """Return the error; for an unknown type that is another subscription, one that says to list it."""
    if problem.code == "unknown-type" and problem.span is not None:
        named = problem.span.text[problem.span.start : problem.span.end].partition("(")[0].strip()
        if any(other.name == named for other in pipeline.subscriptions):
            return _unlisted(named, problem.span)
    return problem


def _unlisted(name: str, span: Span | None) -> PatternError:
    hint = f"to use the composites of that subscription, say events = [{name!r}]"
    return PatternError("unlisted-composite", f"{name} is a subscription of this file", span, hint)


def _no_neighbours(pipeline: Pipeline, entry: Entry, subscription: Subscription) -> Iterator[PipelineError]:
    """Refuse `matches = adjacent` in a pattern that uses composites, as inside a single pattern."""
    if entry.events and subscription.selection.matches == "adjacent":
        yield pipeline.error(
            "adjacent-composites",
            f"{entry.events[0]} has no neighbours: the events it is made of lie among the others",
            (*entry.place, "events"),
            "adjacent events are single events; leave out `events`, or matches = adjacent",
        )


def _keyless(
    pipeline: Pipeline, entry: Entry, used: Mapping[str, Parsed | Sender]
) -> Iterator[PipelineError]:
    """Note composites that lack the key of the subscription that uses them."""
    for other in used.values():
        for name in entry.key:
            if name not in other.attributes:
                yield pipeline.error(
                    "composite-without-key",
                    f"{entry.name} is detected by {name}, but the composite {other.entry.name} has no {name}",
                    (*entry.place, "key"),
                    f"bind it there, as in {name} = ${name}, or detect {other.entry.name} by {name}",
                )


def _patterns(subscription: Subscription) -> tuple[Pattern, ...]:
    return (*(definition.pattern for definition in subscription.definitions), subscription.pattern)


def _variable_kinds(
    subscription: Subscription, catalog: Catalog, used: Mapping[str, Parsed | Sender]
) -> dict[str, str]:
    """Return the type of each variable of the composites: that of the attribute that binds it."""
    if subscription.selection.take == "count":
        return {COUNT: "int"}
    composites: dict[str, Mapping[str, str]] = {
        composite.name: composite.attributes for one in used.values() for composite in one.composites
    }
    for definition in subscription.definitions:
        composites[definition.name] = _bound(definition.pattern, catalog, composites)
    return _bound(subscription.pattern, catalog, composites)


def _bound(pattern: Pattern, catalog: Catalog, composites: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for spec in specs(pattern):
        own = composites.get(spec.name) or catalog.attributes(spec.name)
        for comparison in comparisons(spec.filter):
            match comparison:
                case Compare(Attribute(name), Relation.EQ, Variable(variable)) if (
                    own.get(name) in ATTRIBUTE_TYPES
                ):
                    kinds.setdefault(variable, own[name])
                case _:
                    pass
    return {variable: kinds.get(variable, "string") for variable in sorted(pattern_variables(pattern))}
