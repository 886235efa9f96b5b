"""The kernel of the event algebra: runs the operators of one profile over the events of many keys.

Between two events the clock may tick, and time events may be due. Every event, and every tick, is a moment that all
operators are given, inner ones first. A key begins with what it kept; what it keeps in the end is copied behind that of the
key before.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.inlets import (
    absence,
    asked,
    events,
    moments,
    never_so_far,
    numbered,
    periods,
    several,
)
from tocsin.runtime.kernels.pairs.instance_heap import (
    COLLECT,
    COLLECT_LEAVES,
    EXCESS,
    FULL,
    I_LEAF,
    I_LEAVES,
    I_START,
    I_TIME,
    INSTS,
    L_BEGIN,
    L_REF,
    L_ROLE,
    L_TIME,
    LEAF_TOP,
    SUB,
    W_COUNT,
    collect,
    drop,
    entry,
    push,
    put,
    size,
)
from tocsin.runtime.kernels.pairs.kept import AT_KEY, MATCHES, PARTS, carry, load, row_of, save
from tocsin.runtime.kernels.pairs.running import (
    K_BOUND,
    K_BOUND_SUB,
    K_EVENTS,
    K_LATEST,
    K_TICKS,
    M_BEGIN,
    M_BOUND,
    M_BOUND_SUB,
    M_EVENT,
    M_FINAL,
    M_REF,
    M_SIGNATURE,
    M_SUB,
    M_TICK,
    M_TIME,
)
from tocsin.runtime.kernels.pairs.terminators import each_one, terminators
from tocsin.runtime.kernels.pairs.views import one_of, pairs_of_one, pairs_of_views
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.operators import (
    ABSENCE,
    ALL_OF,
    ASKED,
    CLOCK,
    EACH_ONE,
    EVENTS,
    KIND,
    LIST,
    MOMENTS,
    NEVER_SO_FAR,
    NUMBERED,
    ONE_OF,
    OUT,
    PAIRS_OF_ONE,
    PAIRS_OF_VIEWS,
    PERIODS,
    SOME_OF,
    TERMINATORS,
)
from tocsin.runtime.program import Array

DONE, NO_ROOM, TOO_MANY = range(3)
# Columns of a match, then of what stands in it.
F_KEY, F_START, F_END, F_FIRST, F_STOP = range(5)
FOUND_COLUMNS = 5
P_REF, P_ROLE, P_TIME, P_BEGIN = range(4)
PART_COLUMNS = 4


class Rows(NamedTuple):
    """The events that matter, sorted by key and in the total order."""

    offsets: Array  # int64 (keys + 1,)
    end: Array
    start: Array
    ref: Array
    signature: Array
    ticks: Array  # bool (signatures,): whether events with it are ticks


class Output(NamedTuple):
    """What is found."""

    found: Array  # int64 (M, FOUND_COLUMNS)
    parts: Array  # int64 (P, PART_COLUMNS)
    places: Array  # int64 (PLACES,)


@bare
def run(program, running, rows, before, after, output, asks):  # type: ignore[no-untyped-def]
    """Feed the rows of every key, then let time pass to `until`; goes on at key `places[AT_KEY]` if it is called again.

    `program` is the clock and the reach of the profile, `asks` (until, whether a memory is wanted).
    """
    places, heap = output.places, running.heap
    until = asks[0]
    while places[AT_KEY] < len(rows.offsets) - 1:
        key = places[AT_KEY]
        matches, parts = places[MATCHES], places[PARTS]
        kept_row = row_of(before.keys, key)
        first, stop = rows.offsets[key], rows.offsets[key + 1]
        if first == stop and kept_row < 0:
            places[AT_KEY] += 1
            continue
        if first == stop and until < FOREVER and before.keys[kept_row, 4] > until:
            done = not asks[1] or carry(before, after, places, kept_row)
        else:
            load(running, before, kept_row)
            _run_key(program, running, rows, output, key, until)
            if heap.counts[EXCESS]:
                return TOO_MANY
            done = not heap.counts[FULL]
            if done and asks[1]:
                done = save(running, before, after, places, key)
        if not done:
            places[MATCHES], places[PARTS] = matches, parts
            return NO_ROOM
        places[AT_KEY] += 1
    return DONE


# --- one key ------------------------------------------------------------------------------------------------


@bare
def _run_key(program, running, rows, output, key, until):  # type: ignore[no-untyped-def]
    heap, now, moment = running.heap, running.now, running.moment
    own = now[len(now) - 1]
    moment[M_FINAL] = 0
    for row in range(rows.offsets[key], rows.offsets[key + 1]):
        end, signature = rows.end[row], rows.signature[row]
        _tick_until(running, output, key, end - 1)
        own[K_LATEST] = max(own[K_LATEST], end)
        if rows.ticks[signature]:
            _add_tick(heap, end)
            continue
        moment[M_TIME], moment[M_SUB], moment[M_EVENT], moment[M_TICK] = end, own[K_EVENTS], 1, 0
        moment[M_REF], moment[M_BEGIN], moment[M_SIGNATURE] = rows.ref[row], rows.start[row], signature
        own[K_EVENTS] += 1
        _advance(running, end, own[K_EVENTS])
        _report(running, output, key)
        for at in range(len(program.clock)):
            if running.hits[signature, program.clock[at, 0]]:
                _add_tick(heap, end + program.clock[at, 1])
        if heap.counts[FULL] or heap.counts[EXCESS]:
            return
    final = until >= FOREVER
    end = own[K_LATEST] + program.reach if final else until
    _tick_until(running, output, key, end)
    moment[M_EVENT], moment[M_TICK], moment[M_FINAL] = 0, 0, 1 if final else 0
    _advance(running, end + 1, 0)
    _report(running, output, key)


@bare
def _add_tick(heap, time):  # type: ignore[no-untyped-def]
    """Let the clock tick at a time, once."""
    push(heap, CLOCK, -1, time, 0)
    at = size(heap, CLOCK) - 1
    while at > 0 and entry(heap, CLOCK, at - 1, 1) >= time:
        if entry(heap, CLOCK, at - 1, 1) == time:
            for index in range(at + 1, size(heap, CLOCK)):
                put(heap, CLOCK, index - 1, -1, entry(heap, CLOCK, index, 1), 0)
            heap.where[CLOCK, W_COUNT] -= 1
            return
        put(heap, CLOCK, at, -1, entry(heap, CLOCK, at - 1, 1), 0)
        put(heap, CLOCK, at - 1, -1, time, 0)
        at -= 1


@bare
def _tick_until(running, output, key, until):  # type: ignore[no-untyped-def]
    """The ticks up to a time."""
    heap, moment = running.heap, running.moment
    own = running.now[len(running.now) - 1]
    while size(heap, CLOCK) and entry(heap, CLOCK, 0, 1) <= until and not heap.counts[FULL]:
        time = entry(heap, CLOCK, 0, 1)
        drop(heap, CLOCK, 1)
        own[K_TICKS] += 1
        moment[M_TIME], moment[M_SUB], moment[M_EVENT], moment[M_TICK] = (
            time,
            SUB + own[K_TICKS],
            0,
            own[K_TICKS],
        )
        _advance(running, time, SUB + own[K_TICKS] + 1)
        _report(running, output, key)


@bare
def _advance(running, time, sub):  # type: ignore[no-untyped-def]
    """Give the moment to all operators; everything before a place is known after it, and never less than before."""
    nodes, heap, moment = running.nodes, running.heap, running.moment
    own = running.now[len(running.now) - 1]
    if time > own[K_BOUND] or (time == own[K_BOUND] and sub > own[K_BOUND_SUB]):
        own[K_BOUND], own[K_BOUND_SUB] = time, sub
    moment[M_BOUND], moment[M_BOUND_SUB] = own[K_BOUND], own[K_BOUND_SUB]
    if heap.counts[INSTS] >= heap.counts[COLLECT] or heap.counts[LEAF_TOP] >= heap.counts[COLLECT_LEAVES]:
        collect(heap)
    for node in range(len(nodes)):
        kind = nodes[node, KIND]
        if kind == EVENTS:
            events(running, node)
        elif kind == TERMINATORS:
            terminators(running, node)
        elif kind == PAIRS_OF_VIEWS:
            pairs_of_views(running, node)
        else:
            _step(running, node, kind)
        if heap.counts[FULL] or heap.counts[EXCESS]:
            return


@bare
def _step(running, node, kind):  # type: ignore[no-untyped-def]
    if kind == PAIRS_OF_ONE:
        pairs_of_one(running, node)
    elif kind == ONE_OF:
        one_of(running, node)
    elif kind == EACH_ONE:
        each_one(running, node)
    elif kind == ABSENCE:
        absence(running, node)
    elif kind == NUMBERED:
        numbered(running, node)
    elif kind == ASKED:
        asked(running, node)
    elif kind == NEVER_SO_FAR:
        never_so_far(running, node)
    elif kind in (ALL_OF, SOME_OF):
        several(running, node)
    elif kind == MOMENTS:
        moments(running, node)
    elif kind == PERIODS:
        periods(running, node)


@bare
def _report(running, output, key):  # type: ignore[no-untyped-def]
    """Copy what the outermost operator delivered to the output."""
    heap, places = running.heap, output.places
    root = running.nodes[len(running.nodes) - 1, LIST] + OUT
    if heap.counts[FULL] or heap.counts[EXCESS]:
        return
    for index in range(size(heap, root)):
        inst = heap.insts[entry(heap, root, index, 0)]
        count = inst[I_LEAVES]
        if places[MATCHES] == len(output.found) or places[PARTS] + count > len(output.parts):
            heap.counts[FULL] = 1
            return
        found, part = output.found[places[MATCHES]], places[PARTS]
        found[F_KEY], found[F_START], found[F_END], found[F_FIRST], found[F_STOP] = (
            key,
            inst[I_START],
            inst[I_TIME],
            part,
            part + count,
        )
        for offset in range(count):
            leaf, own = heap.leaves[inst[I_LEAF] + offset], output.parts[part + offset]
            own[P_REF], own[P_ROLE], own[P_TIME], own[P_BEGIN] = (
                leaf[L_REF],
                leaf[L_ROLE],
                leaf[L_TIME],
                leaf[L_BEGIN],
            )
        places[MATCHES] += 1
        places[PARTS] += count
