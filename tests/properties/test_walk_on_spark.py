"""ECL and KSU on Spark: what is sent for a table, and for a stream, is what the meaning says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.ecl_strategies import expressions, traces
from support.ecl_strategies import readings as ecl_readings
from support.ksu_strategies import controlled, switched_traces
from support.ksu_strategies import readings as ksu_readings
from support.many_sent import examples
from support.walking import defined_run, tree_run, whole
from tocsin.algebra.completion.expression import Expression, Interpretation, Program, Subscription
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation.outcome import Arrival

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
READING = {"time": "at", "time_unit": "s", "id": "at", "key": "key"}
Rows = Sequence[dict[str, Any]]
Ask = Callable[[pa.Table, dict[str, Any]], Rows]


def of_table(spark: SparkSession, table: pa.Table, asked: dict[str, Any]) -> Rows:
    from support.calls import detect

    return detect(spark.createDataFrame(table), **asked, **READING).toArrow().to_pylist()


def of_stream(table: pa.Table, asked: dict[str, Any]) -> Rows:
    """The same of events out of order and in pieces, with a restart in the middle."""
    from support.calls import detect
    from tocsin.spark.testing import DELAY, streamed

    ask = partial(detect, **asked, **READING, delay=f"{DELAY}s", ahead="any")
    rows = streamed(table, ask, types="type", moments={"at": 1_000_000}, last={"key": -1})
    return [row for row in rows if row["key"] != -1]


def check_ecl(
    ask: Ask, many: Sequence[Expression], several: Sequence[Sequence[Fields]], interpretation: Interpretation
) -> int:
    """Every expression over every trace, in one query: each trace is a key. Returns how many cases that were."""
    rows = [(key, at, one["type"]) for key, trace in enumerate(several) for at, one in enumerate(trace, 1)]
    table = pa.table(
        {
            "key": pa.array([row[0] for row in rows], pa.int64()),
            "at": pa.array([row[1] for row in rows], pa.int64()),
            "type": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    programs = {
        f"p{n}": Program((Subscription(None, expression),), interpretation=interpretation)
        for n, expression in enumerate(many)
    }
    found = _by_case(ask(table, {"pattern": programs, "language": "ecl"}))
    for n, expression in enumerate(many):
        for key, trace in enumerate(several):
            own = found.get((f"p{n}", key), [])
            pushed = Counter((_at(row), row["value"]) for row in own if row["what"] == "push")
            ended = [(_at(row), row["what"]) for row in own if row["what"] != "push"]
            assert (pushed, ended) == tree_run(expression, trace, interpretation), (expression, trace)
    every = [row for own in found.values() for row in own]
    assert len({(row["pattern"], row["match_id"]) for row in every}) == len(every)
    return len(many) * len(several)


def check_ksu(
    ask: Ask, drawn: Sequence[tuple[ksu.Correlation, list[Arrival]]], interpretation: ksu.Interpretation
) -> int:
    """Every correlation over every trace."""
    every = [arrival for _, trace in drawn for arrival in trace]
    names = sorted({name for arrival in every for name in arrival.attributes})
    rows = [
        {"key": key, "at": at, "type": "Event", "source": one.event}
        | {name: one.attributes.get(name) for name in names}
        for key, (_, trace) in enumerate(drawn)
        for at, one in enumerate(trace, 1)
    ]
    libraries, ports = {}, {}
    for n, (correlation, _) in enumerate(drawn):
        one = replace(_apart(whole(correlation, every), n), name=f"C{n}")
        libraries[f"p{n}"] = ksu.Library((one,))
        ports[one.name] = {parameter.name: parameter.name for parameter in one.parameters}
    options = {**asdict(interpretation), "triggers": "true"}
    asked = {"pattern": libraries, "language": "ksu", "options": options, "ports": ports}
    found = _by_case(ask(pa.Table.from_pylist(rows), asked))
    for n, (correlation, _) in enumerate(drawn):
        for key, (_, trace) in enumerate(drawn):
            pushed, triggered, skipped = defined_run(whole(correlation, every), trace, interpretation)
            own = sorted(found.get((f"p{n}", key), []), key=_at)
            at = [(_at(row), row["what"], row["type"]) for row in own]
            assert [a[0] for a in at if a[1] == "skipped"] == skipped
            assert [(a[0], a[2]) for a in at if a[1] == "trigger"] == [
                (t, f"branch {b + 1}") for t, b, _ in triggered
            ]
            assert [a[0] for a in at if a[1] == "push"] == [push[0] for push in pushed]
    return len(drawn) ** 2


def _by_case(rows: Rows) -> dict[tuple[str, int], list[dict[str, Any]]]:
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["pattern"], row["key"]), []).append(row)
    return found


def _at(row: dict[str, Any]) -> int:
    return int(row["constituents"][-1]["id"])


@settings(SLOW, max_examples=3)
@given(
    st.lists(expressions(), min_size=12, max_size=12),
    st.lists(traces, min_size=15, max_size=15),
    ecl_readings,
)
def test_a_table_sends_what_the_tree_sends(
    spark: SparkSession, many: list[Expression], several: list[list[Fields]], interpretation: Interpretation
) -> None:
    check_ecl(partial(of_table, spark), many, several, interpretation)


@settings(SLOW, max_examples=3)
@given(st.lists(st.tuples(controlled, switched_traces), min_size=10, max_size=10), ksu_readings)
def test_a_table_sends_what_the_definitions_say(
    spark: SparkSession,
    drawn: list[tuple[ksu.Correlation, list[Arrival]]],
    interpretation: ksu.Interpretation,
) -> None:
    check_ksu(partial(of_table, spark), drawn, interpretation)


def test_a_stream_sends_what_the_tree_sends(spark: SparkSession) -> None:
    many, several = examples(expressions(), 20, 1), examples(traces, 15, 2)
    assert check_ecl(of_stream, many, several, Interpretation()) >= 200


def test_a_stream_sends_what_the_definitions_say(spark: SparkSession) -> None:
    drawn = examples(st.tuples(controlled, switched_traces), 15, 3)
    assert check_ksu(of_stream, drawn, ksu.Interpretation()) >= 200


def _apart(correlation: ksu.Correlation, number: int) -> ksu.Correlation:
    """The correlation with a type of its own for each event it makes: the attributes of one type must agree."""
    count = 0

    def renamed(statement: ksu.Statement) -> ksu.Statement:
        nonlocal count
        if not isinstance(statement, ksu.PushNew):
            return statement
        count += 1
        return replace(statement, type=f"{statement.type}{number}_{count}")

    cases = tuple(replace(case, body=tuple(map(renamed, case.body))) for case in correlation.cases)
    return replace(correlation, cases=cases)
