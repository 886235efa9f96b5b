"""ECL and KSU in the runtime: what the walking kernel and Spark send is what the meaning says, however a stream is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecl_strategies import expressions, traces
from ecl_strategies import readings as ecl_readings
from ksu_strategies import controlled, correlations, switched_traces
from ksu_strategies import readings as ksu_readings
from ksu_strategies import traces as arrivals
from tocsin.algebra.completion.expression import Expression, Program, Reading, Subscription
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.acceptor.draft import ksu_drafts
from tocsin.automata.machine.draft import compile_ecl
from tocsin.automata.transduce import transducers
from tocsin.runtime import table
from walking import defined_run, ecl_run, ksu_run, sent, tree_run, whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
cuts = st.lists(st.integers(0, 12), max_size=3).map(sorted)


@settings(SLOW, max_examples=100)
@given(expressions(), st.lists(traces, min_size=3, max_size=3), ecl_readings, cuts)
def test_the_walking_kernel_sends_what_the_tree_sends(
    expression: Expression, several: list[list[Fields]], reading: Reading, cuts: list[int]
) -> None:
    program = Program((Subscription(None, expression),), reading=reading)
    found = sent(compile_ecl({"": program}), several, cuts)
    for own, trace in zip(found, several, strict=True):
        assert ecl_run(own) == tree_run(expression, trace, reading)


@settings(SLOW, max_examples=150)
@given(expressions(), st.lists(traces, min_size=3, max_size=3), ecl_readings)
def test_a_table_that_is_too_small_is_only_slower(
    expression: Expression, several: list[list[Fields]], reading: Reading
) -> None:
    program = Program((Subscription(None, expression),), reading=reading)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "MAX_CELLS", 3)
        patch.setattr("tocsin.automata.transduce.MAX_PREPARED", 0)
        found = sent(compile_ecl({"": program}), several, [])
    for own, trace in zip(found, several, strict=True):
        assert ecl_run(own) == tree_run(expression, trace, reading)


@settings(SLOW, max_examples=100)
@given(
    st.one_of(st.tuples(correlations, arrivals), st.tuples(controlled, switched_traces)), ksu_readings, cuts
)
def test_the_walking_kernel_sends_what_the_definitions_say(
    drawn: tuple[ksu.Correlation, list[Arrival]], reading: ksu.Reading, cuts: list[int]
) -> None:
    correlation, trace = whole(*drawn), drawn[1]
    ports = {"C": {parameter.name: parameter.name for parameter in correlation.parameters}}
    compiled = transducers(ksu_drafts({"C": correlation}, None, ports, reading, told=True, known=None))
    events: list[Fields] = [{**arrival.attributes, "source": arrival.event} for arrival in trace]
    (found,) = sent(compiled, [events], cuts)
    assert ksu_run(found, trace) == defined_run(correlation, trace, reading)


@pytest.mark.spark
@settings(SLOW, max_examples=4)
@given(
    st.lists(expressions(), min_size=12, max_size=12),
    st.lists(traces, min_size=15, max_size=15),
    ecl_readings,
)
def test_spark_sends_what_the_tree_sends(
    spark: SparkSession, many: list[Expression], several: list[list[Fields]], reading: Reading
) -> None:
    """One job for twelve expressions over fifteen keys: each key is a trace of its own."""
    from tocsin.spark.detect import detect

    rows = [
        (key, at, event["type"]) for key, trace in enumerate(several) for at, event in enumerate(trace, 1)
    ]
    frame = spark.createDataFrame(rows, "key long, at long, type string")
    programs = {
        f"p{n}": Program((Subscription(None, expression),), reading=reading)
        for n, expression in enumerate(many)
    }
    found = detect(frame, programs, language="ecl", time="at", time_unit="s", id="at", key="key").collect()
    for n, expression in enumerate(many):
        for key, trace in enumerate(several):
            own = [row for row in found if row.pattern == f"p{n}" and row.key == key]
            pushed = Counter((int(row.constituents[-1].id), row.value) for row in own if row.what == "push")
            ended = [(int(row.constituents[-1].id), row.what) for row in own if row.what != "push"]
            assert (pushed, ended) == tree_run(expression, trace, reading), (expression, trace)
    assert len({(row.pattern, row.match_id) for row in found}) == len(found)


@pytest.mark.spark
@settings(SLOW, max_examples=4)
@given(st.lists(st.tuples(controlled, switched_traces), min_size=10, max_size=10), ksu_readings)
def test_spark_sends_what_the_definitions_say(
    spark: SparkSession, drawn: list[tuple[ksu.Correlation, list[Arrival]]], reading: ksu.Reading
) -> None:
    from tocsin.spark.detect import detect

    every = [arrival for _, trace in drawn for arrival in trace]
    names = sorted({name for arrival in every for name in arrival.attributes})
    rows = [
        (key, at, "Event", arrival.event, *(arrival.attributes.get(name) for name in names))
        for key, (_, trace) in enumerate(drawn)
        for at, arrival in enumerate(trace, 1)
    ]
    columns = "".join(f", {name} {_type(every, name)}" for name in names)
    frame = spark.createDataFrame(rows, "key long, at long, type string, source string" + columns)
    libraries, ports = {}, {}
    for n, (correlation, _) in enumerate(drawn):
        one = replace(_apart(whole(correlation, every), n), name=f"C{n}")
        libraries[f"p{n}"] = ksu.Library((one,))
        ports[one.name] = {parameter.name: parameter.name for parameter in one.parameters}
    options = {**asdict(reading), "triggers": "true"}
    found = detect(
        frame,
        libraries,
        language="ksu",
        time="at",
        time_unit="s",
        id="at",
        key="key",
        options=options,
        ports=ports,
    ).collect()
    for n, (correlation, _) in enumerate(drawn):
        for key, (_, trace) in enumerate(drawn):
            pushed, triggered, skipped = defined_run(whole(correlation, every), trace, reading)
            own = [row for row in found if row.pattern == f"p{n}" and row.key == key]
            at = [(int(row.constituents[-1].id), row.what, row.type) for row in own]
            assert [a[0] for a in at if a[1] == "skipped"] == skipped
            assert [(a[0], a[2]) for a in at if a[1] == "trigger"] == [
                (t, f"branch {b + 1}") for t, b, _ in triggered
            ]
            assert [a[0] for a in at if a[1] == "push"] == [push[0] for push in pushed]


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


def _type(arrivals: Sequence[Arrival], name: str) -> str:
    value = next(a.attributes[name] for a in arrivals if a.attributes.get(name) is not None)
    return {bool: "boolean", int: "long", float: "double", str: "string"}[type(value)]
