"""The kernel of the event algebra: runs the operators of one profile over the events of many keys.

Between two events the clock may tick, and time events may be due. Every event, and every tick, is a moment that all
operators are given, inner ones first. A key begins with what it kept; what it keeps in the end is copied behind that of the
key before.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.heap import (
    COLLECT,
    COLLECT_LEAVES,
    EXCESS,
    FULL,
    I_LEAF,
    I_LEAVES,
    I_START,
    I_TIME,
    INSTS,
    ITEMS,
    L_BEGIN,
    L_REF,
    L_ROLE,
    L_TIME,
    LEAF_TOP,
    STAMP,
    SUB,
    W_AT,
    W_BLOCK,
    W_COUNT,
    W_SIZE,
    clear,
    collect,
    drop,
    entry,
    push,
    put,
    size,
)
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
    N_COUNT,
)
from tocsin.runtime.kernels.pairs.terminators import each_one, terminators
from tocsin.runtime.kernels.pairs.views import expires, one_of, pairs_of_one, pairs_of_views
from tocsin.runtime.moments import FOREVER, LONG_AGO, NEVER
from tocsin.runtime.operators import (
    ABSENCE,
    ALL_OF,
    ASKED,
    AVAILABLE,
    CHILD,
    CHILD_STOP,
    CHOSEN,
    CLOCK,
    DELAY,
    DUE,
    EACH_ONE,
    EARLIER,
    EVENTS,
    KEEPS,
    KIND,
    LENGTH,
    LIST,
    MOMENTS,
    NEVER_SO_FAR,
    NUMBERED,
    ONE_OF,
    OPERANDS,
    OUT,
    OUT_DELETED,
    PAIRS_OF_ONE,
    PAIRS_OF_VIEWS,
    PER_OPERAND,
    PERIODS,
    RUNNING,
    SOME_OF,
    TERMINATORS,
    TIMES,
    UNIQUE,
)
from tocsin.runtime.program import Array

DONE, NO_ROOM, TOO_MANY = range(3)
# Columns of a match, then of what stands in it.
F_KEY, F_START, F_END, F_FIRST, F_STOP = range(5)
FOUND_COLUMNS = 5
P_REF, P_ROLE, P_TIME, P_BEGIN = range(4)
PART_COLUMNS = 4
# Where the output arrays end.
AT_KEY, MATCHES, PARTS, KEPT_ITEMS, KEPT_INSTS, KEPT_LEAVES, KEPT_KEYS = range(7)
PLACES = 7


class Rows(NamedTuple):
    """The events that matter, sorted by key and in the total order."""

    offsets: Array  # int64 (keys + 1,)
    end: Array
    start: Array
    ref: Array
    signature: Array
    ticks: Array  # bool (signatures,): whether events with it are ticks


class Kept(NamedTuple):
    """What keys keep: for each its rows of the other arrays begin where the row before ends."""

    keys: Array  # int64 (K, 5): key; items, instances and leaves up to; when it is due
    now: Array  # int64 (K, (N + 1) * NOW_COLUMNS)
    sizes: Array  # int64 (K, L): entries of each list
    items: Array  # int64
    insts: Array  # int64 (I, INST_COLUMNS)
    leaves: Array  # int64 (V, LEAF_COLUMNS)


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
        kept_row = _row_of(before.keys, key)
        first, stop = rows.offsets[key], rows.offsets[key + 1]
        if first == stop and kept_row < 0:
            places[AT_KEY] += 1
            continue
        if first == stop and until < FOREVER and before.keys[kept_row, 4] > until:
            done = not asks[1] or _carry(before, after, places, kept_row)
        else:
            _load(running, before, kept_row)
            _run_key(program, running, rows, output, key, until)
            if heap.counts[EXCESS]:
                return TOO_MANY
            done = not heap.counts[FULL]
            if done and asks[1]:
                done = _save(running, before, after, places, key)
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


# --- what a key keeps ---------------------------------------------------------------------------------------


@bare
def _row_of(keys, key):  # type: ignore[no-untyped-def]
    """The row of a key among the sorted ones; -1 if there is none."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle, 0] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(keys) and keys[low, 0] == key else -1


@bare
def _copy_row(source, row, target, to):  # type: ignore[no-untyped-def]
    for column in range(source.shape[1]):
        target[to, column] = source[row, column]


@bare
def _load(running, before, row):  # type: ignore[no-untyped-def]
    """Begin with what a key kept, or with nothing."""
    heap, now = running.heap, running.now
    where, counts = heap.where, heap.counts
    where[:] = 0
    now[:] = 0
    now[len(now) - 1, K_LATEST] = now[len(now) - 1, K_BOUND] = LONG_AGO
    counts[ITEMS], counts[INSTS], counts[LEAF_TOP], counts[FULL], counts[STAMP] = 0, 0, 0, 0, 0
    if row >= 0:
        columns = now.shape[1]
        for at in range(before.now.shape[1]):
            now[at // columns, at % columns] = before.now[row, at]
        insts, inst = (before.keys[row - 1, 2], before.keys[row, 2]) if row else (0, before.keys[row, 2])
        leaves, leaf = (before.keys[row - 1, 3], before.keys[row, 3]) if row else (0, before.keys[row, 3])
        item = before.keys[row - 1, 1] if row else 0
        if inst - insts > len(heap.insts) or leaf - leaves > len(heap.leaves):
            counts[FULL] = 1
            return
        for number in range(inst - insts):
            _copy_row(before.insts, insts + number, heap.insts, number)
            heap.marks[number] = 0
        for number in range(leaf - leaves):
            _copy_row(before.leaves, leaves + number, heap.leaves, number)
        counts[INSTS], counts[LEAF_TOP] = inst - insts, leaf - leaves
        for number in range(len(where)):
            count, width = before.sizes[row, number], heap.widths[number]
            if counts[ITEMS] + count * width > len(heap.items):
                counts[FULL] = 1
                return
            where[number, W_AT] = where[number, W_BLOCK] = counts[ITEMS]
            where[number, W_COUNT] = where[number, W_SIZE] = count
            for offset in range(count * width):
                heap.items[counts[ITEMS] + offset] = before.items[item + offset]
            counts[ITEMS] += count * width
            item += count * width
    counts[COLLECT] = max(64, 2 * counts[INSTS])
    counts[COLLECT_LEAVES] = max(256, 2 * counts[LEAF_TOP])


@bare
def _save(running, before, after, places, key):  # type: ignore[no-untyped-def]
    """Copy what a key keeps behind that of the key before; False if there is no room. A key that keeps nothing is left out."""
    heap, now = running.heap, running.now
    for node in range(len(running.nodes)):
        clear(heap, running.nodes[node, LIST] + OUT)
        clear(heap, running.nodes[node, LIST] + OUT_DELETED)
    collect(heap)
    if _is_initial(running):
        return True
    total = 0
    for number in range(len(heap.where)):
        total += size(heap, number) * heap.widths[number]
    row, item = places[KEPT_KEYS], places[KEPT_ITEMS]
    insts, leaves = heap.counts[INSTS], heap.counts[LEAF_TOP]
    if (
        row == len(after.keys)
        or item + total > len(after.items)
        or places[KEPT_INSTS] + insts > len(after.insts)
        or places[KEPT_LEAVES] + leaves > len(after.leaves)
    ):
        return False
    for number in range(len(heap.where)):
        after.sizes[row, number] = size(heap, number)
        for offset in range(size(heap, number) * heap.widths[number]):
            after.items[item] = heap.items[heap.where[number, W_AT] + offset]
            item += 1
    for number in range(insts):
        _copy_row(heap.insts, number, after.insts, places[KEPT_INSTS] + number)
    for number in range(leaves):
        _copy_row(heap.leaves, number, after.leaves, places[KEPT_LEAVES] + number)
    columns = now.shape[1]
    for at in range(after.now.shape[1]):
        after.now[row, at] = now[at // columns, at % columns]
    _end_row(after, places, key, item, insts, leaves, _due(running))
    return True


@bare
def _end_row(after, places, key, item, insts, leaves, due):  # type: ignore[no-untyped-def]
    places[KEPT_ITEMS] = item
    places[KEPT_INSTS] += insts
    places[KEPT_LEAVES] += leaves
    own = after.keys[places[KEPT_KEYS]]
    own[0], own[1], own[2], own[3], own[4] = key, item, places[KEPT_INSTS], places[KEPT_LEAVES], due
    places[KEPT_KEYS] += 1


@bare
def _carry(before, after, places, row):  # type: ignore[no-untyped-def]
    """Copy what a key kept as it is; False if there is no room."""
    item, inst, leaf = 0, 0, 0
    if row:
        item, inst, leaf = before.keys[row - 1, 1], before.keys[row - 1, 2], before.keys[row - 1, 3]
    items, insts, leaves = before.keys[row, 1] - item, before.keys[row, 2] - inst, before.keys[row, 3] - leaf
    to = places[KEPT_KEYS]
    if (
        to == len(after.keys)
        or places[KEPT_ITEMS] + items > len(after.items)
        or places[KEPT_INSTS] + insts > len(after.insts)
        or places[KEPT_LEAVES] + leaves > len(after.leaves)
    ):
        return False
    _copy_row(before.now, row, after.now, to)
    _copy_row(before.sizes, row, after.sizes, to)
    for offset in range(items):
        after.items[places[KEPT_ITEMS] + offset] = before.items[item + offset]
    for offset in range(insts):
        _copy_row(before.insts, inst + offset, after.insts, places[KEPT_INSTS] + offset)
    for offset in range(leaves):
        _copy_row(before.leaves, leaf + offset, after.leaves, places[KEPT_LEAVES] + offset)
    _end_row(
        after, places, before.keys[row, 0], places[KEPT_ITEMS] + items, insts, leaves, before.keys[row, 4]
    )
    return True


@bare
def _is_initial(running):  # type: ignore[no-untyped-def]
    """Whether a key is as before its first event."""
    for number in range(len(running.heap.where)):
        if size(running.heap, number):
            return False
    for node in range(len(running.nodes)):
        for column in range(N_COUNT, running.now.shape[1]):
            if running.now[node, column]:
                return False
    return True


@bare
def _due(running):  # type: ignore[no-untyped-def]
    """The earliest time at which a key acts or forgets something without an event."""
    heap, nodes = running.heap, running.nodes
    due = NEVER
    if size(heap, CLOCK):
        due = entry(heap, CLOCK, 0, 1)
    for node in range(len(nodes)):
        kind, first = nodes[node, KIND], nodes[node, LIST]
        if kind == MOMENTS and size(heap, first + DUE):
            due = min(due, heap.insts[entry(heap, first + DUE, 0, 0), I_TIME])
        elif kind == PERIODS:
            for index in range(size(heap, first + RUNNING)):
                source, number = (
                    entry(heap, first + RUNNING, index, 0),
                    entry(heap, first + RUNNING, index, 1),
                )
                due = min(due, heap.insts[source, I_TIME] + number * nodes[node, DELAY])
        elif kind == ABSENCE and nodes[node, LENGTH] >= 0 and size(heap, first + TIMES):
            due = min(due, entry(heap, first + TIMES, 0, 1) + nodes[node, LENGTH] + 1)
        elif kind == PAIRS_OF_VIEWS:
            due = min(due, expires(running, node, first + CHOSEN, nodes[node, LENGTH]))
        elif kind == PAIRS_OF_ONE and not nodes[node, UNIQUE]:
            due = min(due, expires(running, node, first + EARLIER, nodes[node, LENGTH]))
        elif kind == TERMINATORS:
            for operand in range(nodes[node, CHILD_STOP] - nodes[node, CHILD]):
                available = first + OPERANDS + operand * PER_OPERAND + AVAILABLE
                due = min(due, expires(running, node, available, nodes[node, KEEPS]))
    return due
