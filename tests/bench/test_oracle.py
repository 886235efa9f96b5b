"""The right answers of the bench: against figures that other engines agreed on, and against the meaning of the patterns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tocsin.algebra.pairs.observation import Observation
from tocsin.algebra.pairs.semantics import instances
from tocsin.algebra.tokens.semantics import detect
from tocsin.bench.events import Columns, EventSet, SortedEvents, parquet_file
from tocsin.bench.oracle import Answer, answer
from tocsin.bench.workloads import MINUTE, PAIRS, UNSUPPORTED, WORKLOADS, Workload, many, workload
from tocsin.errors import InputError
from tocsin.events import Event, Interval
from tocsin.languages.registry import parse, plain_language

# 200,000 events without a key: what Flink, DuckDB, Siddhi, Spark and numba found, as far as each can say the workload.
# None where no sum was compared.
AGREED = {
    "W1": (3_517, 127_095_857),
    "W1_noskip": (6_115, 202_287_446),
    "W1_anymatch": (20_738, None),
    "W1_nowindow": (4_027, None),
    "W3": (6_083, 225_045_331),
    "W3_noskip": (27_111, 839_234_867),
    "W4": (2_508, 32_338_263),
    "W4_noskip": (3_305, 41_776_836),
    "W6": (159_486, 5_940_648_413),
}


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Columns:
    return SortedEvents(parquet_file(EventSet(200_000, 1), tmp_path_factory.mktemp("events"))).columns


@pytest.mark.slow
@pytest.mark.parametrize("name", AGREED)
def test_what_other_engines_agreed_on(name: str, events: Columns) -> None:
    found = answer(WORKLOADS[name], MINUTE, events)
    matches, spans = AGREED[name]
    assert found.matches == matches
    assert spans is None or found.span_sum == spans


@pytest.mark.slow
@pytest.mark.parametrize("window", [10_000, 60_000, 1_000_000])
@pytest.mark.parametrize("name", [*(one.name for one in WORKLOADS.values() if one not in PAIRS), "many_3"])
def test_what_the_patterns_mean(name: str, window: int, tmp_path: Path) -> None:
    """The reference runs the very texts that are measured. Few types, so that there is much to find."""
    shares = (("A", 3.0), ("B", 2.0), ("C", 2.0), ("D", 1.0))
    path = parquet_file(EventSet(120, 3, shares=shares), tmp_path)
    columns = SortedEvents(path).columns
    if name.startswith("many"):
        columns = columns._replace(value=99 + columns.value / 100)  # else nothing is above the thresholds
    wanted = workload(name)
    wanted = replace(wanted, thresholds=wanted.thresholds[::19])  # six of a hundred
    found = answer(wanted, window, columns)
    meant = _meant(wanted, window, columns)
    assert found.matches == meant.matches > 0
    assert wanted.counted or found.span_sum == meant.span_sum


@pytest.mark.slow
@pytest.mark.parametrize("wanted", PAIRS, ids=lambda one: one.name)
def test_what_pairs_mean(wanted: Workload, tmp_path: Path) -> None:
    path = parquet_file(EventSet(150, 3, shares=(("A", 3.0), ("B", 2.0), ("D", 1.0))), tmp_path)
    columns = SortedEvents(path).columns
    (text,) = wanted.patterns(60_000).values()
    expression = parse(text, plain_language(wanted.family)).expression
    meant = []
    for key in sorted(set(columns.key.tolist())):
        trace = _trace(columns, (columns.key == key).nonzero()[0].tolist())
        meant += instances(expression, Observation.of(trace))
    found = answer(wanted, 60_000, columns)
    assert found.matches == len(meant) > 0
    assert found.span_sum == sum(one.time - one.start for one in meant) // 1_000


def _trace(columns: Columns, rows: list[int]) -> list[Event]:
    return [
        Event(
            row,
            frozenset({columns.names[columns.code[row]]}),
            Interval(*(int(columns.time[row]) * 1_000,) * 2),
            {"v": float(columns.value[row])},
        )
        for row in rows
    ]


def _meant(wanted: Workload, window: int, columns: Columns) -> Answer:
    matches = spans = 0
    texts = list(wanted.patterns(window).values())
    for key in sorted(set(columns.key.tolist())):
        rows = (columns.key == key).nonzero()[0].tolist()
        trace = _trace(columns, rows)
        for text in texts:
            for composite in detect(parse(text), trace):
                if wanted.counted:
                    matches += int(dict(composite.variables)["count"])
                else:
                    matches += 1
                    spans += (composite.interval.end - composite.interval.start) // 1_000
    return Answer(matches, spans)


def test_workloads_that_are_none() -> None:
    with pytest.raises(InputError, match="did you mean 'W1_noskip'"):
        workload("W1_noskpi")
    for name in UNSUPPORTED:
        with pytest.raises(InputError, match="MATCH_RECOGNIZE"):
            workload(name)
    for count in (0, 10_001):
        with pytest.raises(InputError, match="--patterns"):
            many(count)


def test_many_patterns_are_all_different() -> None:
    assert len(set(many(10_000).patterns().values())) == 10_000
