"""Traces of correlations as tables, and the outputs when they run on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

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
from tocsin.cases.correlation.kinds import Sends
from tocsin.cases.parts import Part, Rows, column
from tocsin.cases.sent_rows import event_number, sent_part
from tocsin.values import Value


def sends_part(request: Sends, number: int) -> Part:
    """The part of a query that finds what a correlation sends, and when it triggers; no row says which labels are off."""
    correlation, trace = request.correlation, request.trace
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
    return sent_part(
        number,
        columns,
        Library((whole,)),
        request.language,
        lambda rows: _outcome_of(trace, rows),
        {**asdict(request.interpretation), "triggers": "true", "types": request.types},
        {"ports": {whole.name: {name: name for name in port}}},
    )


def _outcome_of(trace: Sequence[Arrival], rows: Rows) -> Outcome:
    return Outcome(
        tuple(_triggers(rows)),
        tuple(_output(row) for row in rows if row["what"] == "push"),
        (),
        tuple(
            Skipped(event_number(row), Push(row["value"]), row["value"])
            for row in rows
            if row["what"] == "skipped"
        ),
        tuple(
            DeadLetter(event_number(row), trace[event_number(row) - 1], "")
            for row in rows
            if row["what"] == "dead"
        ),
    )


def _taken(correlation: Correlation) -> set[str]:
    """The attributes that statements take from events."""
    statements = [statement for case in correlation.cases for statement in case.body]
    made = [statement for statement in statements if isinstance(statement, PushNew)]
    return {a.value.attribute for one in made for a in one.assignments if isinstance(a.value, Field)}


def _output(row: Mapping[str, Any]) -> Output:
    tables: Mapping[str, Any] = row.get("output") or {}
    sent: Mapping[str, Value] = next((own for own in tables.values() if own is not None), {})
    return Output(event_number(row), row["type"], sent, row["value"])


def _triggers(rows: Rows) -> list[Trigger]:
    """The triggers; a window begins right after the previous one."""
    begins: dict[int, int] = {}
    found = []
    for row in rows:
        if row["what"] != "trigger":
            continue
        branch, at = int(row["type"].removeprefix("branch ")) - 1, event_number(row)
        labels = tuple(row["value"].split(",")) if row["value"] else ()
        found.append(Trigger(at, branch, (begins.get(branch, 1), at), labels))
        begins[branch] = at + 1
    return found
