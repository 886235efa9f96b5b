"""What Spark calls in the workers of a stream: the events of some keys come in pieces, and matches go out as time passes.

A *shard* is a group of keys. It remembers the state of detection, how far time has come, and the events that wait
because earlier ones may still arrive. The columns that travel are those of `runtime.partition`, packed as Arrow bytes, so
that Spark moves few large values, changes no types, and does not judge for itself which events are late.
"""

from __future__ import annotations

import hashlib
import pickle
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tocsin.errors import InputError
from tocsin.runtime import state as states
from tocsin.runtime import tokens as kernel
from tocsin.runtime.feed import Batch, feed
from tocsin.runtime.matches import to_arrow
from tocsin.runtime.ordering import encode_keys, total_order
from tocsin.runtime.pack import from_ipc, to_ipc
from tocsin.runtime.partition import Job, batch_of, numbers, with_copies
from tocsin.runtime.program import Array, Plan, Program, from_bytes
from tocsin.runtime.state import State, Tokens

LONG_AGO = int(kernel.LONG_AGO)


class ShardJob(NamedTuple):
    """What a worker is told: the job as for a table, the number of shards, and what to do with late events."""

    batch: Job
    shards: int
    late: str  # "fail" or "drop"


class Advance(NamedTuple):
    """What came of a piece of a stream. `wakeup` is when something is due next even if nothing arrives, if ever."""

    memory: bytes
    matches: pa.Table
    wakeup: int | None


class _Memory(NamedTuple):
    until: int  # what ended by then is decided
    state: State
    waiting: pa.Table | None  # events that ended later


def advance(job: ShardJob, memory: bytes | None, arrived: pa.Table | None, watermark: int) -> Advance:
    """Take in the events that arrived, in any order, and let time go on until `watermark`.

    Args:
        memory: what the last call gave; None for the first.
        watermark: no event that ended by then is still to come, and one that comes all the same is late. Never goes back.
    """
    plan = from_bytes(job.batch.plan)
    schema = pa.ipc.read_schema(pa.py_buffer(job.batch.schema))
    purpose = _purpose(job, plan)
    until, state, waiting = _start(plan) if memory is None else _recall(memory, purpose)
    if arrived is not None:
        arrived = _in_time(arrived, until, job.late)
        waiting = arrived if waiting is None else pa.concat_tables([waiting, arrived])
    found = schema.empty_table()
    if waiting is not None and watermark > until:
        due = pc.less_equal(waiting.column("end"), watermark)
        batch = _batch(plan, waiting.filter(due), job.batch.keys)
        result = feed(plan, state, batch, watermark, limit=job.batch.limit)
        assert result.state is not None
        until, state, waiting = watermark, result.state, waiting.filter(pc.invert(due))
        found = pa.concat_tables(
            to_arrow(plan, result, number, schema) for number in range(len(plan.outputs))
        )
    kept = _remember(_Memory(until, state, waiting), purpose)
    return Advance(kept, found, _wakeup(plan, state, waiting))


def _in_time(arrived: pa.Table, until: int, late: str) -> pa.Table:
    """The events that can still be used."""
    in_time = pc.greater(arrived.column("end"), until)
    if late == "fail" and (too_late := arrived.filter(pc.invert(in_time))).num_rows:
        event = too_late.slice(0, 1).to_pylist()[0]
        raise InputError(
            "late-event",
            f"event {event['id']} of type {event['type']} ended at {_shown(event['end'])} and came "
            f"when everything up to {_shown(until)} was decided",
            hint="allow a longer delay, or leave such events out with late='drop'",
        )
    return arrived.filter(in_time)


def _shown(moment: int) -> str:
    return f"{np.datetime64(moment, 'us')}Z"


def _batch(plan: Plan, events: pa.Table, keys: int) -> Batch:
    """Events as the kernels take them, sorted and told apart as in a table that has all of them."""
    codes, count = np.zeros(events.num_rows, np.int64), 1
    if keys:
        codes, distinct = encode_keys([events.column(f"key{i}").combine_chunks() for i in range(keys)])
        count = len(distinct)
    end = numbers(events, "end")
    order, _ = total_order(codes, count, numbers(events, "start"), end, events.column("id").combine_chunks())
    events = with_copies(events, order, codes, end)
    if "copy" not in events.column_names:
        # The state keeps events of several batches in one table, and another batch may have copies.
        events = events.append_column("copy", pa.array(np.zeros(len(order), np.int64)))
    return batch_of(plan, events, order, keys)


def _wakeup(plan: Plan, state: State, waiting: pa.Table | None) -> int | None:
    """The earliest end of an event that waits, or moment at which a timer of a partial match runs out."""
    moments = [
        int(_timers(detector.program, one).min(initial=kernel.NEVER))
        for detector, one in zip(plan.detectors, state.detectors, strict=True)
        if isinstance(detector.program, Program) and isinstance(one, Tokens)
    ]
    if waiting is not None and waiting.num_rows:
        moments.append(pc.min(waiting.column("end")).as_py())
    earliest = min(moments, default=int(kernel.NEVER))
    return None if earliest == kernel.NEVER else earliest


def _timers(program: Program, tokens: Tokens) -> Array:
    where = kernel.layout(program)
    return tokens.rows[:, where[kernel.TIMER_AT] : where[kernel.TIMER_AT] + where[kernel.TIMERS]]


def _purpose(job: ShardJob, plan: Plan) -> bytes:
    """What a memory is for: it means nothing to other patterns, and with other shards a key is elsewhere."""
    patterns = [output.fingerprint for output in plan.outputs]
    digest = hashlib.blake2b(job.batch.schema, digest_size=16)
    digest.update(repr((job.shards, job.batch.keys, patterns)).encode())
    return digest.digest()


def _start(plan: Plan) -> _Memory:
    return _Memory(LONG_AGO, states.initial(plan), None)


def _remember(memory: _Memory, purpose: bytes) -> bytes:
    waiting = None if memory.waiting is None else to_ipc(memory.waiting)
    return pickle.dumps((purpose, memory.until, states.to_bytes(memory.state), waiting), protocol=5)


def _recall(data: bytes, purpose: bytes) -> _Memory:
    made_for, until, state, waiting = pickle.loads(data)
    if made_for != purpose:
        raise InputError(
            "other-checkpoint",
            "this checkpoint is of other patterns, other columns or another number of shards",
            hint="go back to what it was made with, or start from a fresh checkpoint",
        )
    return _Memory(until, states.from_bytes(state), None if waiting is None else from_ipc(waiting))
