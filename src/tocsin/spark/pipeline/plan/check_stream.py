"""Refuse what a planned pipeline cannot do as a stream."""

from __future__ import annotations

from collections.abc import Callable

from tocsin.spark.pipeline.file.broker import Feed
from tocsin.spark.pipeline.file.model import Entry, Pipeline, Source
from tocsin.spark.pipeline.file.section import Table
from tocsin.spark.pipeline.plan.check_loops import check_loops
from tocsin.spark.pipeline.plan.jobs import Plan


def _check_feed(pipeline: Pipeline, source: Source, feed: Feed, table: Table) -> None:
    """Note what a broker source lacks: declared types, for want of messages to infer them from, or a place for its spool."""
    if not pipeline.declarations.strict:
        hint = "declare the event types as [event.NAME]"
        table.note("no-columns", f"the contents of the messages of {source.name} are not declared", hint=hint)
    assert pipeline.stream is not None
    if feed.connection.format == "mqtt" and feed.spool is None and "://" in pipeline.stream.checkpoint:
        message = f"the messages of {source.name} cannot wait in a checkpoint that is not on this machine"
        table.note("missing-key", message, hint="set spool = 'folder', on a disk that persists")


def check_stream(pipeline: Pipeline, plan: Plan, root: Table) -> None:
    """Note what a stream does not support, where its answers would differ from those of a table."""
    entries = {entry.name: entry for entry in pipeline.subscriptions}
    check_loops(pipeline, plan, root)
    for source in pipeline.sources:
        if source.feed is not None:
            _check_feed(pipeline, source, source.feed, Table(root.document, root.errors, {}, source.place))

    def at(entry: Entry) -> Table:
        return Table(root.document, root.errors, {}, entry.place)

    for entry in pipeline.subscriptions:
        if entry.deliver is not None:
            hint = "leave deliver out, and let the receiver take what is sent at its own pace"
            at(entry).note(
                "deliver-stream", f"{entry.name} cannot let events wait in a stream", "deliver", hint
            )
    if pipeline.stream is not None and pipeline.stream.rules is not None:
        _check_rules(pipeline, at)
    for job in plan.jobs:
        for entry in (entries[name] for name in job.names):
            used = [name for name in entry.events if name in job.reads]
            if used:
                message = f"in a stream, {entry.name} cannot use the composites of {', '.join(used)}"
                hint = "give both the same key and no condition, or read what one writes as a stream of another pipeline"
                at(entry).note("chained-stream", message, "events", hint)


def _check_rules(pipeline: Pipeline, at: Callable[[Entry], Table]) -> None:
    """Note what prevents rules from changing: a new rule must know which key it is for."""
    first, *others = pipeline.subscriptions
    for entry in pipeline.subscriptions:
        if entry.sends:
            message = f"{entry.name} sends events, and rules of a pipeline that change only find matches"
            at(entry).note("bad-value", message, "language", "leave rules out, or use tocsin.detect")
        elif entry.events:
            message = f"{entry.name} uses composites of others, which may go while it stays"
            at(entry).note("bad-value", message, "events", "leave rules out of [stream]")
    for entry in others:
        if entry.key != first.key:
            message = f"{entry.name} has another key than {first.name}, and rules that change have one"
            at(entry).note("bad-value", message, "key", "make a pipeline for each key")
