"""ECL and KSU in the runtime: what the walking kernel and Spark send is what the meaning says, however a stream is cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecl_strategies import expressions, traces
from ecl_strategies import readings as ecl_readings
from ksu_strategies import controlled, correlations, switched_traces
from ksu_strategies import readings as ksu_readings
from ksu_strategies import traces as arrivals
from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Expression, Program, Reading, Subscription
from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation import semantics as definitions
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.acceptor.draft import ksu_drafts
from tocsin.automata.compile import Compiled, FieldTest
from tocsin.automata.machine.draft import compile_ecl
from tocsin.automata.transduce import transducers
from tocsin.runtime import table
from tocsin.runtime.feed import FOREVER, Batch, feed
from tocsin.runtime.program import from_bytes, to_bytes
from tocsin.runtime.state import from_bytes as state_from_bytes
from tocsin.runtime.state import initial
from tocsin.runtime.state import to_bytes as state_to_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
cuts = st.lists(st.integers(0, 12), max_size=3).map(sorted)


def sent(compiled: Compiled, streams: Sequence[Sequence[Fields]], cuts: Sequence[int]) -> list[list[Any]]:
    """For each stream, which is a key, what is sent: places in the stream, and what the emission says."""
    plan, state = from_bytes(to_bytes(compiled.plan)), initial(compiled.plan)
    found: list[list[Any]] = [[] for _ in streams]
    for begin, end in zip([0, *cuts], [*cuts, 1000], strict=True):
        rows = [(key, at, event) for key, own in enumerate(streams) for at, event in enumerate(own)]
        rows = [row for row in rows if begin <= row[1] < end]
        result = feed(plan, state, _batch(compiled, rows), end - 1 if end < 1000 else FOREVER)
        assert result.state is not None
        state = state_from_bytes(state_to_bytes(result.state))
        for detector, matches in zip(plan.detectors, result.matches, strict=True):
            assert matches.emissions is not None
            for i, number in enumerate(matches.emissions.tolist()):
                own = slice(matches.offsets[i], matches.offsets[i + 1])
                places = [result.events.column("at")[ref].as_py() for ref in matches.refs[own].tolist()]
                roles = [detector.roles[role] for role in matches.roles[own].tolist()]
                (key,) = result.keys.value(matches.key[i])
                # Of two events with one role the first counts: it was kept, and the other only completed the match.
                named = dict(zip(reversed(roles), reversed(places), strict=True))
                found[key].append((places[-1] + 1, detector.emissions[number], named))
    return found


def _batch(compiled: Compiled, rows: list[tuple[int, int, Fields]]) -> Batch:
    bits = np.zeros((len(rows), compiled.plan.words), np.uint64)
    for bit, test in compiled.tests:
        assert isinstance(test, FieldTest)
        for row, (_, _, event) in enumerate(rows):
            if holds(test.filter, event):
                bits[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    places = np.array([at for _, at, _ in rows], np.int64)
    events = pa.table({"at": pa.array(places)})
    return Batch(events, [[key for key, _, _ in rows]], places, places, places, bits, [])


def ecl_run(found: Sequence[Any]) -> tuple[Counter[Any], list[Any]]:
    """Outputs without the order of one event's, and how and when it completed."""
    pushed = Counter((at, emission.value) for at, emission, _ in found if emission.what == "push")
    return pushed, [(at, emission.what) for at, emission, _ in found if emission.what != "push"]


def tree_run(
    expression: Expression, trace: Sequence[Fields], reading: Reading
) -> tuple[Counter[Any], list[Any]]:
    run = tree.run(expression, trace, reading)
    ended = [] if run.completed_at is None else [(run.completed_at, run.status.value)]
    return Counter((at, str(value)) for at, value in run.outputs), ended


@settings(SLOW, max_examples=100)
@given(expressions(), st.lists(traces, min_size=3, max_size=3), ecl_readings, cuts)
def test_the_walking_kernel_sends_what_the_tree_sends(
    expression: Expression, several: list[list[Fields]], reading: Reading, cuts: list[int]
) -> None:
    program = Program((Subscription(None, expression),), reading=reading)
    found = sent(compile_ecl({"": program}), several, cuts)
    for own, trace in zip(found, several, strict=True):
        assert ecl_run(own) == tree_run(expression, trace, reading)


@pytest.mark.slow
@settings(SLOW, max_examples=250)
@given(expressions(), st.integers(0, 2**32), ecl_readings, st.booleans())
def test_twenty_thousand_cases_of_ecl(
    expression: Expression, seed: int, reading: Reading, one_by_one: bool
) -> None:
    """250 expressions, each with 80 traces, which are 80 keys of one stream; half of them one event at a time."""
    random = Random(seed)
    several: list[list[Fields]] = [
        [{"type": random.choice("abcde")} for _ in range(random.randrange(13))] for _ in range(80)
    ]
    program = Program((Subscription(None, expression),), reading=reading)
    found = sent(compile_ecl({"": program}), several, list(range(1, 13)) if one_by_one else [])
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


def ksu_run(found: Sequence[Any], trace: Sequence[Arrival]) -> tuple[list[Any], list[Any], list[int]]:
    """What is pushed with the events it is made of, when which branch triggers, and what was skipped."""
    pushed = [(at, e.type, _made(e, places, trace), e.value) for at, e, places in found if e.what == "push"]
    triggered = [
        (at, int(e.type.removeprefix("branch ")) - 1, tuple(e.value.split(",")) if e.value else ())
        for at, e, _ in found
        if e.what == "trigger"
    ]
    return pushed, triggered, [at for at, e, _ in found if e.what == "skipped"]


def _made(emission: Any, places: dict[str, int], trace: Sequence[Arrival]) -> dict[str, Any]:
    if emission.forwards is not None:
        return dict(trace[places[emission.forwards]].attributes)
    return {
        name: source[1] if source[0] == "literal" else trace[places[source[1]]].attributes.get(source[2])
        for name, source in emission.fields
    }


def defined_run(
    correlation: ksu.Correlation, trace: Sequence[Arrival], reading: ksu.Reading
) -> tuple[list[Any], list[Any], list[int]]:
    outcome = definitions.run(correlation, trace, reading)
    return (
        [(o.at, o.type, dict(o.attributes), o.event) for o in outcome.outputs],
        [(t.at, t.branch, t.labels) for t in outcome.triggers],
        [skipped.at for skipped in outcome.skipped],
    )


def whole(correlation: ksu.Correlation, trace: Sequence[Arrival]) -> ksu.Correlation:
    """The correlation with a parameter for each event there is."""
    names = {name for branch in correlation.branches for name in ksu.events(branch)}
    names |= {arrival.event for arrival in trace} | {parameter.name for parameter in correlation.parameters}
    types = {parameter.name: parameter.type for parameter in correlation.parameters}
    parameters = tuple(ksu.Parameter(types.get(name, "Event"), name) for name in sorted(names))
    return ksu.Correlation(
        correlation.output, "C", parameters, correlation.branches, correlation.initial, correlation.cases
    )


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


@pytest.mark.slow
@settings(SLOW, max_examples=250)
@given(st.one_of(correlations, controlled), st.integers(0, 2**32), ksu_readings, st.booleans())
def test_twenty_thousand_cases_of_ksu(
    drawn: ksu.Correlation, seed: int, reading: ksu.Reading, one_by_one: bool
) -> None:
    """250 correlations, each with 80 traces, which are 80 keys of one stream; half of them one event at a time."""
    random = Random(seed)
    names = sorted(parameter.name for parameter in drawn.parameters)
    several = [
        [Arrival(random.choice(names), None, {"x": n}, n) for n in range(random.randrange(13))]
        for _ in range(80)
    ]
    correlation = whole(drawn, [arrival for trace in several for arrival in trace])
    ports = {"C": {parameter.name: parameter.name for parameter in correlation.parameters}}
    compiled = transducers(ksu_drafts({"C": correlation}, None, ports, reading, told=True, known=None))
    streams: list[list[Fields]] = [[{**a.attributes, "source": a.event} for a in trace] for trace in several]
    found = sent(compiled, streams, list(range(1, 13)) if one_by_one else [])
    for own, trace in zip(found, several, strict=True):
        assert ksu_run(own, trace) == defined_run(correlation, trace, reading)


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
