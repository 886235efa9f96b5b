"""What the operators of one key keep: lists in one array, and instances with everything they are made of.

An instance is a row of `insts` and a range of `leaves`: the primitive events and time events in it, in the order of the
operands. How they are nested is in the leaves as well, as the parentheses that open before and close after each.

No array grows here. If one is full, `counts[FULL]` is set; the caller makes them larger and runs the key from its start. So
every loop ends, and what it writes then does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.compiling import bare
from tocsin.runtime.program import Array

# Columns of a list: where it begins, how many entries it has, and the block that it may fill.
W_AT, W_COUNT, W_BLOCK, W_SIZE = range(4)
LIST_COLUMNS = 4
# Columns of an instance: its time, the earliest time in it, the place of its last event, and its leaves.
I_TIME, I_START, I_LAST, I_SUB, I_LEAF, I_LEAVES = range(6)
INST_COLUMNS = 6
# Columns of a leaf. A place is a time, and then 0 for events, 1 for ticks, 2 for other time events, with a number.
L_TIME, L_SUB, L_REF, L_ROLE, L_BEGIN, L_OPENS, L_CLOSES = range(7)
LEAF_COLUMNS = 7
SUB = 1 << 56  # the first place of ticks; twice that of other time events
# Counters.
ITEMS, INSTS, LEAF_TOP, FULL, COLLECT, COLLECT_LEAVES, STAMP, SOLUTIONS, EXCESS = range(9)
COUNTERS = 9


class Heap(NamedTuple):
    """The arrays; all but `widths` change."""

    where: Array  # int64 (L, LIST_COLUMNS)
    widths: Array  # int64 (L,)
    items: Array  # int64; the first number of an entry is an instance, or negative
    insts: Array  # int64 (I, INST_COLUMNS)
    leaves: Array  # int64 (V, LEAF_COLUMNS)
    marks: Array  # int64 (I,)
    counts: Array  # int64 (COUNTERS,)


# --- lists --------------------------------------------------------------------------------------------------


@bare
def size(heap, number):  # type: ignore[no-untyped-def]
    """How many entries a list has."""
    return heap.where[number, W_COUNT]


@bare
def entry(heap, number, index, column):  # type: ignore[no-untyped-def]
    """A number of an entry of a list."""
    return heap.items[heap.where[number, W_AT] + index * heap.widths[number] + column]


@bare
def clear(heap, number):  # type: ignore[no-untyped-def]
    """Forget all entries of a list."""
    heap.where[number, W_COUNT] = 0
    heap.where[number, W_AT] = heap.where[number, W_BLOCK]


@bare
def drop(heap, number, count):  # type: ignore[no-untyped-def]
    """Forget the first entries of a list."""
    heap.where[number, W_COUNT] -= count
    heap.where[number, W_AT] += count * heap.widths[number]
    if heap.where[number, W_COUNT] == 0:
        heap.where[number, W_AT] = heap.where[number, W_BLOCK]


@bare
def put(heap, number, index, one, two, three):  # type: ignore[no-untyped-def]
    """Write an entry of a list."""
    width = heap.widths[number]
    at = heap.where[number, W_AT] + index * width
    heap.items[at] = one
    if width > 1:
        heap.items[at + 1] = two
    if width > 2:
        heap.items[at + 2] = three


@bare
def _make_room(heap, number):  # type: ignore[no-untyped-def]
    """Room for one more entry: the block from its start, or a block of twice the size."""
    where, items, counts = heap.where, heap.items, heap.counts
    width = heap.widths[number]
    numbers = where[number, W_COUNT] * width
    old = where[number, W_AT]
    if where[number, W_SIZE] == 0 or where[number, W_COUNT] * 2 > where[number, W_SIZE]:
        larger = max(4, 2 * where[number, W_SIZE])
        if counts[ITEMS] + larger * width > len(items):
            counts[FULL] = 1
            return False
        where[number, W_BLOCK] = counts[ITEMS]
        where[number, W_SIZE] = larger
        counts[ITEMS] += larger * width
    new = where[number, W_BLOCK]
    for offset in range(numbers):
        items[new + offset] = items[old + offset]
    where[number, W_AT] = new
    return True


@bare
def push(heap, number, one, two, three):  # type: ignore[no-untyped-def]
    """Append an entry to a list; numbers that the list has no place for are left out."""
    where = heap.where
    used = (where[number, W_AT] - where[number, W_BLOCK]) // heap.widths[number] + where[number, W_COUNT]
    if used == where[number, W_SIZE] and not _make_room(heap, number):
        return
    where[number, W_COUNT] += 1
    put(heap, number, where[number, W_COUNT] - 1, one, two, three)


# --- instances ----------------------------------------------------------------------------------------------


@bare
def single(heap, time, sub, ref, role, begin):  # type: ignore[no-untyped-def]
    """A new instance of a primitive event or time event."""
    counts = heap.counts
    if counts[INSTS] == len(heap.insts) or counts[LEAF_TOP] == len(heap.leaves):
        counts[FULL] = 1
        return 0
    number, leaf = counts[INSTS], counts[LEAF_TOP]
    counts[INSTS] += 1
    counts[LEAF_TOP] += 1
    inst, own = heap.insts[number], heap.leaves[leaf]
    inst[I_TIME], inst[I_START], inst[I_LAST], inst[I_SUB], inst[I_LEAF], inst[I_LEAVES] = (
        time,
        time,
        time,
        sub,
        leaf,
        1,
    )
    own[L_TIME], own[L_SUB], own[L_REF], own[L_ROLE], own[L_BEGIN], own[L_OPENS], own[L_CLOSES] = (
        time,
        sub,
        ref,
        role,
        begin,
        0,
        0,
    )
    heap.marks[number] = 0
    return number


@bare
def begin_composite(heap, time):  # type: ignore[no-untyped-def]
    """A new instance without parts; `add_part` and `end_composite` go on with it."""
    counts = heap.counts
    if counts[INSTS] == len(heap.insts):
        counts[FULL] = 1
        return 0
    number = counts[INSTS]
    counts[INSTS] += 1
    inst = heap.insts[number]
    inst[I_TIME], inst[I_LEAF], inst[I_LEAVES] = time, counts[LEAF_TOP], 0
    heap.marks[number] = 0
    return number


@bare
def add_part(heap, number, part):  # type: ignore[no-untyped-def]
    """Append a part to the newest instance."""
    counts, insts, leaves = heap.counts, heap.insts, heap.leaves
    count, first = insts[part, I_LEAVES], insts[part, I_LEAF]
    to = counts[LEAF_TOP]
    if counts[FULL] or to + count > len(leaves):
        counts[FULL] = 1
        return
    for offset in range(count):
        for column in range(LEAF_COLUMNS):
            leaves[to + offset, column] = leaves[first + offset, column]
    counts[LEAF_TOP] += count
    inst, own = insts[number], insts[part]
    later = own[I_LAST] > inst[I_LAST] or (own[I_LAST] == inst[I_LAST] and own[I_SUB] > inst[I_SUB])
    if inst[I_LEAVES] == 0 or later:
        inst[I_LAST], inst[I_SUB] = own[I_LAST], own[I_SUB]
    if inst[I_LEAVES] == 0 or own[I_START] < inst[I_START]:
        inst[I_START] = own[I_START]
    inst[I_LEAVES] += count


@bare
def end_composite(heap, number):  # type: ignore[no-untyped-def]
    """Put the parentheses around an instance."""
    if heap.counts[FULL]:
        return
    first = heap.insts[number, I_LEAF]
    heap.leaves[first, L_OPENS] += 1
    heap.leaves[first + heap.insts[number, I_LEAVES] - 1, L_CLOSES] += 1


@bare
def compose(heap, one, other, time):  # type: ignore[no-untyped-def]
    """The composite of two instances, or of one if `other` is negative."""
    number = begin_composite(heap, time)
    add_part(heap, number, one)
    if other >= 0:
        add_part(heap, number, other)
    end_composite(heap, number)
    return number


@bare
def is_primitive(heap, number):  # type: ignore[no-untyped-def]
    """Whether an instance has no parts."""
    return heap.leaves[heap.insts[number, I_LEAF], L_OPENS] == 0


@bare
def precedes(heap, one, other):  # type: ignore[no-untyped-def]
    """-1, 0 or 1: by time, then by the place of the last event, then by the places of the parts. Part C.5.28."""
    insts, leaves = heap.insts, heap.leaves
    for column in (I_TIME, I_LAST, I_SUB):
        if insts[one, column] != insts[other, column]:
            return -1 if insts[one, column] < insts[other, column] else 1
    own, others = insts[one, I_LEAVES], insts[other, I_LEAVES]
    for offset in range(min(own, others)):
        mine, theirs = insts[one, I_LEAF] + offset, insts[other, I_LEAF] + offset
        for column in (L_TIME, L_SUB):
            if leaves[mine, column] != leaves[theirs, column]:
                return -1 if leaves[mine, column] < leaves[theirs, column] else 1
    if own == others:
        return 0
    return -1 if own < others else 1


@bare
def same(heap, one, other):  # type: ignore[no-untyped-def]
    """Whether two instances are equal: of equal times, and made of the same in the same way."""
    if one == other:
        return True
    insts, leaves = heap.insts, heap.leaves
    for column in (I_TIME, I_LAST, I_SUB, I_LEAVES):
        if insts[one, column] != insts[other, column]:
            return False
    for offset in range(insts[one, I_LEAVES]):
        mine, theirs = insts[one, I_LEAF] + offset, insts[other, I_LEAF] + offset
        for column in (L_TIME, L_SUB, L_OPENS, L_CLOSES):
            if leaves[mine, column] != leaves[theirs, column]:
                return False
        # Time events of one moment differ by what made them.
        if leaves[mine, L_SUB] >= 2 * SUB and leaves[mine, L_ROLE] != leaves[theirs, L_ROLE]:
            return False
    return True


@bare
def before(heap, number, time, sub):  # type: ignore[no-untyped-def]
    """Whether the last event of an instance stands before a place."""
    last = heap.insts[number, I_LAST]
    return last < time or (last == time and heap.insts[number, I_SUB] < sub)


@bare
def insert(heap, number, inst, two, three):  # type: ignore[no-untyped-def]
    """Put an instance into a list that is in order, after its equals; then by the second number."""
    push(heap, number, inst, two, three)
    if heap.counts[FULL]:
        return
    at = size(heap, number) - 1
    ranked = heap.widths[number] == 2
    while at > 0:
        other = entry(heap, number, at - 1, 0)
        order = precedes(heap, inst, other)
        if order > 0 or (order == 0 and not (ranked and two < entry(heap, number, at - 1, 1))):
            break
        width = heap.widths[number]
        place = heap.where[number, W_AT] + at * width
        for offset in range(width):
            heap.items[place + offset] = heap.items[place + offset - width]
        at -= 1
    put(heap, number, at, inst, two, three)


# --- what nothing refers to any more ------------------------------------------------------------------------


@bare
def collect(heap):  # type: ignore[no-untyped-def]
    """Forget the instances that no list has, and close the gaps."""
    insts, leaves, marks, counts = heap.insts, heap.leaves, heap.marks, heap.counts
    for number in range(counts[INSTS]):
        marks[number] = 0
    for number in range(len(heap.where)):
        for index in range(size(heap, number)):
            inst = entry(heap, number, index, 0)
            if inst >= 0:
                marks[inst] = 1
    kept, leaf = 0, 0
    for number in range(counts[INSTS]):
        if marks[number] == 0:
            continue
        first, count = insts[number, I_LEAF], insts[number, I_LEAVES]
        for offset in range(count):
            for column in range(LEAF_COLUMNS):
                leaves[leaf + offset, column] = leaves[first + offset, column]
        for column in range(INST_COLUMNS):
            insts[kept, column] = insts[number, column]
        insts[kept, I_LEAF] = leaf
        marks[number] = kept
        leaf += count
        kept += 1
    for number in range(len(heap.where)):
        for index in range(size(heap, number)):
            inst = entry(heap, number, index, 0)
            if inst >= 0:
                heap.items[heap.where[number, W_AT] + index * heap.widths[number]] = marks[inst]
    for number in range(kept):
        marks[number] = 0
    counts[INSTS], counts[LEAF_TOP], counts[STAMP] = kept, leaf, 0
    counts[COLLECT], counts[COLLECT_LEAVES] = max(64, 2 * kept), max(256, 2 * leaf)
