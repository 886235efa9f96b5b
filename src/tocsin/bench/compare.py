"""Comparison of measurements: engines against Spark's own sort, against peers, and along a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tocsin.bench.engines import BASELINE, ENGINES
from tocsin.bench.measure import Measurement
from tocsin.bench.workloads import MANY


class Ratios(NamedTuple):
    """One measurement relative to others of the same run."""

    of_sort: float | None  # its time divided by that of Spark's own sort
    faster: dict[str, float]  # for our engines, by peer: the factor in events a second
    of_first: float | None  # its time divided by that of the first of its series


def ratios(measured: Sequence[Measurement]) -> list[Ratios]:
    """The ratios of each measurement, in the same order. The bare kernels read and sort nothing, so have few ratios."""
    times = {(_group(one), one.engine): one.seconds for one in measured if one.seconds}
    first: dict[tuple[object, ...], Measurement] = {}
    for one in measured:
        if one.seconds:
            first.setdefault(_line(one), one)
    found = []
    for one in measured:
        engine, begin = ENGINES[one.engine], first.get(_line(one))
        others = {
            name: times[_group(one), name]
            for name in ENGINES
            if not engine.one_core and name != one.engine and (_group(one), name) in times
        }
        ours = None if engine.peer or one.engine == BASELINE else one.seconds
        found.append(
            Ratios(
                _ratio(one.seconds, others.get(BASELINE)),
                {name: time / ours for name, time in others.items() if ours and ENGINES[name].peer},
                _ratio(one.seconds, begin.seconds) if begin and begin is not one else None,
            )
        )
    return found


def series(measured: Sequence[Measurement]) -> str | None:
    """The variable of a series: `window`, `patterns`, `cores`, or None."""
    spread = {
        "window": len({one.window_ms for one in measured}),
        "patterns": len({one.patterns for one in measured if one.workload.startswith(MANY)}),
        "cores": len({one.cores for one in measured if not ENGINES[one.engine].one_core}),
    }
    return next((name for name, values in spread.items() if values > 1), None)


def _group(one: Measurement) -> tuple[object, ...]:
    """The key that must be equal for two engines to be compared."""
    return one.workload, one.window_ms, one.cores


def _line(one: Measurement) -> tuple[object, ...]:
    """The key that is equal along a series: one engine on one workload, or on one pattern, then ten of them, …"""
    many = one.workload.startswith(MANY)
    return one.engine, MANY if many else one.workload


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def short(number: float | None) -> str:
    """A number of any size in three digits.

    >>> [short(n) for n in (0.0123, 1.234, 56.78, 123456, 7_850_000, None)]
    ['0.012', '1.23', '56.8', '123 k', '7.85 M', '']
    """
    if number is None:
        return ""
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}" if number >= 1 else f"{number:.2g}"
