"""Traces of ECL and KSU cases as tables, and what is sent when they run on Spark."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from tocsin.algebra.completion import expression as ecl
from tocsin.algebra.completion.fields import Field as FieldValue
from tocsin.algebra.completion.output import Constant, Make
from tocsin.algebra.completion.semantics import Run, Status
from tocsin.algebra.correlation.expression import (
    Correlation,
    Field,
    Library,
    Parameter,
    Push,
    PushNew,
    events,
)
from tocsin.algebra.correlation.outcome import Arrival, DeadLetter, Outcome, Output, Skipped, Trigger
from tocsin.algebra.predicate import attributes
from tocsin.cases.model import Skip
from tocsin.cases.parts import CASE, Part, Rows, name_of, numbered
from tocsin.cases.questions import EclRun, KsuRun
from tocsin.cases.tables import column
from tocsin.values import Value

# With a blank in it, no field of an event can be called the same.
AT, TIME = "event at", "event time"


def ecl_part(question: EclRun, number: int) -> Part:
    """The question what an expression pushes, and whether and when it completes, as a part of a query."""
    expression, trace = question.expression, question.trace
    if any(isinstance(event.get("type"), frozenset) or "timestamp" in event for event in trace):
        raise Skip("the table of a case has one type and its own time for each event")
    asked = {name for filter in ecl.filters(expression) for name in attributes(filter)}
    names = {name for event in trace for name in event} | asked
    columns = {
        "type": pa.array([event.get("type", "") for event in trace], pa.string()),
        **{
            name: column(name, [_value(event.get(name)) for event in trace], None)
            for name in sorted(names - {"type", "timestamp"})
        },
    }
    return _part(
        number,
        columns,
        ecl.Program((ecl.Subscription(None, expression),), reading=question.reading),
        "ecl",
        lambda rows: _run_of(expression, columns, rows),
    )


def _run_of(expression: ecl.Expression, columns: Mapping[str, object], rows: Rows) -> Run:
    pushes = [node.output for node in ecl.walk(expression) if isinstance(node, ecl.Push)]
    constants = {str(output.value): output.value for output in pushes if isinstance(output, Constant)}
    made: dict[str, set[str]] = {}
    for output in pushes:
        if isinstance(output, Make):
            made.setdefault(output.type, set()).update(name for name, _ in output.fields)
    outputs = [(_at(row), _pushed(row, constants, made, columns)) for row in rows if row["what"] == "push"]
    ends = [row for row in rows if row["what"] in ("success", "failure")]
    status = Status(ends[0]["what"]) if ends else Status.RUNNING
    return Run(tuple(outputs), status, _at(ends[0]) if ends else None)


def _value(field: FieldValue) -> Value:
    assert not isinstance(field, frozenset)  # only a type can be a set
    return field


def ksu_part(question: KsuRun, number: int) -> Part:
    """The question what a correlation sends, and when it triggers, as a part of a query; no row tells which labels are off."""
    correlation, trace = question.correlation, question.trace
    named = sorted({name for branch in correlation.branches for name in events(branch)})
    parameters = correlation.parameters or tuple(Parameter("Event", name) for name in named)
    whole = replace(correlation, name=f"{correlation.name or 'C'}_{number}", parameters=parameters)
    port = {parameter.name: parameter.type for parameter in parameters}
    named_attributes = sorted({name for arrival in trace for name in arrival.attributes} | _taken(whole))
    columns = {
        "type": pa.array([a.type or port.get(a.event, "Event") for a in trace], pa.string()),
        "source": pa.array([a.event for a in trace], pa.string()),
        **{name: column(name, [a.attributes.get(name) for a in trace], None) for name in named_attributes},
    }
    return _part(
        number,
        columns,
        Library((whole,)),
        "ksu",
        lambda rows: _outcome_of(trace, rows),
        {"options": {**asdict(question.reading), "triggers": "true"}, "types": question.types},
        {"ports": {whole.name: {name: name for name in port}}},
    )


def _outcome_of(trace: Sequence[Arrival], rows: Rows) -> Outcome:
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


def _part(
    number: int,
    columns: Mapping[str, pa.Array],
    pattern: ecl.Program | Library,
    language: str,
    answer: Callable[[Rows], Any],
    others: Mapping[str, Any] | None = None,
    mappings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Part:
    """A part of a query whose events follow each other second by second; its rows are told in that order."""
    at = pa.array(range(1, len(columns["type"]) + 1), pa.int64())
    arguments = {
        "language": language,
        "time": TIME,
        "time_unit": "s",
        "type": "type",
        "id": AT,
        "key": (CASE,),
    }
    return Part(
        name_of(number),
        numbered(pa.table({AT: at, TIME: at, **columns}), number),
        pattern,
        {TIME: 1_000_000},
        {**arguments, **(others or {})},
        (language, others),
        lambda rows: answer(sorted(rows, key=_at)),
        mappings or {},
    )


def _at(row: Mapping[str, Any]) -> int:
    return int(row["constituents"][-1]["id"])


def _pushed(
    row: Mapping[str, Any],
    constants: Mapping[str, str | int],
    made: Mapping[str, Container[str]],
    carried: Container[str],
) -> Any:
    """What was pushed; not the attributes that only other cases give to events of the same type."""
    if row["value"] is not None:
        return constants[row["value"]]
    sent = row["output"].get(row["type"]) or row["output"].get("forwarded") or {}
    own = made.get(row["type"], carried)
    return {"type": row["type"], **{name: value for name, value in sent.items() if name in own}}


def _output(row: Mapping[str, Any]) -> Output:
    tables: Mapping[str, Any] = row.get("output") or {}
    sent: Mapping[str, Value] = next((own for own in tables.values() if own is not None), {})
    return Output(_at(row), row["type"], sent, row["value"])


def _triggers(rows: Rows) -> list[Trigger]:
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
