"""Detection in a stream, for a group of keys: micro-batches of events in, matches out as the watermark advances.

A memory holds the state of detection and the events that wait because earlier ones may still arrive. The columns that
travel are those of `runtime.batch.partition`, packed as Arrow bytes, so that Spark moves few large values, changes no
types, and does not decide for itself which events are late. The watermark is computed elsewhere (`events.pace`), and
`buckets` stores the memories.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.errors import InputError
from tocsin.runtime import encoding
from tocsin.runtime import state as states
from tocsin.runtime.batch.partition import batch_of, bits_of, given_order, numbers, with_copies
from tocsin.runtime.feed import Batch, ByKey, feed, fitting
from tocsin.runtime.kernels.registry import kernel_named
from tocsin.runtime.moments import NEVER
from tocsin.runtime.next_state import restricted
from tocsin.runtime.predicates.at_decision import answered, asked_for
from tocsin.runtime.program import Array, Plan, from_bytes
from tocsin.runtime.results.match_rows import MOMENT, keys_among, to_arrow
from tocsin.runtime.rows.keys import Keys, numbered
from tocsin.runtime.rows.total_order import total_order
from tocsin.runtime.state import State
from tocsin.runtime.transport.pack import hash_keys

VERSION = 7  # of the layout of a memory as bytes
_KIND = "memory"


class PaceGroup(NamedTuple):
    """Subscriptions that share a watermark: a pace group. `at_once`: events are used as they arrive, in whatever order."""

    plan: bytes
    at_once: bool = False
    predicates: tuple[str, ...] = ()  # predicates by bit, to recognise them when patterns change
    columns: tuple[str, ...] = ()  # the columns that travel in addition to their bits: values and fields
    asks: bytes = b""  # if rules may change, the predicates for events at their decision (see `at_decision`)
    since: tuple[int, ...] = ()  # and for each subscription, the version of the rules that added it


class ShardJob(NamedTuple):
    """The input of a worker."""

    groups: tuple[PaceGroup, ...]
    schema: bytes  # of the matches
    keys: int
    shards: int
    limit: int  # partial matches of a key
    late: str  # the handling of late events: "fail", "drop" or "keep"
    repeated: str = "keep"  # the handling of an event equal to one that still waits: "keep" or "drop"
    ahead: str = "any"  # how far ahead of wall-clock time events may lie, as text


class Advance(NamedTuple):
    """The result of a micro-batch. `wakeup` is when something is due next even if nothing arrives, None if never."""

    memory: bytes | None  # None if there is nothing to store
    matches: pa.Table
    wakeup: int | None
    keys: int
    partial_matches: int
    waiting: int  # events that have arrived, but are not decided yet
    oldest: int | None = None  # end of the oldest event in the state
    repeated: pa.Table | None = None  # events that were dropped because an equal one was waiting already


class Remembered(NamedTuple):
    """The contents of a memory."""

    state: State
    waiting: pa.Table | None  # events that are not decided yet; None before the first


def advance(
    job: ShardJob, group: PaceGroup, memory: bytes | None, arrived: pa.Table | None, until: int
) -> Advance:
    """Feed the events that arrived, in any order, and advance the watermark to `until`, which never goes back.

    Args:
        memory: the memory that the last call returned; None for the first call.
    """
    plan = from_bytes(group.plan)
    schema = pa.ipc.read_schema(pa.py_buffer(job.schema))
    state, waiting = _start(plan, group) if memory is None else recall(memory)
    if arrived is not None and arrived.num_rows:
        waiting = (
            arrived if waiting is None else pa.concat_tables([fitting(waiting, arrived.schema), arrived])
        )
    due, repeated = None, None
    if waiting is not None and job.repeated == "drop":
        waiting, repeated = _without_repeated(waiting, job.keys)
    if waiting is not None and not group.at_once:
        ripe = pc.less_equal(waiting.column("end"), until)
        due, waiting = waiting.filter(ripe), waiting.filter(pc.invert(ripe))
    elif waiting is not None:
        due, waiting = waiting, waiting.slice(0, 0)
    found = schema.empty_table()
    if due is not None and group.asks:
        due = answered(group.asks, plan, due)
    if due is not None:  # without any event so far, time has no effect
        result = feed(plan, state, _batch(plan, due, state.keys, job.keys), until, limit=job.limit)
        assert result.state is not None
        state = result.state
        outputs = range(len(plan.outputs))
        found = pa.concat_tables([found, *(to_arrow(plan, result, number, schema) for number in outputs)])
    held = 0 if waiting is None else waiting.num_rows
    if not held and not state.keys.size:
        return Advance(None, found, None, 0, 0, 0, None, repeated)
    kept = remember(Remembered(state, waiting))
    wakeup, oldest = _wakeup(plan, state, waiting), _oldest(state, waiting)
    return Advance(kept, found, wakeup, state.keys.size, state.partial_matches, held, oldest, repeated)


def _without_repeated(events: pa.Table, keys: int) -> tuple[pa.Table, pa.Table | None]:
    """The events without those that share source, id, time and key with an earlier one; and the repeated ones, if any."""
    named = ("origin", "id", "start", "end", *(f"key{number}" for number in range(keys)))
    same = [name for name in named if name in events.column_names]
    numbered = events.select(same).append_column("row", pa.array(np.arange(events.num_rows)))
    first = numbered.group_by(same, use_threads=False).aggregate([("row", "min")]).column("row_min")
    if len(first) == events.num_rows:
        return events, None
    is_first = np.zeros(events.num_rows, np.bool_)
    is_first[first.to_numpy()] = True
    return events.filter(pa.array(is_first)), events.filter(pa.array(~is_first))


def split(job: ShardJob, group: PaceGroup, memory: bytes, bits: int) -> tuple[bytes | None, bytes | None]:
    """Split a memory by one more bit of the hash of a key: keys with the bit unset, and keys with the bit set."""
    plan = from_bytes(group.plan)
    state, waiting = recall(memory)
    parts: list[bytes | None] = []
    has_bit = _bit(list(state.keys.columns), state.keys.size, bits)
    waits = None
    if waiting is not None:
        waits = _bit(_key_columns(waiting, job.keys), waiting.num_rows, bits)
    for wanted in (False, True):
        own = None if waiting is None else waiting.filter(pa.array(waits == wanted))
        kept = restricted(plan, state, has_bit == wanted)
        empty = not kept.keys.size and (own is None or not own.num_rows)
        parts.append(None if empty else remember(Remembered(kept, own)))
    return parts[0], parts[1]


def buckets_of(job: ShardJob, events: pa.Table, bits: int) -> Array:
    """The bucket, out of `2 ** bits`, that each event's key belongs to."""
    if not bits:
        return np.zeros(events.num_rows, np.int64)
    hashes = hash_keys(_key_columns(events, job.keys), events.num_rows)
    return (hashes & np.uint64((1 << bits) - 1)).astype(np.int64)


def _bit(columns: list[pa.Array], count: int, bits: int) -> Array:
    return (hash_keys(columns, count) >> np.uint64(bits) & np.uint64(1)).astype(np.bool_)


def _key_columns(events: pa.Table, keys: int) -> list[pa.Array]:
    return [events.column(f"key{i}").combine_chunks() for i in range(keys)]


def relevant(group: PaceGroup, arrived: pa.Table) -> pa.Table:
    """The events that are relevant to the subscriptions of a pace group."""
    plan = from_bytes(group.plan)
    if group.asks:
        return arrived.filter(pa.array(asked_for(group.asks, plan, arrived)))
    domain = np.bitwise_or.reduce([mask for one in plan.detectors for mask in one.program.domain])
    return arrived.filter(pa.array((bits_of(arrived, plan.words) & domain).any(axis=1)))


def parted(arrived: pa.Table, until: int) -> tuple[pa.Table, pa.Table]:
    """The events that are in time, and those that are late."""
    in_time = pc.greater(arrived.column("end"), until)
    return arrived.filter(in_time), arrived.filter(pc.invert(in_time))


def late_error(late: pa.Table, until: int) -> InputError:
    """The error for late events where there must be none."""
    event = late.slice(0, 1).to_pylist()[0]
    return InputError(
        "late-event",
        f"event {event['id']} of type {event['type']} ended at {shown(event['end'])} and came "
        f"when everything up to {shown(until)} was decided",
        hint="allow a longer delay, or say what becomes of such events: late='keep' or late='drop'",
    )


def with_reason(late: pa.Table, until: int) -> pa.Table:
    """Late events with the reason why they were not used."""
    return _because(late, f"everything up to {shown(until)} was decided")


def set_aside(job: ShardJob, ahead: pa.Table) -> pa.Table:
    """Events too far ahead of wall-clock time, with that as the reason why they were not used."""
    if job.late == "fail":
        event = ahead.slice(0, 1).to_pylist()[0]
        raise InputError(
            "event-ahead",
            f"event {event['id']} of type {event['type']} ends at {shown(event['end'])}, "
            f"which is more than {job.ahead} ahead of wall-clock time",
            hint="check the clock of its source, allow more with ahead='30d' or ahead='any', "
            "or say what becomes of such events: late='keep' or late='drop'",
        )
    return _because(ahead, f"it is more than {job.ahead} ahead of wall-clock time")


def _because(events: pa.Table, reason: str) -> pa.Table:
    return events.append_column("reason", pa.array([reason] * events.num_rows, pa.string()))


def late_rows(late: pa.Table, schema: pa.Schema) -> pa.Table:
    """Late events as rows of matches without a pattern, each with one constituent; `late` is the reason."""
    count = late.num_rows
    constituents = schema.field("constituents").type
    own = {
        "type": late.column("type").combine_chunks().cast(pa.string()),
        "id": late.column("id").combine_chunks().cast(pa.string()),
        "start": late.column("start" if "start" in late.column_names else "end")
        .cast(MOMENT)
        .combine_chunks(),
        "end": late.column("end").cast(MOMENT).combine_chunks(),
        "path": pa.array([[1]] * count, pa.list_(pa.int32())),
    }
    if "attributes" in late.column_names:
        own["attributes"] = late.column("attributes").combine_chunks()
    fields = list(constituents.value_type)
    parts = [own[f.name].cast(f.type) if f.name in own else pa.nulls(count, f.type) for f in fields]
    rows = {
        **{
            name: late.column(f"key{number}").combine_chunks()
            for number, name in enumerate(keys_among(schema.names))
        },
        "start": own["start"],
        "end": own["end"],
        "constituents": pa.ListArray.from_arrays(
            pa.array(range(count + 1), pa.int32()), pa.StructArray.from_arrays(parts, fields=fields)
        ),
        "late": late.column("reason").combine_chunks(),
    }
    columns = [rows[f.name].cast(f.type) if f.name in rows else pa.nulls(count, f.type) for f in schema]
    return pa.table(columns, schema=schema)


def shown(moment: int) -> str:
    """A time as text."""
    return f"{np.datetime64(moment, 'us')}Z"


def _batch(plan: Plan, events: pa.Table, known: Keys, keys: int) -> Batch:
    """Events as input for the kernels, sorted and with copies numbered as in a table that has all of them."""
    codes, names = np.zeros(events.num_rows, np.int64), Keys((), 1)
    if keys:
        codes, names = numbered(known, list(_key_columns(events, keys)))
    end = numbers(events, "end")
    start = numbers(events, "start") if "start" in events.column_names else end
    ids = events.column("id").combine_chunks()
    order, offsets, _ = total_order(codes, names.size, start, end, ids, given_order(events))
    events = with_copies(events, order, codes, end)
    if "copy" not in events.column_names:
        # The state holds events of several batches in one table, and another batch may have copies.
        events = events.append_column("copy", pa.array(np.zeros(len(order), np.int64)))
    return batch_of(plan, events, order, keys)._replace(by_key=ByKey(offsets, names))


def _oldest(state: State, waiting: pa.Table | None) -> int | None:
    ends = [table.column("end") for table in (state.events, waiting) if table is not None and table.num_rows]
    return min((pc.min(column).as_py() for column in ends), default=None)


def _wakeup(plan: Plan, state: State, waiting: pa.Table | None) -> int | None:
    """The earliest time at which a waiting event ends, a timer runs out or groups expire."""
    moments = [
        kernel_named(one.kind).due(detector, one.content)
        for detector, one in zip(plan.detectors, state.detectors, strict=True)
    ]
    if waiting is not None and waiting.num_rows:
        moments.append(pc.min(waiting.column("end")).as_py())
    earliest = min(moments, default=NEVER)
    return None if earliest >= NEVER else earliest


def _start(plan: Plan, group: PaceGroup) -> Remembered:
    return Remembered(states.initial(plan, in_order=not group.at_once), None)


def remember(memory: Remembered) -> bytes:
    """A memory as bytes: the kind `memory` of `encoding`, a dict of the `state` as in `runtime.state`, and `waiting`.

    `waiting` is an Arrow table of the events that are not decided yet, or None before the first: even an empty table records
    which columns events have.
    """
    value = {"state": states.to_plain(memory.state), "waiting": memory.waiting}
    return encoding.encode(value, kind=_KIND, version=VERSION)


def recall(data: bytes) -> Remembered:
    """The memory that `remember` wrote."""
    value = encoding.decode(data, kind=_KIND, version=VERSION)
    if not isinstance(value, dict) or set(value) != {"state", "waiting"}:
        raise encoding.damaged("a memory has other fields")
    return Remembered(states.from_plain(value["state"]), value["waiting"])
