"""What operators have deleted, and what they can forget: see `algebra/pairs/online/per_terminator`."""

from __future__ import annotations

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.choices import (
    list_of,
)
from tocsin.runtime.kernels.pairs.instance_heap import (
    I_LAST,
    I_START,
    I_SUB,
    I_TIME,
    W_COUNT,
    before,
    clear,
    drop,
    entry,
    is_primitive,
    push,
    put,
    same,
    size,
)
from tocsin.runtime.kernels.pairs.running import (
    F_SUB,
    F_TIME,
    M_EVENT,
    M_SIGNATURE,
    M_SUB,
    M_TIME,
)
from tocsin.runtime.operators import (
    ABSENT,
    ACTIVE,
    AVAILABLE,
    CHILD,
    CHILD_STOP,
    CONTINUOUS,
    EVENTS,
    FOREIGN,
    KEEPS,
    KIND,
    LAST,
    LAST_ONLY,
    LIST,
    LOOKS,
    MODE,
    OUT,
    PICK_HIGH,
    REACH,
    SELECTION,
    WAITING,
    WITHOUT,
)


@bare
def covers(heap, number, index, inst):  # type: ignore[no-untyped-def]
    """Whether a deletion covers an instance: by name, or because it deletes everything so far."""
    named = entry(heap, number, index, 0)
    if named >= 0:
        return same(heap, named, inst)
    time, sub = entry(heap, number, index, 1), entry(heap, number, index, 2)
    if heap.insts[inst, I_LAST] == time and heap.insts[inst, I_SUB] == sub:
        return is_primitive(heap, inst)
    return before(heap, inst, time, sub)


@bare
def is_deleted(heap, number, start, inst):  # type: ignore[no-untyped-def]
    for index in range(start, size(heap, number)):  # noqa: SIM110  (numba has no generators)
        if covers(heap, number, index, inst):
            return True
    return False


@bare
def delete(run, node, number, index):  # type: ignore[no-untyped-def]
    """Apply a deletion of an operator inside."""
    heap, active = run.heap, run.nodes[node, LIST] + ACTIVE
    push(
        heap,
        active,
        entry(heap, number, index, 0),
        entry(heap, number, index, 1),
        entry(heap, number, index, 2),
    )
    remove_deleted(run, node, active, size(heap, active) - 1)


@bare
def remove_deleted(run, node, number, index):  # type: ignore[no-untyped-def]
    heap = run.heap
    for operand in range(run.nodes[node, CHILD_STOP] - run.nodes[node, CHILD]):
        available = list_of(run, node, operand, AVAILABLE)
        kept = 0
        for place in range(size(heap, available)):
            inst = entry(heap, available, place, 0)
            if not covers(heap, number, index, inst):
                put(heap, available, kept, inst, 0, 0)
                kept += 1
        if kept == 0:
            clear(heap, available)
        heap.where[available, W_COUNT] = kept


@bare
def forget_by_number(run, node):  # type: ignore[no-untyped-def]
    """Forget the instances that first, last or a number will never pick."""
    heap, nodes = run.heap, run.nodes
    operands = nodes[node, CHILD_STOP] - nodes[node, CHILD]
    for operand in range(operands):
        available = list_of(run, node, operand, AVAILABLE)
        mode = run.modes[nodes[node, MODE] + operand]
        if nodes[node, LAST_ONLY] and operand == operands - 1:
            clear(heap, available)
        elif mode[SELECTION] == LAST:
            _keep_youngest(heap, available)
        elif nodes[node, KEEPS] < 0 and 0 < mode[PICK_HIGH] < size(heap, available):
            heap.where[available, W_COUNT] = mode[PICK_HIGH]


@bare
def _keep_youngest(heap, available):  # type: ignore[no-untyped-def]
    """Those of the latest time, and the one before: one of equal time, or the same instance, may not be taken."""
    count = size(heap, available)
    if count == 0:
        return
    latest = heap.insts[entry(heap, available, count - 1, 0), I_TIME]
    at = count
    while at > 0 and heap.insts[entry(heap, available, at - 1, 0), I_TIME] == latest:
        at -= 1
    if at > 1:
        drop(heap, available, at - 1)


@bare
def interrupt(run, node):  # type: ignore[no-untyped-def]
    """Remember what may not lie within a match: instances of `without`, and events that no operand looks at."""
    heap, nodes, moment = run.heap, run.nodes, run.moment
    first, other = nodes[node, LIST], nodes[node, WITHOUT]
    if other >= 0:
        theirs = nodes[other, LIST] + OUT
        for index in range(size(heap, theirs)):
            push(heap, first + ABSENT, -1, heap.insts[entry(heap, theirs, index, 0), I_TIME], 0)
    if nodes[node, CONTINUOUS] and moment[M_EVENT]:
        for looked in range(nodes[node, LOOKS], node):
            if nodes[looked, KIND] == EVENTS and run.hits[moment[M_SIGNATURE], looked]:
                return
        push(heap, first + FOREIGN, -1, moment[M_TIME], moment[M_SUB])


@bare
def forget(run, node):  # type: ignore[no-untyped-def]
    """Forget what is older than the timeframe, and what can interrupt nothing any more."""
    heap, nodes, now = run.heap, run.nodes, run.now
    first = nodes[node, LIST]
    frontier, active = now[node, F_TIME], first + ACTIVE
    operands = nodes[node, CHILD_STOP] - nodes[node, CHILD]
    if nodes[node, KEEPS] >= 0:
        for operand in range(operands):
            available = list_of(run, node, operand, AVAILABLE)
            while size(heap, available):
                if heap.insts[entry(heap, available, 0, 0), I_TIME] >= frontier - nodes[node, KEEPS]:
                    break
                drop(heap, available, 1)
    kept = 0
    for index in range(size(heap, active)):
        time, sub = entry(heap, active, index, 1), entry(heap, active, index, 2)
        if time > frontier or (time == frontier and sub >= now[node, F_SUB]):
            put(heap, active, kept, entry(heap, active, index, 0), time, sub)
            kept += 1
    heap.where[active, W_COUNT] = kept
    if nodes[node, WITHOUT] < 0 and not nodes[node, CONTINUOUS]:
        return
    oldest, started = frontier, frontier - max(0, nodes[node, REACH])
    for operand in range(operands + 1):
        kept_list = first + WAITING if operand == operands else list_of(run, node, operand, AVAILABLE)
        for index in range(size(heap, kept_list)):
            inst = entry(heap, kept_list, index, 0)
            oldest = min(oldest, heap.insts[inst, I_TIME])
            started = min(started, heap.insts[inst, I_START])
    while size(heap, first + ABSENT) and entry(heap, first + ABSENT, 0, 1) <= oldest:
        drop(heap, first + ABSENT, 1)
    while nodes[node, REACH] >= 0 and size(heap, first + FOREIGN):
        if entry(heap, first + FOREIGN, 0, 1) >= started:
            break
        drop(heap, first + FOREIGN, 1)
