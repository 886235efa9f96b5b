"""Feed events to a plan: the shell around the kernels.

The law: `feed(a + b)` finds what `feed(a)` then `feed(b)` finds, for every cut of a stream in which no event of `b` lies
before the time that `a` was fed until.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.errors import LimitError
from tocsin.runtime import grouped, leftmost
from tocsin.runtime import tokens as kernel
from tocsin.runtime.choose import Waiting, choose, take
from tocsin.runtime.composites import Input, as_input, numbers_of
from tocsin.runtime.counting import Counts, count
from tocsin.runtime.following import state_after
from tocsin.runtime.found import Matches
from tocsin.runtime.grouped import Groups
from tocsin.runtime.interning import Column, Interned
from tocsin.runtime.keys import Keys, numbered
from tocsin.runtime.limits import out_of_memory, too_many_partial_matches
from tocsin.runtime.machine import Unsuitable, machine_of
from tocsin.runtime.ordering import ascend, total_order
from tocsin.runtime.program import Array, Choice, Detector, Plan, Program, Walk
from tocsin.runtime.ranked import Ranks, rank
from tocsin.runtime.signatures import signatures
from tocsin.runtime.state import Composite, Memory, State, Tokens, no_tokens, one_by_one
from tocsin.runtime.walk import (
    EMISSION,
    EVENT,
    EVENT_END,
    EVENT_START,
    FOUND_KEY,
    FOUND_WIDTH,
    ROLE,
    Walks,
    walk,
)

FOREVER = int(kernel.NEVER) - 1
MAX_TOKENS = 5_000_000  # some 250 bytes each


class ByKey(NamedTuple):
    """Where the rows of each key begin, and what the keys are: first come those of the state."""

    offsets: Array  # int64 (keys+1,)
    keys: Keys


class Batch(NamedTuple):
    """Events to feed, in any order. `events` is what matches report; the rest is what detection looks at."""

    events: pa.Table  # any columns
    keys: list[Column]  # key columns, none for one stream of all events
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ids: pa.Array | Array | None  # what breaks ties of time; None for the order of the rows
    bits: Array  # uint64 (R, words), or (signatures, words) if there are any
    values: list[Column]  # one column for each of the plan's `columns`
    ordered: bool = False  # the rows are sorted by key and in the total order already
    signatures: Array | None = None  # int32 (R,): which row of `bits` an event has
    by_key: ByKey | None = None  # if it is known; the rows are sorted then
    begins: Mapping[int, Array] | None = None  # the first row of each key that some detectors look at


class Result(NamedTuple):
    """What a batch led to. `matches` has an entry for each detector, in the order of the plan."""

    matches: tuple[Matches, ...]
    events: pa.Table  # what the refs of primitive events point to
    composites: tuple[Composite, ...]
    keys: Keys
    values: list[Any]
    state: State | None


class _Primitive(NamedTuple):
    """The primitive events of a batch."""

    events: grouped.Events
    values: Array


def feed(
    plan: Plan, state: State, batch: Batch, until: int, *, keep: bool = True, limit: int = MAX_TOKENS
) -> Result:
    """Feed a batch and let time go on until `until`; every event up to then must have been given.

    `keep=False` skips building the state that follows, for a last batch.
    """
    batch, (offsets, keys) = _by_key(batch, state.keys)
    kept = 0 if state.events is None else state.events.num_rows
    interned = Interned()
    for value in state.values:
        interned.number(value)
    columns = [interned.column(column) for column in batch.values]
    values = np.stack(columns, axis=1) if columns else np.empty((len(batch.end), 0), np.int32)
    primitive = _Primitive(_events(batch, offsets, kept), values)
    events = batch.events
    if state.events is not None:
        events = pa.concat_tables([fitting(state.events, events.schema), events])
    composites = list(state.composites)
    found: list[Matches] = []
    after: list[Memory] = []
    produced: dict[int, Input] = {}
    read_by_others = {number for detector in plan.detectors for number in detector.inputs}
    for number, detector in enumerate(plan.detectors):
        before, own = state.detectors[number], _own(primitive, batch.begins, number)
        step: tuple[Matches, Memory] | None = None
        if isinstance(before, Walks):
            step = _walk(detector, before, own.events)
        elif not isinstance(before, Tokens):
            step = _together(detector, before, own.events, until, keep, interned, limit, keys)
            before = before if step else _alone(detector, before)
        if step is None:
            assert isinstance(before, Tokens)
            rows = _rows_for(detector, own, [produced[i] for i in detector.inputs])
            numbers = numbers_of(detector, composites)
            step = _run(detector, before, rows, numbers, interned, until, limit, keys)
        matches, then = step
        found.append(matches)
        after.append(then)
        if number in read_by_others:
            produced[number] = as_input(plan, number, matches, composites, interned)
    following = state_after(plan, keys, interned.values, events, composites, after) if keep else None
    return Result(tuple(found), events, tuple(composites), keys, interned.values, following)


def fitting(kept: pa.Table, schema: pa.Schema) -> pa.Table:
    """Events that were kept, in the schema of those that come; other patterns may ask for other columns."""
    if kept.schema == schema:
        return kept
    there = set(kept.column_names)
    columns = [
        kept.column(field.name).cast(field.type)
        if field.name in there
        else pa.nulls(kept.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _sorted(batch: Batch, order: Array) -> Batch:
    def column(values: Column) -> Column:
        return (
            [values[row] for row in order.tolist()]
            if isinstance(values, list)
            else values.take(pa.array(order))
        )

    return batch._replace(
        events=batch.events.take(pa.array(order)),
        start=batch.start[order],
        end=batch.end[order],
        bits=batch.bits[order] if batch.signatures is None else batch.bits,
        signatures=None if batch.signatures is None else batch.signatures[order],
        values=[column(values) for values in batch.values],
    )


def _by_key(batch: Batch, known: Keys) -> tuple[Batch, ByKey]:
    """The batch sorted by key and in the total order, and where each key begins; known keys keep their numbers."""
    if batch.by_key is not None:
        return batch, batch.by_key
    if batch.ordered and not known.size and (found := _runs(batch.keys)) is not None:
        return batch, found
    codes, keys = np.zeros(len(batch.end), np.int64), Keys((), 1)
    if batch.keys:
        codes, keys = numbered(known, batch.keys)
    elif batch.ordered:
        return batch, ByKey(np.array([0, len(codes)]), keys)
    if batch.ordered and ascend(codes):
        return batch, ByKey(np.searchsorted(codes, np.arange(keys.size + 1)), keys)
    order, offsets, _ = total_order(codes, keys.size, batch.start, batch.end, batch.ids)
    return _sorted(batch, order), ByKey(offsets, keys)


def _runs(columns: list[Column]) -> ByKey | None:
    """The same for rows that are sorted by a key of whole numbers, without a number for each; None for others."""
    column = columns[0] if columns else None
    if len(columns) != 1 or not isinstance(column, pa.Array) or not len(column):
        return None
    if not pa.types.is_integer(column.type) or column.null_count:
        return None
    values = column.to_numpy()
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    distinct = values[starts]
    if len(np.unique(distinct)) < len(distinct):
        return None
    return ByKey(np.append(starts, len(values)), Keys((pa.array(distinct, column.type),), len(distinct)))


def _events(batch: Batch, offsets: Array, kept: int) -> grouped.Events:
    which, bits = signatures(batch.bits) if batch.signatures is None else (batch.signatures, batch.bits)
    refs = np.arange(kept, kept + len(which))
    return grouped.Events(offsets, batch.start, batch.end, refs, which, bits)


def _own(primitive: _Primitive, begins: Mapping[int, Array] | None, detector: int) -> _Primitive:
    """The events that a detector looks at."""
    if begins is None or detector not in begins:
        return primitive
    events, first = primitive.events, begins[detector]
    key = np.repeat(np.arange(len(first)), np.diff(events.offsets))
    inside = np.arange(len(key)) >= first[key]
    lengths = events.offsets[1:] - np.clip(first, events.offsets[:-1], events.offsets[1:])
    return _Primitive(
        events._replace(
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            start=events.start[inside],
            end=events.end[inside],
            ref=events.ref[inside],
            signature=events.signature[inside],
        ),
        primitive.values[inside],
    )


def _together(
    detector: Detector,
    before: Groups | Counts | Ranks,
    events: grouped.Events,
    until: int,
    keep: bool,
    interned: Interned,
    limit: int,
    keys: Keys,
) -> tuple[Matches, Memory] | None:
    """Let groups of partial matches go on; None where each must go its own way."""
    program, choice = detector.program, detector.choice
    assert isinstance(program, Program)
    machine = machine_of(program, choice)
    try:
        if machine is None or grouped.behind(before.fed, events):
            raise Unsuitable
        tables, letters = grouped.tables_for(machine, program, choice, before.known, events)
    except Unsuitable:
        if not isinstance(before, Groups) and len(before.keys):
            raise LimitError(
                "cannot-go-back",
                f"an event comes before others that are counted or ranked already (take = {choice.take})",
                hint="give events in the order of their ends, or take = all, which also works as they arrive",
            ) from None
        return None
    if isinstance(before, Counts):
        return count(before, tables, letters, events, until, keep, interned)
    if isinstance(before, Ranks):
        return rank(choice, before, tables, letters, events, until, keep, limit, keys)
    stages = None
    if choice.matches == "leftmost" and not keep and not len(before.keys):
        stages = leftmost.stages_of(tables)
    found = None if stages is None else leftmost.find(tables, stages, letters, events)
    if found is not None:
        return take(detector, found, interned), grouped.no_groups()
    matches, after = grouped.run(choice, before, tables, letters, events, until, keep, limit, keys)
    return take(detector, matches, interned), after


def _alone(detector: Detector, before: Groups | Counts | Ranks) -> Tokens:
    """Each partial match by itself. Counts and ranks have none yet when this is asked of them."""
    assert isinstance(detector.program, Program)
    return one_by_one(detector.program, before) if isinstance(before, Groups) else no_tokens(detector.program)


def _rows_for(detector: Detector, primitive: _Primitive, composites: list[Input]) -> Input:
    """The rows a detector can use: primitive events of its domain, and the composites it reads, in the total order."""
    events = primitive.events
    domain = np.bitwise_or.reduce(detector.program.domain, axis=0)
    mask = (events.bits & domain).any(axis=1)[events.signature]
    keys = np.repeat(np.arange(len(events.offsets) - 1), np.diff(events.offsets))
    own = Input(
        keys[mask],
        events.start[mask],
        events.end[mask],
        events.bits[events.signature[mask]],
        primitive.values[mask],
        events.ref[mask],
    )
    if not composites:
        return own
    parts = [*composites, own]
    joined = Input(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    # Composites come before primitive events of equal time, those of the first input first.
    rank = np.repeat(np.arange(len(parts)), [len(part.key) for part in parts])
    order = np.lexsort((np.arange(len(rank)), rank, joined.start, joined.end, joined.key))
    return Input(*(column[order] for column in joined))


def _run(
    detector: Detector,
    before: Tokens,
    rows: Input,
    composites: Array,
    interned: Interned,
    until: int,
    limit: int,
    keys: Keys,
) -> tuple[Matches, Tokens]:
    program = detector.program
    assert isinstance(program, Program)
    where = kernel.layout(program)
    waiting = len(before.rows)
    pool = np.full((max(64, 2 * waiting), where[kernel.WIDTH]), -1, np.int64)
    pool[:waiting] = before.rows
    free = np.arange(len(pool) - 1, -1, -1, dtype=np.int64)
    nodes = np.zeros((max(64, 2 * len(before.nodes)), kernel.NODE_WIDTH), np.int64)
    nodes[: len(before.nodes)] = before.nodes
    found = np.empty((64, kernel.MATCH_WIDTH + program.variables), np.int64)
    counts = np.zeros(kernel.COUNTERS, np.int64)
    counts[kernel.FREE] = len(pool) - waiting
    counts[kernel.NODES] = len(before.nodes)
    alive = np.full(keys.size, -1, np.int64)
    for key, mask in before.alive.items():
        alive[key] = mask
    numbers = np.arange(keys.size + 1)
    events = kernel.Rows(
        np.searchsorted(rows.key, numbers), rows.start, rows.end, rows.bits, rows.values, rows.ref
    )
    token_offsets = np.searchsorted(before.rows[:, kernel.KEY], numbers)
    try:
        pool, nodes, found = kernel.run(
            program,
            events,
            interned.arrays(),
            where,
            pool,
            free,
            nodes,
            found,
            counts,
            token_offsets,
            alive,
            until,
            limit,
        )
    except MemoryError:
        raise out_of_memory(int(counts[kernel.MATCHES]), int(counts[kernel.LIVE])) from None
    if counts[kernel.OVERFLOW]:
        raise too_many_partial_matches(limit, keys.value(int(counts[kernel.OVERFLOW]) - 1))
    matches = _matches(nodes, found[: counts[kernel.MATCHES]])
    waiting = pool[pool[:, kernel.STATE] >= 0]
    held = before.held
    if detector.choice != Choice():
        chosen = choose(
            detector, matches, held, _waiting(waiting, nodes), composites, interned, until >= FOREVER
        )
        matches, held, waiting = chosen.matches, chosen.held, waiting[chosen.alive]
    return matches, _tokens(waiting, nodes, int(counts[kernel.NODES]), alive, held)


def _walk(detector: Detector, before: Walks, events: grouped.Events) -> tuple[Matches, Walks]:
    program = detector.program
    assert isinstance(program, Walk)
    found, after = walk(program, before, events)
    event = found[:, EVENT]
    used, starts = found[:, FOUND_WIDTH::2], found[:, FOUND_WIDTH + 1 :: 2]
    named = np.full((len(detector.emissions), used.shape[1]), -1, np.int64)
    for number, emission in enumerate(detector.emissions):
        named[number, : len(emission.roles)] = [detector.roles.index(role) for role in emission.roles]
    # The events in registers first, each in its place, then the event itself, unless it is one of them.
    refs = np.concatenate([np.where(used == event[:, None], -1, used), event[:, None]], axis=1)
    names = np.concatenate([named[found[:, EMISSION]], found[:, [ROLE]]], axis=1)
    there = refs >= 0
    never = np.iinfo(np.int64).max
    earliest = np.where(used >= 0, starts, never).min(axis=1, initial=never)
    return Matches(
        found[:, FOUND_KEY].copy(),
        np.minimum(earliest, found[:, EVENT_START]),
        found[:, EVENT_END].copy(),
        np.empty((len(found), 0), np.int64),
        np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64),
        refs[there],
        names[there],
        np.repeat(found[:, EVENT_END], there.sum(axis=1)),
        np.repeat(found[:, EVENT_START], there.sum(axis=1)),
        found[:, EMISSION].copy(),
    ), after


def _matches(nodes: Array, found: Array) -> Matches:
    ends = np.ascontiguousarray(found[:, kernel.MATCH_NODE])
    offsets, refs, roles, times, begins = kernel.unroll(nodes, ends)
    return Matches(
        found[:, kernel.MATCH_KEY].copy(),
        nodes[ends, kernel.START],
        nodes[ends, kernel.TIME],
        found[:, kernel.MATCH_WIDTH :].copy(),
        offsets,
        refs,
        roles,
        times,
        begins,
    )


def _waiting(rows: Array, nodes: Array) -> Waiting:
    first = nodes[kernel.first_of(nodes, np.ascontiguousarray(rows[:, kernel.NODE]))]
    columns = (kernel.REF, kernel.ROLE, kernel.TIME, kernel.BEGIN)
    return Waiting(rows[:, kernel.KEY], *(first[:, column] for column in columns))


def _tokens(rows: Array, nodes: Array, count: int, alive: Array, held: Matches) -> Tokens:
    """The tokens that still wait, and only the nodes they need."""
    rows, kept = kernel.compacted(rows, nodes, count)
    return Tokens(rows, kept, {int(key): int(alive[key]) for key in np.flatnonzero(alive != -1)}, held)
