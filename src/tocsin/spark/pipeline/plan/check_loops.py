"""Refuse a pipeline whose detections feed themselves through a broker.

A subscription feeds another if it is sent to a topic that a source reads, under a type that the other looks at, or if the
other lists it under `events`. What comes back under a type that is not declared is a dead letter, and feeds nobody. Only what
is in one file can be seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tocsin.spark.pipeline.file.model import Pipeline, Sink, Source
from tocsin.spark.pipeline.file.section import Table
from tocsin.spark.pipeline.plan.jobs import Plan
from tocsin.spark.sent import sent_tables


def check_loops(pipeline: Pipeline, plan: Plan, root: Table) -> None:
    """Note the first loop that goes through each sink."""
    feeds = {
        entry.name: {o.name for o in pipeline.subscriptions if entry.name in o.events}
        for entry in pipeline.subscriptions
    }
    through = [
        (sink, name, set(_fed(pipeline, plan, sink, name)))
        for sink in pipeline.sinks
        if sink.topic is not None
        for name in sink.subscriptions
    ]
    for _, name, fed in through:
        feeds[name] |= fed
    noted: set[int] = set()
    for sink, name, fed in through:
        way = next((way for other in sorted(fed) if (way := _way(feeds, other, name))), None)
        if way is not None and id(sink) not in noted:
            noted.add(id(sink))
            table = Table(root.document, root.errors, {}, sink.place)
            message = f"{name} feeds itself through {sink.topic}: {' → '.join((name, *way))}"
            hint = "send to a topic that no source reads, or under an event_type that none of them looks at"
            table.note("feedback-loop", message, "topic", hint, value=True)


def _way(feeds: Mapping[str, set[str]], start: str, goal: str) -> tuple[str, ...] | None:
    """Return a path from one subscription to another, if there is one."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while ways:
        way = ways.pop(0)
        if way[-1] == goal:
            return way
        for other in sorted(feeds[way[-1]] - seen):
            seen.add(other)
            ways.append((*way, other))
    return None


def _fed(pipeline: Pipeline, plan: Plan, sink: Sink, name: str) -> Iterator[str]:
    """Return the subscriptions that read what one of them sends to a sink."""
    declared = {event_type.name for event_type in pipeline.declarations.types}
    for source in pipeline.sources:
        if not _reads(source, sink):
            continue
        types = _types_in(source, _types_out(plan, sink, name), declared) & declared
        for other, relevant in plan.relevant_types.items():
            if types and (relevant is None or relevant & types):
                yield other


def _types_out(plan: Plan, sink: Sink, name: str) -> set[str]:
    """Return the event types that a subscription sends."""
    job = next(job for job in plan.jobs if name in job.names)
    if not job.sends:
        return {sink.event_type or name}
    return {table for pattern in job.patterns[name] for table in sent_tables(job.compiled, pattern)}


def _types_in(source: Source, types: set[str], declared: set[str]) -> set[str]:
    """Return the types that messages of these types may have when a source reads them."""
    if source.event_type is not None:
        return {source.event_type}
    return types if source.type in (None, "type") and "type" not in source.rename.values() else declared


def _reads(source: Source, sink: Sink) -> bool:
    """Whether a source reads from the topic of a sink."""
    feed, connection, topic = source.feed, sink.connection, sink.topic
    if feed is None or connection is None or topic is None or source.format != sink.format:
        return False
    if not set(feed.connection.servers) & set(connection.servers):
        return False
    if source.format == "kafka":
        return topic in feed.topics
    if source.format == "nats":
        # Without a subject all that its stream keeps is read, and only the server knows what that is.
        return not feed.topics or matches(feed.topics[0].split("."), topic.split("."), "*", ">")
    return any(matches(one.split("/"), topic.split("/"), "+", "#") for one in feed.topics)


def matches(filter: list[str], topic: list[str], one: str, rest: str) -> bool:
    """Whether a filter matches a topic, both split into parts; `one` is the wildcard for a part, `rest` for all that follow.

    >>> matches(["doors", "*"], ["doors", "front"], "*", ">"), matches(["doors", "#"], ["lamps"], "+", "#")
    (True, False)
    """
    for number, part in enumerate(filter):
        if part == rest:
            return True
        if number >= len(topic) or part not in (one, topic[number]):
            return False
    return len(filter) == len(topic)
