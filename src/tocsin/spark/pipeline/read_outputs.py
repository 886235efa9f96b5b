"""Reads `[[sink]]` and `[dead_letters]`: nothing may be written over a source, or over another output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from tocsin.errors import did_you_mean
from tocsin.spark.pipeline.model import DeadLetters, FileFormat, Mode, Sink, SinkFormat
from tocsin.spark.pipeline.read_sources import resolved
from tocsin.spark.pipeline.table import Table

_MODES: tuple[Mode, ...] = get_args(Mode)


def read_sinks(root: Table, subscriptions: Sequence[str], sources: Sequence[str]) -> Iterator[Sink]:
    """The sinks. One without `subscriptions` takes them all."""
    taken: set[str] = set()
    for table in root.tables("sink"):
        sink = _sink(table, subscriptions)
        table.finish()
        for name in sink.subscriptions if sink.path else ():
            folder = f"{sink.path}/{name}"
            if folder in taken:
                message = f"two sinks write {name} to {sink.path}"
                table.note("duplicate-output", message, "path", "give each its own path", value=True)
            taken.add(folder)
            _check_output(table, folder, sink.mode, sources)
        yield sink


def _sink(table: Table, subscriptions: Sequence[str]) -> Sink:
    formats: tuple[SinkFormat, ...] = get_args(SinkFormat)
    format = table.choice("format", formats) or "console"
    names = table.texts("subscriptions")
    for name in names or ():
        if name not in subscriptions:
            hint = did_you_mean(name, subscriptions)
            table.note("unknown-subscription", f"there is no subscription {name!r}", "subscriptions", hint, value=True)
    chosen = tuple(subscriptions) if names is None else names
    if format == "console":
        return Sink(format, table.place, chosen, rows=table.number("rows", 1) or 5)
    path = table.text("path", required=True)
    return Sink(
        format,
        table.place,
        chosen,
        None if path is None else resolved(table, path),
        table.choice("mode", _MODES, "error") or "error",
    )


def read_dead_letters(root: Table, sources: Sequence[str]) -> DeadLetters | None:
    """Where unreadable events go, if the file says so."""
    table = root.table("dead_letters")
    if table is None:
        return None
    formats: tuple[FileFormat, ...] = get_args(FileFormat)
    path = table.text("path", required=True)
    letters = DeadLetters(
        "" if path is None else resolved(table, path),
        table.place,
        table.choice("format", formats, "jsonl") or "jsonl",
        table.choice("mode", _MODES, "error") or "error",
    )
    table.finish()
    if letters.path:
        _check_output(table, letters.path, letters.mode, sources)
        for sink in root.tables("sink"):
            other = sink.values.get("path")
            if isinstance(other, str) and resolved(sink, other) == letters.path:
                table.note("duplicate-output", "a sink has this path, too", "path", "give each its own", value=True)
    return letters


def _check_output(table: Table, folder: str, mode: Mode, sources: Sequence[str]) -> None:
    """An output must not touch a source, nor anything that is no earlier output."""
    if "://" in folder:
        return
    path = Path(folder)
    for source in sources:
        if source == folder or (source and path in Path(source).parents) or Path(source) in path.parents:
            message = f"{folder} overlaps with the source {source}"
            table.note("overwrites-source", message, "path", "choose a folder outside of all sources", value=True)
    if not path.exists():
        return
    if mode == "error":
        hint = 'delete it, choose another path, or say mode = "overwrite"'
        table.note("output-exists", f"{folder} is there already", "path", hint, value=True)
    elif not _is_output(path):
        hint = "choose a folder that is empty or holds nothing but an earlier result"
        table.note("not-an-output", f"{folder} holds something else; it is not overwritten", "path", hint, value=True)


def _is_output(path: Path) -> bool:
    """Whether a folder holds nothing but what Spark writes."""
    return path.is_dir() and all(
        child.is_file() and child.name.lstrip(".").startswith(("part-", "_")) for child in path.iterdir()
    )
