"""Traces of ECL and KSU cases as tables, and what is sent when they run on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from tocsin.algebra.completion import expression as ecl
from tocsin.algebra.completion.fields import Field as FieldValue
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Constant
from tocsin.algebra.completion.semantics import Run, Status
from tocsin.algebra.correlation.expression import (
    Correlation,
    Field,
    Library,
    Parameter,
    Push,
    PushNew,
    Reading,
    events,
)
from tocsin.algebra.correlation.outcome import Arrival, DeadLetter, Outcome, Output, Skipped, Trigger
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.predicate import attributes
from tocsin.cases.model import Skip
from tocsin.cases.tables import column
from tocsin.spark.detect import detect
from tocsin.spark.session import local_session
from tocsin.spark.streamed import DELAY, streamed
from tocsin.values import Value

# With a blank in it, no field of an event can be called the same.
AT, TIME = "event at", "event time"


def run_ecl(expression: ecl.Expression, trace: Sequence[Fields], reading: ecl.Reading, engine: str) -> Run:
    """What an expression pushes, and whether and when it completes."""
    program = ecl.Program((ecl.Subscription(None, expression),), reading=reading)
    names = sorted({name for event in trace for name in event} - {"type"})
    if any(isinstance(event.get("type"), frozenset) or "timestamp" in event for event in trace):
        raise Skip("the table of a case has one type and its own time for each event")
    asked = {name for filter in ecl.filters(expression) for name in attributes(filter)} - {
        "type",
        "timestamp",
    }
    columns = {
        "type": pa.array([event.get("type", "") for event in trace], pa.string()),
        **{
            name: column(name, [_value(event.get(name)) for event in trace], None)
            for name in sorted({*names, *asked})
        },
    }
    rows = _rows(columns, len(trace), program, "ecl", asdict(reading), engine)
    constants = {
        str(node.output.value): node.output.value
        for node in ecl.walk(expression)
        if isinstance(node, ecl.Push) and isinstance(node.output, Constant)
    }
    outputs = [(_at(row), _pushed(row, constants)) for row in rows if row["what"] == "push"]
    ends = [row for row in rows if row["what"] in ("success", "failure")]
    status = Status(ends[0]["what"]) if ends else Status.RUNNING
    return Run(tuple(outputs), status, _at(ends[0]) if ends else None)


def _value(field: FieldValue) -> Value:
    assert not isinstance(field, frozenset)  # only a type can be a set
    return field


def run_ksu(
    correlation: Correlation, trace: Sequence[Arrival], reading: Reading, types: Types | None, engine: str
) -> Outcome:
    """What a correlation sends, and when it triggers; not which labels are off in the end."""
    named = sorted({name for branch in correlation.branches for name in events(branch)})
    parameters = correlation.parameters or tuple(Parameter("Event", name) for name in named)
    whole = replace(correlation, name=correlation.name or "C", parameters=parameters)
    port = {parameter.name: parameter.type for parameter in parameters}
    named_attributes = sorted({name for arrival in trace for name in arrival.attributes} | _taken(whole))
    columns = {
        "type": pa.array([a.type or port.get(a.event, "Event") for a in trace], pa.string()),
        "source": pa.array([a.event for a in trace], pa.string()),
        **{name: column(name, [a.attributes.get(name) for a in trace], None) for name in named_attributes},
    }
    rows = _rows(
        columns,
        len(trace),
        Library((whole,)),
        "ksu",
        {**asdict(reading), "triggers": "true"},
        engine,
        types=types,
        ports={whole.name: {name: name for name in port}},
    )
    return Outcome(
        tuple(_triggers(rows)),
        tuple(_output(row) for row in rows if row["what"] == "push"),
        (),
        tuple(
            Skipped(_at(row), Push(row["value"]), row["value"]) for row in rows if row["what"] == "skipped"
        ),
        tuple(DeadLetter(_at(row), trace[_at(row) - 1], "") for row in rows if row["what"] == "dead"),
    )


def _taken(correlation: Correlation) -> set[str]:
    """The attributes that statements take from events."""
    statements = [statement for case in correlation.cases for statement in case.body]
    made = [statement for statement in statements if isinstance(statement, PushNew)]
    return {a.value.attribute for one in made for a in one.assignments if isinstance(a.value, Field)}


def _rows(
    columns: Mapping[str, pa.Array],
    length: int,
    pattern: ecl.Program | Library,
    language: str,
    options: Mapping[str, object],
    engine: str,
    **others: Any,
) -> list[dict[str, Any]]:
    """What is sent, in the order of the events that brought it."""
    at = pa.array(range(1, length + 1), pa.int64())
    table = pa.table({AT: at, TIME: at, **columns})

    def asked(events: Any) -> Any:
        return detect(
            events,
            {"": pattern},
            language=language,
            time=TIME,
            time_unit="s",
            id=AT,
            options=options,
            delay=f"{DELAY}s",
            ahead="any",
            **others,
        )

    if engine == "stream":
        return sorted(streamed(table, asked, types="type", moments={TIME: 1_000_000}), key=_at)
    found = asked(local_session().createDataFrame(table))
    return sorted(found.toArrow().to_pylist(), key=_at)


def _at(row: Mapping[str, Any]) -> int:
    return int(row["constituents"][-1]["id"])


def _pushed(row: Mapping[str, Any], constants: Mapping[str, str | int]) -> Any:
    if row["value"] is not None:
        return constants[row["value"]]
    sent = row["output"].get(row["type"]) or row["output"].get("forwarded") or {}
    return {"type": row["type"], **sent}


def _output(row: Mapping[str, Any]) -> Output:
    tables: Mapping[str, Any] = row.get("output") or {}
    sent: Mapping[str, Value] = next((own for own in tables.values() if own is not None), {})
    return Output(_at(row), row["type"], sent, row["value"])


def _triggers(rows: Sequence[Mapping[str, Any]]) -> list[Trigger]:
    """Triggers; a window begins right behind the one before it."""
    begins: dict[int, int] = {}
    found = []
    for row in rows:
        if row["what"] != "trigger":
            continue
        branch, at = int(row["type"].removeprefix("branch ")) - 1, _at(row)
        labels = tuple(row["value"].split(",")) if row["value"] else ()
        found.append(Trigger(at, branch, (begins.get(branch, 1), at), labels))
        begins[branch] = at + 1
    return found
