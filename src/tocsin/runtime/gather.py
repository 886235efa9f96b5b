"""What Spark calls where a streaming pipeline is read: in one pass events go to the shards of every job, and are tallied.

Each row is an event, with what the tally needs and a struct for each job that holds what travels to the shards of the job; or a
heartbeat, with a `clock`; or a change of rules, with a `change`. What comes out are rows `place, kind, packed`. A place stands
for a shard of a job. The tally passes through further places as it is, so that all leaves a query in one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tocsin.runtime.arrivals import ArrivalJob, pack_arrivals
from tocsin.runtime.pack import from_ipc, to_ipc, units
from tocsin.runtime.tally import tally

PASSED = 4  # a kind of rows beside those of `arrivals`: a piece of the tally
GATHERED = pa.schema(
    [pa.field("place", pa.int32()), pa.field("kind", pa.int32()), pa.field("packed", pa.binary())]
)


class Gathering(NamedTuple):
    """What a worker is told: of each job how its events travel, and the places of its shards; and those of the tally."""

    jobs: tuple[ArrivalJob, ...]
    places: tuple[tuple[int, ...], ...]
    tallied: tuple[int, ...]
    dead: str  # the use of events that cannot be used


def rows_of(job: int) -> str:
    """The column with what travels to the shards of a job."""
    return f"rows{job}"


def gather(what: Gathering, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows in pieces of any size become rows `place, kind, packed`."""
    for number, table in enumerate(units(batches)):
        events = table.filter(table.column("source").is_valid())
        told = list(tally(len(what.jobs), what.dead, events.to_batches()))
        if told:
            packed = to_ipc(pa.Table.from_batches(told))
            yield _placed([what.tallied[number % len(what.tallied)]], [PASSED], [packed])
        others = _others(table)
        usable = pc.not_equal(events.column("use"), what.dead)
        for job, (arriving, places) in enumerate(zip(what.jobs, what.places, strict=True)):
            rows = pa.concat_tables([_travelling(events, usable, job), *others], promote_options="default")
            for arrived in pack_arrivals(arriving, rows.to_batches()):
                shards = arrived.column("shard").to_pylist()
                yield _placed([places[shard] for shard in shards], *arrived.columns[1:])


def _travelling(events: pa.Table, usable: pa.ChunkedArray, job: int) -> pa.Table:
    """Every event tells a job the time, but only those that are for the job have answers to its questions."""
    own = events.filter(pc.or_(usable, events.column(f"job{job}")))
    rows, wanted = pa.Table.from_struct_array(own.column(rows_of(job))), own.column(f"job{job}")
    for at, name in enumerate(rows.column_names):
        if name.startswith("bits"):
            answers = rows.column(at)
            asked = pc.if_else(wanted, answers, pa.scalar(0, answers.type))
            rows = rows.set_column(at, name, asked)
    return rows


def passed(packed: bytes) -> pa.Table:
    """A piece of the tally, which has passed through."""
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
