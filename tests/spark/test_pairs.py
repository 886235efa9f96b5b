"""Random profiles on Spark, in tables and streams: many profiles in one job, each on many traces, which are its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import tocsin
from support.many_pairs import combination
from support.pairs_strategies import nested_observation, nested_profile
from tocsin.algebra.pairs.expression import Every, Expression, parts, walk
from tocsin.algebra.pairs.profile import Profile
from tocsin.automata.pairs.compile import Wanted
from tocsin.automata.pairs.in_process import Match, Session
from tocsin.events import Event, Interval
from tocsin.runtime.moments import FOREVER
from tocsin.spark.options import Columns, Stream
from tocsin.spark.testing import DELAY, streamed

PROFILES, TRACES = 24, 20
SECOND = 1_000_000
pytestmark = [pytest.mark.spark, pytest.mark.slow]
Found = dict[tuple[str, int], list[object]]


def profiles() -> dict[str, Expression]:
    """Nested ones and combinations of parameters; what is periodic without an end differs in streams, and is left out."""
    random = Random(18)
    found: dict[str, Expression] = {}
    while len(found) < PROFILES:
        number = len(found)
        drawn = nested_profile(random, 2) if number % 2 else combination(7 * number, random)
        if not any(isinstance(part, Every) for part in walk(drawn)):
            found[f"p{number}"] = in_seconds(drawn)
    return found


def in_seconds(expression: Expression) -> Expression:
    """The expression with all its times as seconds."""
    changes: dict[str, Any] = {
        name: getattr(expression, name) * SECOND
        for name in ("timeframe", "delay", "tolerance")
        if isinstance(getattr(expression, name, None), int)
    }
    if hasattr(expression, "operands"):
        changes["operands"] = tuple(map(in_seconds, expression.operands))
    if hasattr(expression, "body"):
        changes["body"] = in_seconds(expression.body)
    if getattr(expression, "without", None) is not None:
        changes["without"] = in_seconds(expression.without)
    assert len(parts(expression)) == 0 or changes
    return replace(expression, **changes)


def traces() -> list[list[Event]]:
    random = Random(81)
    return [
        [
            replace(event, id=f"{key}:{number:02}", interval=Interval(*[event.interval.end * SECOND] * 2))
            for number, event in enumerate(nested_observation(random).events)
        ]
        for key in range(TRACES)
    ]


def table(events: Sequence[Sequence[Event]]) -> pa.Table:
    rows = [(key, event) for key, own in enumerate(events) for event in own]
    return pa.table(
        {
            "key": pa.array([key for key, _ in rows], pa.int64()),
            "id": pa.array([event.id for _, event in rows], pa.string()),
            "type": pa.array([next(iter(event.types)) for _, event in rows], pa.string()),
            "at": pa.array([event.interval.end for _, event in rows], pa.int64()),
        }
    )


def detect(events: Any, asked: Mapping[str, Expression]) -> Any:
    patterns = {name: Profile(name, expression) for name, expression in asked.items()}
    arriving = [Stream(delay=f"{DELAY}s", ahead="any")] if events.isStreaming else []
    columns = Columns(time_unit="us", id="id")
    return tocsin.detect(
        events, patterns, columns, *arriving, language="meta-ens", time="at", type="type", key="key"
    )


def expected(asked: Mapping[str, Expression], events: Sequence[Sequence[Event]], until: int) -> Found:
    return {
        (name, key): sorted(map(_shown, Session(Wanted(name, expression)).feed(own, until)), key=repr)
        for name, expression in asked.items()
        for key, own in enumerate(events)
    }


def _shown(match: Match) -> object:
    return match.time, [part.name if part.id is None else part.id for part in match.parts]


def reported(rows: Sequence[Mapping[str, Any]], asked: Mapping[str, Expression]) -> Found:
    found: Found = {(name, key): [] for name in asked for key in range(TRACES)}
    for row in rows:
        if (row["pattern"], row["key"]) in found:
            end = pa.scalar(row["end"], pa.timestamp("us", tz="UTC")).value
            ids = [part["role"] if part["id"] is None else part["id"] for part in row["constituents"]]
            found[row["pattern"], row["key"]].append((end, ids))
    return {name: sorted(own, key=repr) for name, own in found.items()}


def test_a_table_has_what_the_kernel_finds(spark: Any) -> None:
    asked, events = profiles(), traces()
    wanted = expected(asked, events, FOREVER)
    rows = detect(spark.createDataFrame(table(events)), asked).toArrow().to_pylist()
    assert reported(rows, asked) == wanted
    assert sum(map(bool, wanted.values())) > 150


def test_a_stream_has_what_time_decides(spark: Any) -> None:
    asked, events = profiles(), traces()
    wanted = expected(asked, events, 1 << 52)
    last = {"key": -1, "id": "last"}
    rows = streamed(
        table(events), lambda arriving: detect(arriving, asked), types="type", moments={"at": 1}, last=last
    )
    assert reported(rows, asked) == wanted
    assert sum(map(bool, wanted.values())) > 100
