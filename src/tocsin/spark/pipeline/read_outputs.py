"""Reads `[[sink]]` and `[dead_letters]`: nothing may be written over a source, or over another output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from tocsin.errors import did_you_mean
from tocsin.spark.pipeline.model import DeadLetters, FileFormat, Mode, Sink, SinkFormat
from tocsin.spark.pipeline.read_sources import resolved
from tocsin.spark.pipeline.table import Table

_MODES: tuple[Mode, ...] = get_args(Mode)


def read_outputs(
    root: Table, subscriptions: Sequence[str], sources: Sequence[str]
) -> tuple[tuple[Sink, ...], DeadLetters | None]:
    """The sinks and the dead letters. A sink without `subscriptions` takes them all."""
    taken: list[str] = []
    sinks = []
    for table in root.tables("sink"):
        sink = _sink(table, subscriptions)
        table.finish()
        for name in sink.subscriptions if sink.path else ():
            _check_output(table, f"{sink.path}/{name}", sink.mode, sources, taken)
        sinks.append(sink)
    section = root.table("dead_letters")
    if section is None:
        return tuple(sinks), None
    letters = _dead_letters(section)
    section.finish()
    if letters.path:
        _check_output(section, letters.path, letters.mode, sources, taken)
    return tuple(sinks), letters


def _sink(table: Table, subscriptions: Sequence[str]) -> Sink:
    formats: tuple[SinkFormat, ...] = get_args(SinkFormat)
    format = table.choice("format", formats)
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
    path = table.text("path", required=True)
    mode = table.choice("mode", _MODES, "error") or "error"
    return Sink(format, table.place, chosen, None if path is None else resolved(table, path), mode)


def _dead_letters(table: Table) -> DeadLetters:
    formats: tuple[FileFormat, ...] = get_args(FileFormat)
    path = table.text("path", required=True)
    return DeadLetters(
        "" if path is None else resolved(table, path),
        table.place,
        table.choice("format", formats, "jsonl") or "jsonl",
        table.choice("mode", _MODES, "error") or "error",
    )


def _check_output(table: Table, folder: str, mode: Mode, sources: Sequence[str], taken: list[str]) -> None:
    """An output must touch neither a source, nor another output, nor anything that is no earlier output."""
    for source in sources:
        if source and _overlap(folder, source):
            message, hint = (
                f"{folder} overlaps with the source {source}",
                "choose a folder outside of all sources",
            )
            table.note("overwrites-source", message, "path", hint, value=True)
    for other in taken:
        if _overlap(folder, other):
            message, hint = f"{folder} overlaps with the output {other}", "give each its own path"
            table.note("duplicate-output", message, "path", hint, value=True)
    taken.append(folder)
    check_folder(table, folder, mode)


def check_folder(table: Table, folder: str, mode: Mode) -> None:
    """An output must not replace anything but an earlier output, and that only if it may."""
    path = Path(folder)
    if "://" in folder or not path.exists():
        return
    if mode == "error":
        hint = 'delete it, choose another path, or say mode = "overwrite"'
        table.note("output-exists", f"{folder} is there already", "path", hint, value=True)
    elif not _is_output(path):
        message = f"{folder} holds something else, and is not overwritten"
        hint = "choose a folder that is empty or holds nothing but an earlier result"
        table.note("not-an-output", message, "path", hint, value=True)


def _overlap(one: str, other: str) -> bool:
    """Whether two paths are the same, or one is inside the other."""
    return one == other or Path(one) in Path(other).parents or Path(other) in Path(one).parents


def _is_output(path: Path) -> bool:
    """Whether a folder holds nothing but what Spark writes."""
    return path.is_dir() and all(
        child.is_file() and child.name.lstrip(".").startswith(("part-", "_")) for child in path.iterdir()
    )
