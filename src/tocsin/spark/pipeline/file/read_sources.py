"""Read the `[[source]]` tables of a pipeline file."""

from __future__ import annotations

import glob
import os
from typing import get_args

from tocsin.spark.pipeline.file.broker import BROKERS
from tocsin.spark.pipeline.file.model import Limit, Source, SourceFormat, TimeUnit
from tocsin.spark.pipeline.file.read_brokers import read_feed
from tocsin.spark.pipeline.file.section import Table, resolved
from tocsin.spark.pipeline.places import local

_WILDCARDS = "*?["
FORMATS: tuple[SourceFormat, ...] = ("parquet", "jsonl", "csv", "table", *BROKERS)


def read_source(table: Table) -> Source:
    """Return a source; note a file that does not exist, too."""
    name = table.name("name", "a source") or ""
    units: tuple[TimeUnit, ...] = get_args(TimeUnit)
    format = table.choice("format", FORMATS)
    feed = next((read_feed(table, broker) for broker in BROKERS if broker == format), None)
    type, event_type = table.text("type"), table.text("event_type")
    if type and event_type:
        hint = "a column with the type of each event, or one type for all of them"
        table.note("bad-value", "type and event_type cannot be combined", "event_type", hint)
    rename = _rename(table.table("rename"))
    source = Source(
        name,
        format or "parquet",
        _location(table, format) if feed is None else feed.location,
        table.place,
        _time(table),
        table.choice("time_unit", units) if "time_unit" in table.values else None,
        type,
        event_type,
        table.text("id"),
        table.text("source"),
        rename,
        tuple(_limit(one) for one in table.tables("limit")),
        _separator(table, format),
        *_streaming(table, format),
        feed,
        _multiline(table, format),
    )
    table.finish()
    return source


def _streaming(table: Table, format: SourceFormat | None) -> tuple[bool, int | None]:
    """Return whether further events may arrive, and how many files a micro-batch takes at most."""
    if format in BROKERS:
        if table.flag("stream") is False:
            table.note("bad-value", "a broker is always a stream", "stream", "leave stream out", value=True)
        _refuse_limit(table)
        return True, None
    stream, files = bool(table.flag("stream")), table.number("max_files", 1)
    if stream and format == "table":
        table.note(
            "bad-value",
            "a table cannot be read as a stream",
            "stream",
            "stream folders of files: parquet, jsonl, csv",
        )
    if not stream and "max_files" in table.values:
        table.note("bad-value", "only a stream has max_files", "max_files", "say stream = true")
    if stream:
        _refuse_limit(table)
    return stream, files


def _refuse_limit(table: Table) -> None:
    if "limit" in table.values:
        hint = "let the patterns leave them out, as with matches = 'next', or limit them where they are sent"
        table.note("limit-stream", "a stream cannot limit repeated events", "limit", hint)


def _location(table: Table, format: SourceFormat | None) -> str:
    key, other = ("table", "path") if format == "table" else ("path", "table")
    # Asked for under both names, so that the wrong one is explained and not just unknown.
    if table.text(other) is not None and format is not None:
        table.note("bad-value", f"a source of format {format} has a {key}, not a {other}", other)
    location = table.text(key, required=format is not None)
    if location is None or format == "table":
        return location or ""
    path = resolved(table, location, key, wild=True)
    here = local(path)
    if not _is_there(path):
        table.note("no-file", f"there is no file or folder {path}", key, value=True)
    elif table.values.get("stream") is True and here is not None and os.path.isfile(here):
        hint = "files that are complete are moved into it"
        table.note("bad-value", f"{path} is a file, but a stream reads a folder", key, hint, value=True)
    return path


def _is_there(path: str) -> bool:
    here = local(path)
    if not path or here is None or "{" in path:  # braces are a wildcard to Spark, but not to Python
        return True
    return any(glob.iglob(str(here))) if any(sign in path for sign in _WILDCARDS) else os.path.exists(here)


def _time(table: Table) -> tuple[str, str] | None:
    time, start, end = table.text("time"), table.text("start"), table.text("end")
    if time and (start or end):
        hint = "one column, or start and end"
        table.note("bad-value", "time cannot be combined with start and end", "time", hint)
    if (start is None) != (end is None):
        missing = "end" if start else "start"
        table.missing(missing, "start and end must be given together")
    if start and end:
        return start, end
    return (time, time) if time else None


def _rename(table: Table | None) -> dict[str, str]:
    names: dict[str, str] = {}
    for column in table.names() if table else ():
        assert table is not None
        new = table.text(column)
        if new is not None and new in names.values():
            table.note("duplicate-name", f"two columns are renamed to {new!r}", column, value=True)
        if new is not None:
            names[column] = new
    return names


def _limit(table: Table) -> Limit:
    type = table.text("type", required=True, hint="the type of the events to limit")
    by = table.texts("by")
    if not by and "by" not in table.values:
        table.missing("by", "the attributes in which repeated events agree, as in by = ['name']")
    limit = Limit(type or "", by or (), table.duration("every") or 0)
    table.finish()
    return limit


def _separator(table: Table, format: SourceFormat | None) -> str:
    separator = table.text("separator")
    if separator is None:
        return ","
    if format != "csv":
        table.note("bad-value", "only a csv source has a separator", "separator")
    elif len(separator) != 1:
        table.note("bad-value", f"the separator {separator!r} is not one character", "separator", value=True)
    return separator


def _multiline(table: Table, format: SourceFormat | None) -> bool:
    multiline = bool(table.flag("multiline"))
    if multiline and format != "csv":
        table.note("bad-value", "only a csv source has line breaks in its fields", "multiline")
    elif multiline and table.values.get("stream") is True:
        # Spark cuts the files of a stream into pieces, and a piece does not know whether it begins inside a quoted field.
        hint = "read the files as a batch, or have line breaks written in another way"
        table.note("bad-value", "a stream of csv files is read line by line", "multiline", hint)
    return multiline
