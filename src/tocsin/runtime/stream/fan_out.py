"""Worker entry point where a streaming pipeline is read: in one pass packs events for the shards of all jobs and tallies them.

Each row is an event, with the columns of the tally and for each job a struct of the columns that travel to its shards; or a
heartbeat, with a `clock`; or a change of rules, with a `change`. The output is rows `place, kind, packed`. A place stands
for a shard of a job. The tally passes unchanged through further places, so that everything leaves a query in one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.stream.arrivals import FOR_JOB, ArrivalJob, pack_arrivals
from tocsin.runtime.stream.tally import tally
from tocsin.runtime.transport.pack import from_ipc, to_ipc, units

PASSED = 4  # a kind of rows in addition to those of `arrivals`: a piece of the tally
GATHERED = pa.schema(
    [pa.field("place", pa.int32()), pa.field("kind", pa.int32()), pa.field("packed", pa.binary())]
)


class Gathering(NamedTuple):
    """How the events of each job travel, and the places of its shards and of the tally."""

    jobs: tuple[ArrivalJob, ...]
    places: tuple[tuple[int, ...], ...]
    tallied: tuple[int, ...]
    dead: str  # the use of events that cannot be used


def rows_of(job: int) -> str:
    """The column with the struct that travels to the shards of a job."""
    return f"rows{job}"


def flag_of(job: int) -> str:
    """The column that flags the events for a job."""
    return f"job{job}"


def gather(what: Gathering, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pack rows into rows `place, kind, packed`."""
    for number, table in enumerate(units(batches)):
        events = table.filter(table.column("source").is_valid())
        counted = list(tally(len(what.jobs), what.dead, events.to_batches()))
        if counted:
            packed = to_ipc(pa.Table.from_batches(counted))
            yield _placed([what.tallied[number % len(what.tallied)]], [PASSED], [packed])
        others = _others(table)
        usable = pc.not_equal(events.column("use"), what.dead)
        for job, (arriving, places) in enumerate(zip(what.jobs, what.places, strict=True)):
            rows = pa.concat_tables([_travelling(events, usable, job), *others], promote_options="default")
            for arrived in pack_arrivals(arriving, rows.to_batches()):
                shards = arrived.column("shard").to_pylist()
                yield _placed([places[shard] for shard in shards], *arrived.columns[1:])


def _travelling(events: pa.Table, usable: pa.ChunkedArray, job: int) -> pa.Table:
    """The rows that travel to a job: every usable event advances its watermark, but only its own go to its shards."""
    flag = events.column(flag_of(job))
    own = events.filter(pc.or_(usable, flag))
    rows = pa.Table.from_struct_array(own.column(rows_of(job)))
    return rows.append_column(FOR_JOB, pc.fill_null(own.column(flag_of(job)), False))


def passed(packed: bytes) -> pa.Table:
    """Unpack a piece of the tally that has passed through."""
    return from_ipc(packed)


def _others(table: pa.Table) -> list[pa.Table]:
    """Heartbeats, and changes of rules, as `arrivals` takes them."""
    return [
        pa.table({name: table.column(name).drop_null()})
        for name in ("clock", "change")
        if name in table.column_names
    ]


def _placed(places: list[int], kinds: object, packed: object) -> pa.RecordBatch:
    columns = zip((places, kinds, packed), GATHERED, strict=True)
    return pa.record_batch([pa.array(values, field.type) for values, field in columns], schema=GATHERED)
