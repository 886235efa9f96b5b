"""The events of cases as tables, and the instances that detection on Spark finds in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tocsin.algebra.pairs.expression import primitives
from tocsin.algebra.pairs.profile import Action, Profile
from tocsin.algebra.predicate import Attribute, Literal, comparisons
from tocsin.cases.pairs.class_times import TICK
from tocsin.cases.pairs.instances import Found, Instances
from tocsin.cases.parts import CASE, Part, column, name_of, numbered
from tocsin.errors import CaseError
from tocsin.events import Event
from tocsin.spark.options import Columns
from tocsin.values import Value

# Contains a space, so no attribute that an expression can name has this name.
ID, TYPE, TIME = "event id", "event type", "event time"
_MOMENT = pa.timestamp("us", tz="UTC")


def instances_part(question: Instances, number: int) -> Part:
    """The part of a query that finds the instances of an expression."""
    actions = (Action("react"),) if question.reacts else ()
    ids = {str(event.id): event.id for event in question.events}
    options = {} if question.ticks is None else {"ticks": TICK}
    return Part(
        name_of(number),
        numbered(_table(question), number),
        Profile(name_of(number), question.expression, actions),
        {TIME: 1},
        {"language": question.language.name, "time": TIME, "type": TYPE, "key": (CASE,)},
        (question.language.name, tuple(options)),
        lambda rows: [_found(row, ids) for row in rows],
        options=(Columns(time_unit="us", id=ID),),
        language_options=options,
        id=ID,
    )


def _table(question: Instances) -> pa.Table:
    events = question.with_ticks
    compared = [c for one in primitives(question.expression) for c in comparisons(one.filter)]
    examples: dict[str, Value] = {}
    for comparison in compared:
        if isinstance(comparison.left, Attribute) and isinstance(comparison.right, Literal):
            examples[comparison.left.name] = comparison.right.value
    names = sorted({name for event in events for name in event.attributes} | set(examples))
    return pa.table(
        {
            # Ids break ties in time: so they begin with the place of the event.
            ID: pa.array([f"{place:06d} {event.id}" for place, event in enumerate(events)], pa.string()),
            TYPE: pa.array([_type_of(event, question) for event in events], pa.string()),
            TIME: pa.array([event.interval.end for event in events], pa.int64()),
            **{
                name: column(name, [e.attributes.get(name) for e in events], examples.get(name))
                for name in names
            },
        }
    )


def _type_of(event: Event, question: Instances) -> str:
    """The one of the types of an event that the expression names, for a table has one column of types."""
    named = {one.name for one in primitives(question.expression)} & event.types
    if len(named) > 1:
        raise CaseError(
            "bad-case", f"the event {event.id} is of {len(named)} types that the expression names"
        )
    return min(named or event.types)


def _found(row: Mapping[str, Any], ids: Mapping[str, int | str]) -> Found:
    parts = tuple(
        part["role"] if part["id"] is None else ids[part["id"].partition(" ")[2]]
        for part in row["constituents"]
    )
    return Found(pa.scalar(row["end"], _MOMENT).value, parts)
