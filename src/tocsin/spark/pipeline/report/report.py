"""The report of a pipeline run: matches, counters that add up, and where everything was written.

`print(report)` shows it to a person; `report.as_dict()` is for programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tocsin.errors import counted
from tocsin.spark.batch.route import Route
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.few import few
from tocsin.spark.observe.record import deleted_before
from tocsin.spark.pipeline.sinks.write_files import Written

_LISTED = 50  # subscriptions in the table of a report, whether they found something or not


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a pipeline. `composites` counts the matches that other subscriptions read as events."""

    pipeline: str
    matches: Mapping[str, int]
    sources: Mapping[str, Counters]
    composites: Mapping[str, Counters]
    reasons: Mapping[str, int]  # why events are dead, and how many
    samples: Mapping[str, tuple[str, ...]]  # the first matches, for console sinks
    written: tuple[Written, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
    lost: Mapping[str, Mapping[str, int]] = field(
        default_factory=dict
    )  # what was sent and not delivered, and why
    batches: int | None = None  # the number of micro-batches, for a stream
    routes: Mapping[str, Route] = field(default_factory=dict)  # of each subscription; see `tocsin.route`
    held: Mapping[str, int] = field(default_factory=dict)  # matches that quiet subscriptions held back
    gone: Mapping[str, int] = field(
        default_factory=dict
    )  # files deleted before they were read, by their folder

    @property
    def total(self) -> Counters:
        """The counters of all sources together."""
        return sum(self.sources.values(), Counters(0, 0, 0, 0, 0))

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return asdict(self) | {"total": asdict(self.total)}

    def __str__(self) -> str:
        found = counted(sum(self.matches.values()), "match", "matches")
        pieces = "" if self.batches is None else f", {counted(self.batches, 'micro-batch', 'micro-batches')}"
        lines = [f"{self.pipeline}: {found} in {self.seconds:.1f} s{pieces}", ""]
        lines += self._matches()
        for name, shown in self.samples.items():
            lines += ["", f"{name}: {_heading(len(shown), self.matches[name])}"]
            lines += [f"  {line}" for line in shown]
        lines += ["", *self._counters()]
        for name, reasons in self.lost.items():
            listed = ", ".join(f"{count:,} {why}" for why, count in reasons.items()) or "none"
            lines += ["", f"sent by {name} and not delivered: {listed}"]
        if self.gone:
            lines += ["", *(deleted_before(count, folder) for folder, count in self.gone.items())]
        if self.reasons:
            lines += ["", "dead letters"]
            lines += [f"  {count:,} × {reason}" for reason, count in self.reasons.items()]
        if self.written:
            lines += ["", "written"]
            lines += [f"  {_near(one.path)}  ({counted(one.rows, 'row', 'rows')})" for one in self.written]
        if self.warnings:
            lines += ["", "warnings", *(f"  {line}" for text in self.warnings for line in text.splitlines())]
        return "\n".join(lines)

    def shown_routes(self) -> str:
        """List each route taken, with the subscriptions that took it, and why they took no faster one."""
        names: dict[Route, list[str]] = {}
        for name, route in self.routes.items():
            names.setdefault(route, []).append(name)
        return "\n".join(f"{few(own)}: {route}" for route, own in names.items())

    def _matches(self) -> Iterable[str]:
        """The table of subscriptions; of many, only those that found something."""
        shown = {name: n for name, n in self.matches.items() if n or self.held.get(name)}
        if len(self.matches) <= _LISTED:
            shown = dict(self.matches)
        head = ("subscription", "matches", *(("held back",) if self.held else ()))
        rows = [(name, _number(n), _number(self.held.get(name, 0)))[: len(head)] for name, n in shown.items()]
        left = len(self.matches) - len(shown)
        return [*_table(head, rows), *([f"none of {left:,} others"] if left else [])]

    def _counters(self) -> Iterable[str]:
        head = ("events", "read", "used", "irrelevant", "dead", "of which limited", "late", "repeated")
        rows = [(name, *map(_number, one.numbers)) for name, one in self.sources.items()]
        if len(self.sources) > 1:
            rows.append(("total", *map(_number, self.total.numbers)))
        rows += [
            (f"{name} (composites)", *map(_number, one.numbers)) for name, one in self.composites.items()
        ]
        # Limited events are part of the irrelevant, so their column comes next. Only tables have them, and only streams
        # have late ones.
        order: tuple[int, ...] = (0, 1, 2, 3, 5, 4) if self.batches is None else (0, 1, 2, 3, 6, 4)
        if self.total.repeated:
            order = (0, 1, 2, 3, 6, 7, 4)
        return _table(tuple(head[i] for i in order), [tuple(row[i] for i in order) for row in rows])


def _near(path: str) -> str:
    """Return a path relative to the working directory, if it is below it."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if here in Path(path).parents else path


def _number(count: int) -> str:
    return f"{count:,}"


def _heading(shown: int, matches: int) -> str:
    if matches == 0:
        return "no match"
    return (
        counted(matches, "match", "matches")
        if shown == matches
        else f"the first {'' if shown == 1 else f'{shown} '}of {matches:,} matches"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Format a table with columns as wide as needed; the first is text, the others are numbers."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(cells)
        )
        for cells in (list(zip(line, widths, strict=True)) for line in lines)
    ]
