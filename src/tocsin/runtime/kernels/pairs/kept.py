"""What a key keeps between two batches: loaded into the arrays of an evaluation, and saved behind that of other keys."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.instance_heap import (
    COLLECT,
    COLLECT_LEAVES,
    FULL,
    I_TIME,
    INSTS,
    ITEMS,
    LEAF_TOP,
    STAMP,
    W_AT,
    W_BLOCK,
    W_COUNT,
    W_SIZE,
    clear,
    collect,
    entry,
    size,
)
from tocsin.runtime.kernels.pairs.running import (
    K_BOUND,
    K_LATEST,
    N_COUNT,
)
from tocsin.runtime.kernels.pairs.views import expires
from tocsin.runtime.moments import LONG_AGO, NEVER
from tocsin.runtime.operators import (
    ABSENCE,
    AVAILABLE,
    CHILD,
    CHILD_STOP,
    CHOSEN,
    CLOCK,
    DELAY,
    DUE,
    EARLIER,
    KEEPS,
    KIND,
    LENGTH,
    LIST,
    MOMENTS,
    OPERANDS,
    OUT,
    OUT_DELETED,
    PAIRS_OF_ONE,
    PAIRS_OF_VIEWS,
    PER_OPERAND,
    PERIODS,
    RUNNING,
    TERMINATORS,
    TIMES,
    UNIQUE,
)
from tocsin.runtime.program import Array

# Where the output arrays end.
AT_KEY, MATCHES, PARTS, KEPT_ITEMS, KEPT_INSTS, KEPT_LEAVES, KEPT_KEYS = range(7)
PLACES = 7


class Kept(NamedTuple):
    """What keys keep: for each its rows of the other arrays begin where the row before ends."""

    keys: Array  # int64 (K, 5): key; items, instances and leaves up to; when it is due
    now: Array  # int64 (K, (N + 1) * NOW_COLUMNS)
    sizes: Array  # int64 (K, L): entries of each list
    items: Array  # int64
    insts: Array  # int64 (I, INST_COLUMNS)
    leaves: Array  # int64 (V, LEAF_COLUMNS)


@bare
def row_of(keys, key):  # type: ignore[no-untyped-def]
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
def load(running, before, row):  # type: ignore[no-untyped-def]
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
def save(running, before, after, places, key):  # type: ignore[no-untyped-def]
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
def carry(before, after, places, row):  # type: ignore[no-untyped-def]
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
