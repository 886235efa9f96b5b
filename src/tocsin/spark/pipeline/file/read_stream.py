"""Read the `[stream]` table of a pipeline file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

from tocsin.algebra.tokens.subscription import Detection
from tocsin.spark.pipeline.file.model import AHEAD, LateMode, RepeatedMode, Source, Stream
from tocsin.spark.pipeline.file.section import Table, resolved

_AT_ONCE = ("once", "available-now")  # triggers that use what is there and stop
_LIKELY = re.compile(r"probabilistic\(\s*(\d*\.?\d+)\s*\)")
_PLAIN: tuple[Literal["best-effort", "guaranteed"], ...] = ("best-effort", "guaranteed")
_LATE: tuple[LateMode, ...] = get_args(LateMode)
_REPEATED: tuple[RepeatedMode, ...] = get_args(RepeatedMode)


def read_stream(root: Table, sources: Sequence[Source]) -> Stream | None:
    """Return how the streams of a pipeline run; None if it has none. Streams and tables cannot be mixed."""
    section = root.table("stream")
    streaming = [source for source in sources if source.stream]
    if not streaming:
        if section is not None:
            section.names()
            section.note("bad-value", "no source is a stream", hint="say stream = true in a [[source]]")
        if "late" in root.values:
            root.note(
                "bad-value", "only a stream has late events", "late", "say stream = true in a [[source]]"
            )
        return None
    for source in sources:
        if not source.stream:
            table = Table(root.document, root.errors, {}, source.place)
            message = f"{source.name} is read once, but {streaming[0].name} is a stream"
            table.note("mixed-sources", message, hint="say stream = true in all sources, or in none")
    if section is None:
        root.note("missing-key", "there is no [stream]", hint="a stream needs [stream] with a checkpoint")
        return None
    stream = _stream(section, root)
    section.finish()
    return stream


def _stream(table: Table, root: Table) -> Stream:
    checkpoint = table.text("checkpoint", required=True, hint="a folder in which the stream keeps its place")
    trigger = table.text("trigger")
    once = trigger in _AT_ONCE
    detection = _detection(table)
    waits = detection is not None and detection.mode != "best-effort"
    sources = table.texts("sources") or ()
    if sources and not waits:
        hint = 'say detection = "guaranteed", or "probabilistic(0.95)"'
        table.note("bad-value", "sources applies only to detection that waits for sources", "sources", hint)
    if waits and not sources:
        table.missing("sources", "the sources that detection waits for, as in sources = ['doors', 'lamps']")
    silent = table.duration("silent_after", required=False)
    if silent is not None and not waits:
        table.note(
            "bad-value", "silent_after applies only to detection that waits for sources", "silent_after"
        )
    delay = table.duration("delay", required=False, none=True)
    rules = table.text("rules")
    return Stream(
        "" if checkpoint is None else resolved(table, checkpoint, "checkpoint"),
        table.place,
        None if once else table.duration("trigger", required=False, none=True) or None,
        once,
        10_000_000 if delay is None else delay,
        _late(table, root),
        _repeated(table, detection),
        table.number("shards", 1),
        detection,
        sources,
        silent,
        table.duration("idle", required=False),
        _ahead(table),
        None if rules is None else resolved(table, rules, "rules"),
    )


def _ahead(table: Table) -> int | None:
    """Return how far ahead of wall-clock time events may be; None if there is no limit."""
    text = table.text("ahead")
    if text is None:
        return AHEAD
    return None if text == "any" else table.duration("ahead", none=True)


def _late(table: Table, root: Table) -> LateMode:
    """Return how late events are handled: they are kept if the file says where."""
    kept = "late" in root.values
    late = table.choice("late", _LATE, "keep" if kept else "fail") or "fail"
    if late == "keep" and not kept:
        table.note(
            "missing-key", 'late is "keep", but there is no [late]', "late", "say where: [late] with a path"
        )
    if late != "keep" and kept:
        table.note(
            "bad-value", f'late is "{late}", but there is a [late]', "late", 'say late = "keep"', value=True
        )
    return late


def _repeated(table: Table, detection: Detection | None) -> RepeatedMode:
    """Return how repeated events are handled; only events that are still waiting can be recognised when repeated."""
    repeated = table.choice("repeated", _REPEATED, "keep") or "keep"
    if repeated == "drop" and detection is not None and detection.mode == "best-effort":
        message = "best effort uses events as they arrive, and cannot recognise repeated ones"
        hint = "leave detection out: then events wait for delay, and repeated ones are found"
        table.note("bad-value", message, "repeated", hint)
    return repeated


def _detection(table: Table) -> Detection | None:
    text = table.text("detection")
    if text is None:
        return None
    for mode in _PLAIN:
        if text == mode:
            return Detection(mode)
    likely = _LIKELY.fullmatch(text)
    if likely is not None and 0 < float(likely[1]) <= 1:
        return Detection("probabilistic", float(likely[1]))
    hint = "best-effort, guaranteed, or probabilistic(0.95) with a number up to 1"
    table.note("bad-value", f"detection cannot be {text!r}", "detection", hint, value=True)
    return None
