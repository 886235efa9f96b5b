"""Operators over trace views. A view is kept as a count and, for `last`, its latest instance.

See `algebra/pairs/online/by_views`.
"""

from __future__ import annotations

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.instance_heap import (
    FULL,
    I_TIME,
    W_COUNT,
    before,
    clear,
    compose,
    drop,
    entry,
    insert,
    push,
    put,
    same,
    size,
)
from tocsin.runtime.kernels.pairs.running import (
    F_SUB,
    F_TIME,
    M_FINAL,
    N_COUNT,
    N_KEY,
    N_PAIR,
    N_VIEW,
    deliver_passed_deletions,
    first_seen,
    merge,
    not_past,
    not_past_inst,
    pass_deletions,
    ready,
    start_step,
)
from tocsin.runtime.moments import NEVER
from tocsin.runtime.operators import (
    ABSENT,
    CHILD,
    CHOSEN,
    DELETED,
    EARLIER,
    FOUND,
    HIGH,
    IN_ORDER,
    LENGTH,
    LIST,
    LOW,
    OPEN,
    OPERATOR,
    OUT,
    PENDING,
    SECOND_HIGH,
    SECOND_LOW,
    SEEN,
    SEQUENCE,
    UNIQUE,
    WAITING,
    WITHOUT,
)


@bare
def one_of(run, node):  # type: ignore[no-untyped-def]
    """A disjunction: the chosen instances of each view; one of several operands counts once."""
    heap, first = run.heap, run.nodes[node, LIST]
    pending = first + PENDING
    start_step(run, node)
    merge(run, node)
    count, deletions = ready(run, node), deliver_passed_deletions(run, node)
    for index in range(count):
        inst, operand = entry(heap, first + WAITING, index, 0), entry(heap, first + WAITING, index, 1)
        if not first_seen(run, node, first + SEEN, inst):
            continue
        if _begins_view(run, node, operand) and size(heap, pending):
            push(heap, first + OUT, entry(heap, pending, 0, 0), 0, 0)
            clear(heap, pending)
        if _picked(run, node, operand, inst, pending, run.nodes[node, LOW], run.nodes[node, HIGH]):
            push(heap, first + OUT, inst, 0, 0)
    drop(heap, first + WAITING, count)
    drop(heap, first + DELETED, deletions)
    if size(heap, pending):
        if run.moment[M_FINAL]:
            push(heap, first + OUT, entry(heap, pending, 0, 0), 0, 0)
            clear(heap, pending)
        else:
            not_past_inst(run, node, entry(heap, pending, 0, 0))


@bare
def _begins_view(run, node, operand):  # type: ignore[no-untyped-def]
    """Whether an instance of an operand begins another view; counts the instances of the view."""
    now = run.now
    begins = now[node, N_KEY] != operand + 1
    if begins:
        pair = operand == 0 and (now[node, N_KEY] == 0 or now[node, N_KEY] == 2)
        now[node, N_KEY] = operand + 1
        now[node, N_VIEW] += 1
        now[node, N_COUNT] = 0
        # Odd views of the first operand and the even ones after them; or the views (1,2), (3,4), …
        if run.nodes[node, IN_ORDER]:
            now[node, N_PAIR] += 1 if pair else 0
        else:
            now[node, N_PAIR] = (now[node, N_VIEW] + 1) // 2
    now[node, N_COUNT] += 1
    return begins


@bare
def _picked(run, node, operand, inst, pending, low, high):  # type: ignore[no-untyped-def]
    """Whether an instance is chosen of its view now; the last one waits for the end of the view."""
    now = run.now
    if low < 0:
        clear(run.heap, pending)
        push(run.heap, pending, inst, operand, now[node, N_PAIR])
        return False
    return low <= now[node, N_COUNT] and (high < 0 or now[node, N_COUNT] <= high)


@bare
def pairs_of_views(run, node):  # type: ignore[no-untyped-def]
    """A sequence, conjunction or simultaneity of two classes."""
    heap, nodes, first = run.heap, run.nodes, run.nodes[node, LIST]
    pending, found = first + OPEN, first + FOUND
    start_step(run, node)
    _hear_absent(run, node, first + ABSENT)
    merge(run, node)
    count, deletions = ready(run, node), deliver_passed_deletions(run, node)
    for index in range(count):
        inst, operand = entry(heap, first + WAITING, index, 0), entry(heap, first + WAITING, index, 1)
        if _begins_view(run, node, operand) and size(heap, pending):
            _end_view(run, node, pending)
        low = nodes[node, SECOND_LOW] if operand else nodes[node, LOW]
        high = nodes[node, SECOND_HIGH] if operand else nodes[node, HIGH]
        if _picked(run, node, operand, inst, pending, low, high):
            _meet(run, node, inst, operand, run.now[node, N_PAIR])
    drop(heap, first + WAITING, count)
    drop(heap, first + DELETED, deletions)
    if run.moment[M_FINAL] and size(heap, pending):
        _end_view(run, node, pending)
    frontier = run.now[node, F_TIME]
    oldest = frontier
    if size(heap, pending):
        inst = entry(heap, pending, 0, 0)
        oldest = min(oldest, heap.insts[inst, I_TIME])
        if entry(heap, pending, 0, 1) == 1 or not nodes[node, IN_ORDER]:
            not_past_inst(run, node, inst)
            frontier = run.now[node, F_TIME]
            oldest = min(oldest, frontier)
    length = nodes[node, LENGTH]
    while length >= 0 and size(heap, first + CHOSEN):
        if heap.insts[entry(heap, first + CHOSEN, 0, 0), I_TIME] >= frontier - length:
            break
        drop(heap, first + CHOSEN, 1)
    if nodes[node, WITHOUT] >= 0:
        for index in range(size(heap, first + CHOSEN)):
            oldest = min(oldest, heap.insts[entry(heap, first + CHOSEN, index, 0), I_TIME])
        _forget_absent(heap, first + ABSENT, oldest)
    # A match of the event that is still pending can stand before one that was found with that event already.
    while size(heap, found) and before(heap, entry(heap, found, 0, 0), frontier, run.now[node, F_SUB]):
        push(heap, first + OUT, entry(heap, found, 0, 0), 0, 0)
        drop(heap, found, 1)


@bare
def _end_view(run, node, pending):  # type: ignore[no-untyped-def]
    heap = run.heap
    inst, operand, pair = entry(heap, pending, 0, 0), entry(heap, pending, 0, 1), entry(heap, pending, 0, 2)
    clear(heap, pending)
    _meet(run, node, inst, operand, pair)


@bare
def _meet(run, node, inst, operand, pair):  # type: ignore[no-untyped-def]
    """Find the matches of a newly chosen instance with those chosen before."""
    heap, nodes = run.heap, run.nodes
    chosen, found = nodes[node, LIST] + CHOSEN, nodes[node, LIST] + FOUND
    if nodes[node, UNIQUE]:
        kept = 0
        for index in range(size(heap, chosen)):
            if entry(heap, chosen, index, 2) == pair:
                put(heap, chosen, kept, entry(heap, chosen, index, 0), entry(heap, chosen, index, 1), pair)
                kept += 1
        heap.where[chosen, W_COUNT] = kept
    if operand or not nodes[node, IN_ORDER]:
        for index in range(size(heap, chosen)):
            if entry(heap, chosen, index, 1) == operand:
                continue
            old = entry(heap, chosen, index, 0)
            one, other = (old, inst) if operand else (inst, old)
            if not same(heap, one, other) and _fits(run, node, one, other):
                insert(heap, found, _composed(run, node, one, other), 0, 0)
            if heap.counts[FULL]:
                return
    if operand == 0 or not nodes[node, IN_ORDER]:
        push(heap, chosen, inst, operand, pair)


@bare
def _fits(run, node, one, other):  # type: ignore[no-untyped-def]
    """Whether two instances can be a match: their order, the timeframe, and what may not lie between."""
    heap, nodes = run.heap, run.nodes
    first, last = heap.insts[one, I_TIME], heap.insts[other, I_TIME]
    if nodes[node, OPERATOR] == SEQUENCE and first >= last:
        return False
    first, last = min(first, last), max(first, last)
    if nodes[node, LENGTH] >= 0 and last - first > nodes[node, LENGTH]:
        return False
    if nodes[node, WITHOUT] >= 0:
        absent = nodes[node, LIST] + ABSENT
        for index in range(size(heap, absent)):
            if first < entry(heap, absent, index, 1) < last:
                return False
    return True


@bare
def _composed(run, node, one, other):  # type: ignore[no-untyped-def]
    heap = run.heap
    time = heap.insts[other, I_TIME]
    if run.nodes[node, OPERATOR] != SEQUENCE:
        time = max(time, heap.insts[one, I_TIME])
    return compose(heap, one, other, time)


@bare
def _hear_absent(run, node, absent):  # type: ignore[no-untyped-def]
    """Remember when something occurred that may not lie within a match."""
    heap, other = run.heap, run.nodes[node, WITHOUT]
    if other < 0:
        return
    theirs = run.nodes[other, LIST] + OUT
    for index in range(size(heap, theirs)):
        push(heap, absent, -1, heap.insts[entry(heap, theirs, index, 0), I_TIME], 0)


@bare
def _forget_absent(heap, absent, oldest):  # type: ignore[no-untyped-def]
    while size(heap, absent) and entry(heap, absent, 0, 1) <= oldest:
        drop(heap, absent, 1)


@bare
def pairs_of_one(run, node):  # type: ignore[no-untyped-def]
    """A sequence or conjunction of one class with itself: two different instances, in order."""
    heap, nodes, now = run.heap, run.nodes, run.now
    first, length = nodes[node, LIST], nodes[node, LENGTH]
    waiting, earlier = first + WAITING, first + EARLIER
    child, other = run.children[nodes[node, CHILD]], nodes[node, WITHOUT]
    start_step(run, node)
    pass_deletions(run, node, child)
    _hear_absent(run, node, first + ABSENT)
    now[node, F_TIME], now[node, F_SUB] = now[child, F_TIME], now[child, F_SUB]
    if other >= 0:
        not_past(run, node, now[other, F_TIME], now[other, F_SUB])
    theirs = nodes[child, LIST] + OUT
    for index in range(size(heap, theirs)):
        push(heap, waiting, entry(heap, theirs, index, 0), 0, 0)
    count = ready(run, node)
    for arrival in range(count):
        inst = entry(heap, waiting, arrival, 0)
        for index in range(size(heap, earlier)):
            old = entry(heap, earlier, index, 0)
            if not same(heap, old, inst) and _fits(run, node, old, inst):
                insert(heap, first + OUT, _composed(run, node, old, inst), 0, 0)
            if heap.counts[FULL]:
                return
        if nodes[node, UNIQUE] and size(heap, earlier):
            clear(heap, earlier)
        else:
            push(heap, earlier, inst, 0, 0)
    drop(heap, waiting, count)
    oldest = now[node, F_TIME]
    if length >= 0 and not nodes[node, UNIQUE]:
        while size(heap, earlier) and heap.insts[entry(heap, earlier, 0, 0), I_TIME] < oldest - length:
            drop(heap, earlier, 1)
    if other >= 0:
        for index in range(size(heap, earlier)):
            oldest = min(oldest, heap.insts[entry(heap, earlier, index, 0), I_TIME])
        _forget_absent(heap, first + ABSENT, oldest)


@bare
def expires(run, node, kept, length):  # type: ignore[no-untyped-def]
    """When the oldest instance of a list will be too old for a match; NEVER if it never is."""
    heap = run.heap
    if length < 0 or size(heap, kept) == 0:
        return NEVER
    return heap.insts[entry(heap, kept, 0, 0), I_TIME] + length + 1
