"""Traces of expressions as tables, and the outputs when they run on Spark."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import pyarrow as pa

from tocsin.algebra.completion.expression import Expression, Program, Subscription, filters
from tocsin.algebra.completion.expression import outputs as outputs_of
from tocsin.algebra.completion.fields import Field as FieldValue
from tocsin.algebra.completion.output import Constant, Make
from tocsin.algebra.completion.run import Run, Status
from tocsin.algebra.predicate import attributes
from tocsin.cases.completion.kinds import Pushes
from tocsin.cases.model import Skip
from tocsin.cases.parts import Part, Rows, column
from tocsin.cases.sent_rows import event_number, sent_part
from tocsin.values import Value


def pushes_part(request: Pushes, number: int) -> Part:
    """The part of a query that finds what an expression pushes, and whether and when it completes."""
    expression, trace = request.expression, request.trace
    if any(isinstance(event.get("type"), frozenset) or "timestamp" in event for event in trace):
        raise Skip("the table of a case has one type and its own time for each event")
    asked = {name for filter in filters(expression) for name in attributes(filter)}
    names = {name for event in trace for name in event} | asked
    columns = {
        "type": pa.array([event.get("type", "") for event in trace], pa.string()),
        **{
            name: column(name, [_value(event.get(name)) for event in trace], None)
            for name in sorted(names - {"type", "timestamp"})
        },
    }
    return sent_part(
        number,
        columns,
        Program((Subscription(None, expression),), interpretation=request.interpretation),
        request.language,
        lambda rows: _run_of(expression, columns, rows),
    )


def _run_of(expression: Expression, columns: Mapping[str, object], rows: Rows) -> Run:
    pushes = outputs_of(expression)
    constants = {str(output.value): output.value for output in pushes if isinstance(output, Constant)}
    made: dict[str, set[str]] = {}
    for output in pushes:
        if isinstance(output, Make):
            made.setdefault(output.type, set()).update(name for name, _ in output.fields)
    outputs = [
        (event_number(row), _pushed(row, constants, made, columns)) for row in rows if row["what"] == "push"
    ]
    ends = [row for row in rows if row["what"] in ("success", "failure")]
    status = Status(ends[0]["what"]) if ends else Status.RUNNING
    return Run(tuple(outputs), status, event_number(ends[0]) if ends else None)


def _value(field: FieldValue) -> Value:
    assert not isinstance(field, frozenset)  # only a type can be a set
    return field


def _pushed(
    row: Mapping[str, Any],
    constants: Mapping[str, str | int],
    made: Mapping[str, Container[str]],
    carried: Container[str],
) -> Any:
    """The value pushed, without attributes that only other cases give to events of the same type."""
    if row["value"] is not None:
        return constants[row["value"]]
    sent = row["output"].get(row["type"]) or row["output"].get("forwarded") or {}
    own = made.get(row["type"], carried)
    return {"type": row["type"], **{name: value for name, value in sent.items() if name in own}}
