"""Feed events to a plan: the shell around the kernels.

The law: `feed(a + b)` finds what `feed(a)` then `feed(b)` finds, for every cut of a stream in which no event of `b` lies
before the time that `a` was fed until.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.errors import LimitError
from tocsin.runtime import tokens as kernel
from tocsin.runtime.conditions import truth
from tocsin.runtime.following import state_after
from tocsin.runtime.interning import Column, Interned
from tocsin.runtime.ordering import encode_keys, total_order
from tocsin.runtime.program import Array, Detector, Plan, Program, Walk
from tocsin.runtime.state import Composite, State, Tokens
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
from tocsin.values import Value

FOREVER = int(kernel.NEVER) - 1
MAX_TOKENS = 20_000_000


class Batch(NamedTuple):
    """Events to feed, in any order. `events` is what matches report; the rest is what detection looks at."""

    events: pa.Table  # any columns
    keys: list[Column]  # key columns, none for one stream of all events
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    ids: pa.Array | Array | None  # what breaks ties of time; None for the order of the rows
    bits: Array  # uint64 (R, words)
    values: list[Column]  # one column for each of the plan's `columns`
    ordered: bool = False  # the rows are sorted by key and in the total order already


class Matches(NamedTuple):
    """What one detector found. Constituents of match `i` are those from `offsets[i]` to `offsets[i+1]`."""

    key: Array  # int64, into the keys of the result
    start: Array  # int64
    end: Array  # int64
    variables: Array  # int64 (matches, variables), numbers of values
    offsets: Array  # int64
    refs: Array  # int64
    roles: Array  # int64
    times: Array  # int64
    emissions: Array | None = None  # int64: which emission of the detector it is, in the completion family


class Result(NamedTuple):
    """What a batch led to. `matches` has an entry for each detector, in the order of the plan."""

    matches: tuple[Matches, ...]
    events: pa.Table  # what the refs of primitive events point to
    composites: tuple[Composite, ...]
    keys: list[tuple[Any, ...]]
    values: list[Any]
    state: State | None


class _Input(NamedTuple):
    """Rows for one detector, sorted by key and total order."""

    key: Array
    start: Array
    end: Array
    bits: Array
    values: Array
    ref: Array


def feed(
    plan: Plan, state: State, batch: Batch, until: int, *, keep: bool = True, limit: int = MAX_TOKENS
) -> Result:
    """Feed a batch and let time go on until `until`; every event up to then must have been given.

    `keep=False` skips building the state that follows, for a last batch.
    """
    keys = list(state.keys)
    codes = _key_codes(batch, keys)
    if not batch.ordered or (np.diff(codes) < 0).any():
        order, _ = total_order(codes, len(keys), batch.start, batch.end, batch.ids)
        batch, codes = _sorted(batch, order), codes[order]
    kept = 0 if state.events is None else state.events.num_rows
    interned = Interned()
    for value in state.values:
        interned.number(value)
    columns = [interned.column(column) for column in batch.values]
    values = np.stack(columns, axis=1) if columns else np.empty((len(codes), 0), np.int32)
    primitive = _Input(codes, batch.start, batch.end, batch.bits, values, kept + np.arange(len(codes)))
    events = batch.events
    if state.events is not None:
        events = pa.concat_tables([state.events, events.cast(state.events.schema)])
    composites = list(state.composites)
    found: list[Matches] = []
    after: list[Tokens | Walks] = []
    produced: dict[int, _Input] = {}
    read_by_others = {number for detector in plan.detectors for number in detector.inputs}
    for number, detector in enumerate(plan.detectors):
        rows = _rows_for(plan, detector, primitive, [produced[i] for i in detector.inputs])
        before = state.detectors[number]
        then: Tokens | Walks
        if isinstance(before, Walks):
            matches, then = _walk(detector, before, rows, len(keys))
        else:
            matches, then = _run(detector, before, rows, len(keys), interned, until, limit, keys)
        found.append(matches)
        after.append(then)
        if number in read_by_others:
            produced[number] = _as_input(plan, number, matches, composites, interned)
    following = state_after(plan, keys, interned, events, composites, after) if keep else None
    return Result(tuple(found), events, tuple(composites), keys, interned.values, following)


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
        bits=batch.bits[order],
        values=[column(values) for values in batch.values],
    )


def _key_codes(batch: Batch, keys: list[tuple[Any, ...]]) -> Array:
    """A number for each row's key; keys not seen before are added to `keys`."""
    if not batch.keys:
        if not keys:
            keys.append(())
        return np.zeros(len(batch.start), np.int64)
    codes, distinct = encode_keys(batch.keys)
    if not keys:
        keys += distinct
        return codes
    known = {key: number for number, key in enumerate(keys)}
    numbers = np.empty(len(distinct), np.int64)
    for own, key in enumerate(distinct):
        if key not in known:
            known[key] = len(keys)
            keys.append(key)
        numbers[own] = known[key]
    return numbers[codes]


def _rows_for(plan: Plan, detector: Detector, primitive: _Input, composites: list[_Input]) -> _Input:
    """The rows a detector can use: primitive events of its domain, and the composites it reads, in the total order."""
    domain = np.bitwise_or.reduce(detector.program.domain, axis=0)
    mask = (primitive.bits & domain).any(axis=1)
    own = primitive if mask.all() else _Input(*(column[mask] for column in primitive))
    if not composites:
        return own
    parts = [*composites, own]
    joined = _Input(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    # Composites come before primitive events of equal time, those of the first input first.
    rank = np.repeat(np.arange(len(parts)), [len(part.key) for part in parts])
    order = np.lexsort((np.arange(len(rank)), rank, joined.start, joined.end, joined.key))
    return _Input(*(column[order] for column in joined))


def _run(
    detector: Detector,
    before: Tokens,
    rows: _Input,
    keys: int,
    interned: Interned,
    until: int,
    limit: int,
    keys_of: list[tuple[Any, ...]],
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
    alive = np.full(keys, -1, np.int64)
    for key, mask in before.alive.items():
        alive[key] = mask
    numbers = np.arange(keys + 1)
    events = kernel.Rows(
        np.searchsorted(rows.key, numbers), rows.start, rows.end, rows.bits, rows.values, rows.ref
    )
    token_offsets = np.searchsorted(before.rows[:, kernel.KEY], numbers)
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
    if counts[kernel.OVERFLOW]:
        key_values = keys_of[int(counts[kernel.OVERFLOW]) - 1]
        shown = ", ".join(map(repr, key_values)) if key_values else "the whole stream"
        raise LimitError(
            "too-many-partial-matches",
            f"more than {limit:,} partial matches wait at once (key: {shown})",
            hint="bound the pattern by a timer, as in ([A], [B])_{T1=1h}, or choose a finer key",
        )
    matches = _matches(nodes, found[: counts[kernel.MATCHES]])
    return matches, _tokens(pool, nodes, int(counts[kernel.NODES]), alive)


def _walk(detector: Detector, before: Walks, rows: _Input, keys: int) -> tuple[Matches, Walks]:
    program = detector.program
    assert isinstance(program, Walk)
    found, after = walk(program, before, keys, rows.key, rows.bits, rows.ref, rows.start, rows.end)
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
        found[:, EMISSION].copy(),
    ), after


def _matches(nodes: Array, found: Array) -> Matches:
    ends = np.ascontiguousarray(found[:, kernel.MATCH_NODE])
    offsets, refs, roles, times = kernel.unroll(nodes, ends)
    return Matches(
        found[:, kernel.MATCH_KEY].copy(),
        nodes[ends, kernel.START],
        nodes[ends, kernel.TIME],
        found[:, kernel.MATCH_WIDTH :].copy(),
        offsets,
        refs,
        roles,
        times,
    )


def _tokens(pool: Array, nodes: Array, count: int, alive: Array) -> Tokens:
    """The tokens that still wait, and only the nodes they need."""
    rows = pool[pool[:, kernel.STATE] >= 0]
    rows = rows[np.argsort(rows[:, kernel.KEY], kind="stable")]
    keep = kernel.reachable(nodes, np.ascontiguousarray(rows[:, kernel.NODE]), count)
    place = np.cumsum(keep) - 1
    kept = nodes[:count][keep]
    rows[:, kernel.NODE] = place[rows[:, kernel.NODE]]
    for column in (kernel.PARENT, kernel.CANON):
        kept[:, column] = place[kept[:, column]]
    # Which tokens, children and matches a node has matters only within one batch.
    kept[:, [kernel.CHILD, kernel.SIBLING, kernel.TOKENS]] = -1
    kept[:, kernel.EMITTED] = 0
    return Tokens(rows, kept, {int(key): int(alive[key]) for key in np.flatnonzero(alive != -1)})


def _as_input(
    plan: Plan, number: int, matches: Matches, composites: list[Composite], interned: Interned
) -> _Input:
    """The matches of a detector as input rows of others, told apart by the order of their events where times are equal."""
    first = len(composites)
    for i in range(len(matches.key)):
        part = slice(int(matches.offsets[i]), int(matches.offsets[i + 1]))
        composites.append(
            Composite(
                number,
                tuple(matches.refs[part].tolist()),
                tuple(matches.roles[part].tolist()),
                tuple(matches.times[part].tolist()),
                tuple(matches.variables[i].tolist()),
                int(matches.start[i]),
                int(matches.end[i]),
            )
        )
    order = sorted(range(len(matches.key)), key=lambda i: _leaf_order(plan, composites, first + i))
    names = plan.detectors[number].variable_names
    bits = np.zeros((len(order), plan.words), np.uint64)
    values = np.full((len(order), len(plan.columns)), -1, np.int32)
    for row, i in enumerate(order):
        bound = {name: n for name, n in zip(names, composites[first + i].variables, strict=True) if n >= 0}
        for column, name in enumerate(plan.columns):
            values[row, column] = bound.get(name, -1)
        for test in plan.composite_tests:
            if (
                test.detector == number
                and truth(test.condition, partial(_variable, bound, interned)) is test.truth
            ):
                bits[row, test.bit >> 6] |= np.uint64(1) << np.uint64(test.bit & 63)
    chosen = np.array(order, np.int64)
    return _Input(
        matches.key[chosen], matches.start[chosen], matches.end[chosen], bits, values, -2 - (first + chosen)
    )


def _variable(bound: dict[str, int], interned: Interned, operand: tuple[Any, ...]) -> list[Value]:
    """The value of a composite's attribute, which is one of its variables."""
    return [interned.values[bound[operand[1]]] if operand[1] in bound else None]


def _leaf_order(
    plan: Plan, composites: list[Composite], number: int
) -> tuple[list[tuple[int, int, str]], list[tuple[int, ...]]]:
    """Where the events of a composite are in the total order, and then where they stand in the composite."""
    leaves = list(_leaves(plan, composites, number, ()))
    return [place for place, _ in leaves], [path for _, path in leaves]


def _leaves(
    plan: Plan, composites: list[Composite], number: int, inside: tuple[int, ...]
) -> Iterator[tuple[tuple[int, int, str], tuple[int, ...]]]:
    """Primitive events by their place in the total order (their ref), timers after the events of their moment."""
    composite = composites[number]
    names = plan.detectors[composite.detector].timer_names
    for place, (ref, role, time) in enumerate(
        zip(composite.refs, composite.roles, composite.times, strict=True)
    ):
        path = (*inside, place)
        if ref <= -2:
            yield from _leaves(plan, composites, -2 - ref, path)
        else:
            yield ((time, 1 << 62, names[-1 - role]) if role < 0 else (time, ref, "")), path
