"""Measurements as the rows of a table, for the terminal and for the published page alike."""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.bench.compare import ratios, series, short
from tocsin.bench.engines import BASELINE, ENGINES
from tocsin.bench.measure import Measurement

Rows = list[tuple[str, ...]]


def table(measured: Sequence[Measurement]) -> tuple[tuple[str, ...], Rows]:
    """Headings and rows; a column that would be empty is left out.

    `time/spark-sort` divides times, so less is better; `speed/NAME` divides events a second, so more is better.
    """
    compared = ratios(measured)
    peers = [name for name in ENGINES if any(name in one.faster for one in compared)]
    along = series(measured)
    columns: dict[str, list[str]] = {
        "workload": [one.workload for one in measured],
        "window": [f"{one.window_ms // 1_000} s" if along == "window" else "" for one in measured],
        "cores": [str(one.cores) if along == "cores" else "" for one in measured],
        "engine": [one.engine for one in measured],
        "seconds": [f"{one.seconds:.3f}" if one.seconds is not None else "failed" for one in measured],
        "events/s": [short(one.events_per_second) for one in measured],
        "peak MB": [_whole(one.peak_mb) for one in measured],
        "worker MB": [_whole(one.peak_worker_mb) for one in measured],
        "matches": [_whole(one.matches) for one in measured],
        f"time/{BASELINE}": [short(one.of_sort) for one in compared],
        **{f"speed/{name}": [short(one.faster.get(name)) for one in compared] for name in peers},
        "time/first": [short(one.of_first) if along else "" for one in compared],
        "agrees": ["NO" if not one.agrees else "" if one.matches is None else "yes" for one in measured],
    }
    kept = {heading: cells for heading, cells in columns.items() if any(cells)}
    return tuple(kept), list(zip(*kept.values(), strict=True))


def _whole(number: int | None) -> str:
    return "" if number is None else f"{number:,}"
