"""Traces with one event a second as tables, and the rows that are reported for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from tocsin.cases.parts import CASE, Part, Rows, name_of, numbered
from tocsin.languages.language import Language
from tocsin.spark.options import Columns

# Contains a space, so no field of an event can have this name.
AT, TIME = "event at", "event time"


def sent_part(
    number: int,
    columns: Mapping[str, pa.Array],
    pattern: Any,
    language: Language,
    answer: Callable[[Rows], Any],
    others: Mapping[str, Any] | None = None,  # options of the language
    mappings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Part:
    """A part of a query with one event a second; its rows are reported in that order."""
    at = pa.array(range(1, len(columns["type"]) + 1), pa.int64())
    arguments = {
        "language": language.name,
        "time": TIME,
        "type": "type",
        "key": (CASE,),
    }
    return Part(
        name_of(number),
        numbered(pa.table({AT: at, TIME: at, **columns}), number),
        pattern,
        {TIME: 1_000_000},
        arguments,
        (language.name, others),
        lambda rows: answer(sorted(rows, key=event_number)),
        mappings or {},
        (Columns(time_unit="s", id=AT),),
        others or {},
        AT,
    )


def event_number(row: Mapping[str, Any]) -> int:
    """The number of the event that a row was reported at."""
    return int(row["constituents"][-1]["id"])
