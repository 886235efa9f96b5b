"""Unpack the input of a shard in a micro-batch (see `runtime.stream.arrivals`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from tocsin.events.pace import Mark
from tocsin.runtime.stream.arrivals import AHEAD, CHANGES, EVENTS
from tocsin.runtime.transport.pack import from_ipc


class Received(NamedTuple):
    """The input of a shard in a micro-batch."""

    events: pa.Table | None
    ahead: pa.Table | None  # events too far ahead of wall-clock time
    marks: list[Mark]  # of the sources
    clock: int | None  # wall-clock time, from a heartbeat
    changes: list[str]  # of rules


def received(rows: Iterator[Any]) -> Received:
    """Unpack and join the pieces of a micro-batch, which are data frames `kind, packed`."""
    events: list[pa.Table] = []
    ahead: list[pa.Table] = []
    marks: list[Mark] = []
    clocks: list[int] = []
    changes: list[str] = []
    for frame in rows:
        for kind, packed in zip(frame["kind"], frame["packed"], strict=True):
            table = from_ipc(packed)
            if kind in (EVENTS, AHEAD):
                (ahead if kind == AHEAD else events).append(_plain(table))
                continue
            if kind == CHANGES:
                changes += table.column("change").to_pylist()
                continue
            for mark in table.to_pylist():
                if mark["clock"] is not None:
                    clocks.append(mark["clock"])
                else:
                    marks.append(Mark(mark["source"], mark["events"], mark["latest"], tuple(mark["some"])))
    return Received(_joined(events), _joined(ahead), marks, max(clocks, default=None), changes)


def _joined(tables: list[pa.Table]) -> pa.Table | None:
    return pa.concat_tables(tables) if tables else None


def _plain(events: pa.Table) -> pa.Table:
    """Decode dictionary columns, which one piece may have and another not."""
    for at, field in enumerate(events.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type)
            events = events.set_column(at, plain, events.column(at).cast(plain.type))
    return events
