"""The evaluation of one key: its operators, what they know, and the moment that is fed to them.

Each node delivers at each moment the instances that were decided, in its list OUT, and says how far it has got: every instance
whose last event stands before its *frontier* has been delivered. See `algebra/pairs/online/stage`, which this follows.
"""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.instance_heap import (
    FULL,
    I_LAST,
    I_SUB,
    W_AT,
    Heap,
    clear,
    entry,
    insert,
    push,
    same,
    size,
)
from tocsin.runtime.operators import (
    CHILD,
    CHILD_STOP,
    DELETED,
    LIST,
    OUT,
    OUT_DELETED,
    WAITING,
    WITHOUT,
)
from tocsin.runtime.program import Array

# What a node knows between moments: its frontier, then numbers whose use depends on its kind. The last row is the key's own.
F_TIME, F_SUB, N_COUNT, N_VIEW, N_PAIR, N_KEY, N_TIME, N_SUB, N_FLAG = range(9)
NOW_COLUMNS = 9
K_EVENTS, K_TICKS, K_LATEST, K_BOUND, K_BOUND_SUB = range(5)
# The moment: an event or a tick with its place, or neither; and the place up to which everything is known.
M_TIME, M_SUB, M_EVENT, M_TICK, M_FINAL, M_REF, M_BEGIN, M_SIGNATURE, M_BOUND, M_BOUND_SUB = range(10)
MOMENT_COLUMNS = 10


class Running(NamedTuple):
    """All that the operators work on."""

    nodes: Array
    children: Array
    modes: Array
    hits: Array  # bool (signatures, N): whether events with a signature are of a node's class
    now: Array  # int64 (N + 1, NOW_COLUMNS)
    moment: Array  # int64 (MOMENT_COLUMNS,)
    levels: Array  # int64 (operands, LEVEL_COLUMNS): where the choice for each operand stands
    heap: Heap


@bare
def to_bound(run, node):  # type: ignore[no-untyped-def]
    """The frontier of a node that has decided all that can be known."""
    run.now[node, F_TIME], run.now[node, F_SUB] = run.moment[M_BOUND], run.moment[M_BOUND_SUB]


@bare
def not_past(run, node, time, sub):  # type: ignore[no-untyped-def]
    """The frontier of a node is not beyond this place."""
    now = run.now
    if time < now[node, F_TIME] or (time == now[node, F_TIME] and sub < now[node, F_SUB]):
        now[node, F_TIME], now[node, F_SUB] = time, sub


@bare
def not_past_inst(run, node, inst):  # type: ignore[no-untyped-def]
    """The frontier of a node is not beyond the last event of an instance."""
    not_past(run, node, run.heap.insts[inst, I_LAST], run.heap.insts[inst, I_SUB])


@bare
def start_step(run, node):  # type: ignore[no-untyped-def]
    """Nothing is delivered yet."""
    first = run.nodes[node, LIST]
    clear(run.heap, first + OUT)
    clear(run.heap, first + OUT_DELETED)


@bare
def pass_deletions(run, node, child):  # type: ignore[no-untyped-def]
    """Deliver what an operand says was deleted."""
    heap = run.heap
    own, theirs = run.nodes[node, LIST] + OUT_DELETED, run.nodes[child, LIST] + OUT_DELETED
    for index in range(size(heap, theirs)):
        push(
            heap,
            own,
            entry(heap, theirs, index, 0),
            entry(heap, theirs, index, 1),
            entry(heap, theirs, index, 2),
        )


@bare
def merge(run, node):  # type: ignore[no-untyped-def]
    """Put the instances and deletions of all operands in one order; the frontier is that of the slowest operand."""
    heap, nodes = run.heap, run.nodes
    to_bound(run, node)
    first = nodes[node, LIST]
    waiting, deleted = first + WAITING, first + DELETED
    for operand in range(nodes[node, CHILD_STOP] - nodes[node, CHILD]):
        child = run.children[nodes[node, CHILD] + operand]
        not_past(run, node, run.now[child, F_TIME], run.now[child, F_SUB])
        theirs = nodes[child, LIST] + OUT
        for index in range(size(heap, theirs)):
            insert(heap, waiting, entry(heap, theirs, index, 0), operand, 0)
        theirs = nodes[child, LIST] + OUT_DELETED
        for index in range(size(heap, theirs)):
            _insert_deletion(
                heap,
                deleted,
                entry(heap, theirs, index, 0),
                entry(heap, theirs, index, 1),
                entry(heap, theirs, index, 2),
            )
    other = nodes[node, WITHOUT]
    if other >= 0:
        not_past(run, node, run.now[other, F_TIME], run.now[other, F_SUB])


@bare
def _insert_deletion(heap, number, inst, time, sub):  # type: ignore[no-untyped-def]
    """Put a deletion into a list in the order of their places, after its equals."""
    push(heap, number, inst, time, sub)
    if heap.counts[FULL]:
        return
    at = size(heap, number) - 1
    while at > 0:
        earlier = entry(heap, number, at - 1, 1)
        if earlier < time or (earlier == time and entry(heap, number, at - 1, 2) <= sub):
            break
        place = heap.where[number, W_AT] + at * 3
        for offset in range(3):
            heap.items[place + offset] = heap.items[place + offset - 3]
            heap.items[place + offset - 3] = (inst, time, sub)[offset]
        at -= 1


@bare
def ready(run, node):  # type: ignore[no-untyped-def]
    """How many of the waiting instances stand before the frontier."""
    heap, number = run.heap, run.nodes[node, LIST] + WAITING
    count = 0
    while count < size(heap, number):
        inst = entry(heap, number, count, 0)
        last = heap.insts[inst, I_LAST]
        time = run.now[node, F_TIME]
        if last > time or (last == time and heap.insts[inst, I_SUB] >= run.now[node, F_SUB]):
            break
        count += 1
    return count


@bare
def deliver_passed_deletions(run, node):  # type: ignore[no-untyped-def]
    """Deliver the deletions before the frontier; returns how many there are. They stay in the list until `drop`."""
    heap, number, out = run.heap, run.nodes[node, LIST] + DELETED, run.nodes[node, LIST] + OUT_DELETED
    count = 0
    while count < size(heap, number):
        time, sub = entry(heap, number, count, 1), entry(heap, number, count, 2)
        if time > run.now[node, F_TIME] or (time == run.now[node, F_TIME] and sub >= run.now[node, F_SUB]):
            break
        push(heap, out, entry(heap, number, count, 0), time, sub)
        count += 1
    return count


@bare
def first_seen(run, node, seen, inst):  # type: ignore[no-untyped-def]
    """Whether an instance was not delivered before with the same last event; list `seen` has those that were."""
    heap, now = run.heap, run.now
    if now[node, N_TIME] != heap.insts[inst, I_LAST] or now[node, N_SUB] != heap.insts[inst, I_SUB]:
        now[node, N_TIME], now[node, N_SUB] = heap.insts[inst, I_LAST], heap.insts[inst, I_SUB]
        clear(heap, seen)
    for index in range(size(heap, seen)):
        if same(heap, inst, entry(heap, seen, index, 0)):
            return False
    push(heap, seen, inst, 0, 0)
    return True
