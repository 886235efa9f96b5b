"""Figures for the documentation: a folder with every measurement (`figures.json`), a page with tables, and the charts.

A run replaces an earlier one over the same events with the same kind of series; all others stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tocsin.bench.charts import chart
from tocsin.bench.compare import series
from tocsin.bench.events import EventSet
from tocsin.bench.machine import machine, versions
from tocsin.bench.measure import Measurement
from tocsin.bench.table import table
from tocsin.errors import InputError, counted

DATA, PAGE = "figures.json", "figures.md"
_HEAD = """\
# Figures

Written by `tocsin bench --publish`; [How fast is it?](../performance.md) says what they mean. `time/…` divides times: less is
better. `speed/…` divides events a second: more is better. `time/first` is along the series.
"""


def publish(folder: Path, events: EventSet, measured: Sequence[Measurement]) -> Path:
    """Add a run to the figures in a folder and rewrite its page; returns the page."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        runs = _read(folder / DATA)
        along = series(measured)
        runs["-".join([events.name, *([along] if along else [])])] = {
            "title": _title(events, along),
            "made": datetime.now(UTC).date().isoformat(),
            "machine": machine(),
            "versions": versions(),
            "measurements": [one.to_json() for one in measured],
        }
        (folder / DATA).write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
        (folder / PAGE).write_text(_page(folder, runs), encoding="utf-8")
    except OSError as problem:
        raise InputError("bad-file", f"{problem.filename} cannot be written: {problem.strerror}") from None
    return folder / PAGE


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(runs, dict):
            raise ValueError
        for run in runs.values():
            _measurements(run)
    except (ValueError, KeyError, TypeError):
        raise InputError(
            "bad-file", f"{path} holds no figures of tocsin bench", hint="name another folder"
        ) from None
    return runs


def _title(events: EventSet, along: str | None) -> str:
    keys = f"{events.keys:,} keys" if events.keys > 1 else "no key"
    types = "" if events.shares == EventSet(1, 1).shares else f", only {_mix(events)}"
    return f"{counted(events.rows, 'event')}, {keys}{types}" + (f", by {along}" if along else "")


def _mix(events: EventSet) -> str:
    whole = sum(share for _, share in events.shares)
    return ", ".join(f"{name} {100 * share / whole:.0f} %" for name, share in events.shares)


def _page(folder: Path, runs: Mapping[str, Any]) -> str:
    parts = [_HEAD]
    for name, run in sorted(runs.items()):
        measured = _measurements(run)
        (folder / f"{name}.svg").write_text(chart(measured, run["title"]), encoding="utf-8")
        used = ", ".join(f"{what} {which}" for what, which in run["versions"].items())
        parts.append(f"## {run['title']}\n\n![{run['title']}]({name}.svg)\n")
        parts.append(_markdown(measured))
        parts.append(f"{run['machine']}. {used}. Measured on {run['made']}.\n")
    return "\n".join(parts)


def _measurements(run: Mapping[str, Any]) -> list[Measurement]:
    return [
        Measurement(**{**one, "round_seconds": tuple(one["round_seconds"])}) for one in run["measurements"]
    ]


def _markdown(measured: Sequence[Measurement]) -> str:
    headings, rows = table(measured)
    lines = [headings, tuple("---" for _ in headings), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
