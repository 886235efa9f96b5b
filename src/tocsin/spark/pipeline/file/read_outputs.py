"""Read `[[sink]]`, `[dead_letters]` and `[late]`; no output may overwrite a source or another output."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

from tocsin.errors import did_you_mean
from tocsin.languages.lexis import shortened
from tocsin.spark.pipeline.file.broker import BROKERS
from tocsin.spark.pipeline.file.model import FileFormat, Mode, SideOutput, Sink, SinkFormat, Stream
from tocsin.spark.pipeline.file.read_brokers import read_connection, read_topic
from tocsin.spark.pipeline.file.section import Table, resolved
from tocsin.spark.pipeline.places import linked, local, overlap, places, problem_of

BATCH = "batch="  # how the name of the folder of a micro-batch begins
MARK = "_tocsin.json"  # the file in a folder that Tocsin wrote, and may delete
_STAGED = ".batch-"  # how the name of that folder begins until all its files are there
_TEMPORARY = ("_temporary",)  # what Spark leaves of tasks that were interrupted
Entries = Callable[[str], Sequence[tuple[str, bool]]]  # the names in a folder, and whether each is a folder
DESCRIPTION = "tocsin/pipeline.json"  # in a checkpoint: what the pipeline was that made it
_MODES: tuple[Mode, ...] = get_args(Mode)
_FORMATS: tuple[SinkFormat, ...] = ("parquet", "jsonl", "table", "console", *BROKERS)


@dataclass(frozen=True, slots=True)
class Outputs:
    """The outputs of a pipeline."""

    sinks: tuple[Sink, ...]
    dead_letters: SideOutput | None
    late: SideOutput | None


def read_outputs(
    root: Table, subscriptions: Sequence[str], sources: Sequence[str], stream: Stream | None = None
) -> Outputs:
    """Return the outputs for matches, dead letters and late events. A sink without `subscriptions` takes all.

    Args:
        stream: how the pipeline runs if it is a stream. One that goes on adds to the outputs that are there.
    """
    taken: list[str] = []
    going_on = stream is not None and is_checkpoint(stream.checkpoint)
    if stream is not None and stream.rules:
        sources = [*sources, stream.rules]
    if stream is not None and stream.checkpoint:
        own = Table(root.document, root.errors, {}, stream.place)
        _check_apart(own, "checkpoint", stream.checkpoint, sources, taken)

    def check(table: Table, folder: str, mode: Mode) -> None:
        _check_apart(table, "path", folder, sources, taken)
        if not going_on:
            check_folder(table, folder, mode, sources)

    sinks: list[Sink] = []
    for table in root.tables("sink"):
        sink = _sink(table, subscriptions)
        table.finish()
        if sink.connection is not None:
            _check_broker(table, sink, sinks, stream)
        if sink.path and sink.together:
            check(table, sink.path, sink.mode)
        for name in sink.subscriptions if sink.path and not sink.together else ():
            check(table, f"{sink.path}/{name}", sink.mode)
        sinks.append(sink)

    def side_output(key: str) -> SideOutput | None:
        section = root.table(key)
        if section is None:
            return None
        output = _side_output(section)
        section.finish()
        if output.path:
            check(section, output.path, output.mode)
        return output

    return Outputs(tuple(sinks), side_output("dead_letters"), side_output("late"))


def is_checkpoint(folder: str) -> bool:
    """Whether a folder is the checkpoint of an earlier run. Paths with a scheme cannot be examined without Spark."""
    here = local(folder)
    return here is None or (here / DESCRIPTION).exists()


def _sink(table: Table, subscriptions: Sequence[str]) -> Sink:
    format = table.choice("format", _FORMATS)
    names = table.texts("subscriptions")
    for name in names or ():
        if name not in subscriptions:
            message = f"there is no subscription {name!r}"
            hint = did_you_mean(name, subscriptions)
            table.note("unknown-subscription", message, "subscriptions", hint, value=True)
    chosen = tuple(subscriptions) if names is None else names
    if format in ("console", None):
        if format is None:
            table.names()  # which keys it may have depends on the format
        return Sink("console", table.place, chosen, rows=table.number("rows", 1) or 5)
    for broker in BROKERS:
        if broker == format:
            return Sink(
                broker,
                table.place,
                chosen,
                connection=read_connection(table, broker),
                topic=read_topic(table, broker),
                event_type=table.text("event_type"),
            )
    mode = table.choice("mode", _MODES, "error") or "error"
    together = bool(table.flag("together"))
    if format == "table":
        prefix = table.text("table", required=True, hint="each subscription gets a table NAME_Subscription")
        return Sink(format, table.place, chosen, mode=mode, table=prefix, together=together)
    path = table.text("path", required=True)
    whole = None if path is None else resolved(table, path)
    return Sink(format, table.place, chosen, whole, mode, together=together)


def _check_broker(table: Table, sink: Sink, others: Sequence[Sink], stream: Stream | None) -> None:
    """Note broker sinks without a stream, and NATS sinks that would send a match twice: NATS drops the second one."""
    if stream is None:
        hint = "read the events as a stream, or write files"
        table.note("bad-value", f"only a stream sends to {sink.format}", "format", hint, value=True)
    for other in others:
        both = set(sink.subscriptions) & set(other.subscriptions)
        if both and sink.format == "nats" and other.connection == sink.connection:
            message = f"{', '.join(sorted(both))} is sent to this NATS already"
            table.note("duplicate-output", message, hint="let one stream copy from the other in NATS")


def _side_output(table: Table) -> SideOutput:
    formats: tuple[FileFormat, ...] = get_args(FileFormat)
    path = table.text("path", required=True)
    return SideOutput(
        "" if path is None else resolved(table, path),
        table.place,
        table.choice("format", formats, "jsonl") or "jsonl",
        table.choice("mode", _MODES, "error") or "error",
    )


def _check_apart(table: Table, key: str, folder: str, sources: Sequence[str], taken: list[str]) -> None:
    """Note outputs that overlap a source or another output, however their paths are spelled."""
    for source in sources:
        if source and overlap(folder, source):
            message, hint = (
                f"{folder} overlaps with the source {source}",
                "choose a folder outside of all sources",
            )
            table.note("overwrites-source", message, key, hint, value=True)
    for other in taken:
        if overlap(folder, other):
            message, hint = f"{folder} overlaps with the output {other}", "give each its own path"
            table.note("duplicate-output", message, key, hint, value=True)
    taken.append(folder)


def check_folder(table: Table, folder: str, mode: Mode, sources: Sequence[str] = ()) -> None:
    """Note outputs that would replace anything other than an earlier output, or one without `mode = "overwrite"`."""
    if (problem := problem_of(folder)) is not None:
        table.note(
            "bad-path", f"nothing can be written to {shortened(folder)!r}: {problem}", "path", value=True
        )
        return
    here = local(folder)
    if here is None or not os.path.lexists(here):
        return
    names = {name for name, _ in _entries(folder)} if here.is_dir() else None
    if names == {MARK}:
        return
    if mode == "error":
        hint = 'delete it, choose another path, or say mode = "overwrite"'
        table.note("output-exists", f"{folder} is there already", "path", hint, value=True)
        return
    if names is None or (names and not is_output(_entries, folder)):
        message = f"{folder} contains something else, and is not overwritten"
        hint = "only a folder that Tocsin wrote, and that nothing was added to, is overwritten; delete it, or choose another"
        table.note("not-an-output", message, "path", hint, value=True)
    own = places(folder)
    if any(one.overlaps(other) for source in sources for other in linked(source) for one in own):
        message, hint = f"a source has links to {folder}", "choose a folder outside of all sources"
        table.note("overwrites-source", message, "path", hint, value=True)


def is_output(entries: Entries, folder: str) -> bool:
    """Whether a folder has the mark, and contains only what Spark or a stream writes."""
    found = entries(folder)
    return any(name == MARK for name, _ in found) and _is_ours(entries, folder)


def _is_ours(entries: Entries, folder: str) -> bool:
    return all(
        name in _TEMPORARY or (name.startswith((BATCH, _STAGED)) and _is_ours(entries, f"{folder}/{name}"))
        if inside
        else name.lstrip(".").startswith(("part-", "_"))
        for name, inside in entries(folder)
    )


def _entries(folder: str) -> list[tuple[str, bool]]:
    here = local(folder)
    assert here is not None
    return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in os.scandir(here)]
