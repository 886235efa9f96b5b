"""Nodes that bring instances into an evaluation: events, time events, negations, selections.

See `algebra/pairs/online/inlets`.
"""

from __future__ import annotations

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.instance_heap import (
    FULL,
    I_TIME,
    SUB,
    W_COUNT,
    before,
    clear,
    compose,
    drop,
    entry,
    insert,
    precedes,
    push,
    put,
    single,
    size,
)
from tocsin.runtime.kernels.pairs.running import (
    F_SUB,
    F_TIME,
    M_BEGIN,
    M_EVENT,
    M_FINAL,
    M_REF,
    M_SIGNATURE,
    M_SUB,
    M_TICK,
    M_TIME,
    N_COUNT,
    N_FLAG,
    N_TIME,
    not_past,
    not_past_inst,
    pass_deletions,
    start_step,
    to_bound,
)
from tocsin.runtime.moments import NEVER
from tocsin.runtime.operators import (
    ALL_OF,
    ALONE,
    AT,
    CHILD,
    CHILD_STOP,
    DELAY,
    DUE,
    EDGE,
    HELD,
    HIGH,
    KIND,
    LATEST,
    LENGTH,
    LIST,
    LOW,
    NEVER_SO_FAR,
    OUT,
    ROLE,
    RUNNING,
    SINCE,
    SOME_OF,
    STOPS,
    TICKS,
    TIMES,
    UNTIL,
)


@bare
def events(run, node):  # type: ignore[no-untyped-def]
    """The events of a class, in an interval if the node has one; nothing is kept."""
    moment, first = run.moment, run.nodes[node, LIST]
    clear(run.heap, first + OUT)
    to_bound(run, node)
    since, until = run.nodes[node, SINCE], run.nodes[node, UNTIL]
    if until >= 0 and (moment[M_TIME] < since or moment[M_TIME] > until):
        return
    if moment[M_EVENT] and run.hits[moment[M_SIGNATURE], node]:
        role = run.nodes[node, ROLE]
        inst = single(run.heap, moment[M_TIME], moment[M_SUB], moment[M_REF], role, moment[M_BEGIN])
        push(run.heap, first + OUT, inst, 0, 0)


@bare
def moments(run, node):  # type: ignore[no-untyped-def]
    """Time events that are due: an absolute one, or relative ones to the instances of an operand."""
    heap, nodes, now = run.heap, run.nodes, run.now
    first, role = nodes[node, LIST], nodes[node, ROLE]
    start_step(run, node)
    to_bound(run, node)
    if nodes[node, CHILD] == nodes[node, CHILD_STOP]:
        if now[node, N_FLAG] == 0:
            now[node, N_FLAG] = 1
            at = nodes[node, AT]
            push(heap, first + DUE, single(heap, at, 2 * SUB, -1, role, at), 0, 0)
    else:
        child = run.children[nodes[node, CHILD]]
        not_past(run, node, now[child, F_TIME], now[child, F_SUB])
        theirs = nodes[child, LIST] + OUT
        for index in range(size(heap, theirs)):
            source = entry(heap, theirs, index, 0)
            time = heap.insts[source, I_TIME] + nodes[node, DELAY]
            timer = single(heap, time, 2 * SUB + 1, -1, role, time)
            insert(heap, first + DUE, compose(heap, source, timer, time), 0, 0)
        pass_deletions(run, node, child)
    while size(heap, first + DUE) and before(
        heap, entry(heap, first + DUE, 0, 0), now[node, F_TIME], now[node, F_SUB]
    ):
        push(heap, first + OUT, entry(heap, first + DUE, 0, 0), 0, 0)
        drop(heap, first + DUE, 1)
    if size(heap, first + DUE):
        not_past_inst(run, node, entry(heap, first + DUE, 0, 0))


@bare
def periods(run, node):  # type: ignore[no-untyped-def]
    """Time events each period after an instance of the first operand, until one of the second comes."""
    heap, nodes, now = run.heap, run.nodes, run.now
    first, period = nodes[node, LIST], nodes[node, DELAY]
    running, stops = first + RUNNING, first + STOPS
    start_step(run, node)
    to_bound(run, node)
    known = now[node, F_TIME]
    for operand in range(nodes[node, CHILD_STOP] - nodes[node, CHILD]):
        child = run.children[nodes[node, CHILD] + operand]
        theirs = nodes[child, LIST] + OUT
        for index in range(size(heap, theirs)):
            inst = entry(heap, theirs, index, 0)
            if operand:
                push(heap, stops, inst, 0, 0)
            else:
                push(heap, running, inst, 1, NEVER)
        pass_deletions(run, node, child)
        if operand:
            known = now[child, F_TIME]
        else:
            not_past(run, node, now[child, F_TIME], now[child, F_SUB])
    decided, decided_sub = now[node, F_TIME], now[node, F_SUB]
    for index in range(size(heap, running)):
        source = entry(heap, running, index, 0)
        if entry(heap, running, index, 2) == NEVER:
            for stop in range(size(heap, stops)):
                inst = entry(heap, stops, stop, 0)
                if precedes(heap, source, inst) < 0:
                    put(
                        heap, running, index, source, entry(heap, running, index, 1), heap.insts[inst, I_TIME]
                    )
                    break
    # What stops a source that is still to come stands after it.
    while size(heap, stops) and before(heap, entry(heap, stops, 0, 0), decided, decided_sub):
        drop(heap, stops, 1)
    kept = 0
    for index in range(size(heap, running)):
        source, number, stop = (
            entry(heap, running, index, 0),
            entry(heap, running, index, 1),
            entry(heap, running, index, 2),
        )
        while not heap.counts[FULL]:
            time = heap.insts[source, I_TIME] + number * period
            surely = time < stop if stop < NEVER else time < known
            if not surely or time > decided or (time == decided and 2 * SUB + number >= decided_sub):
                break
            timer = single(heap, time, 2 * SUB + number, -1, nodes[node, ROLE], time)
            insert(heap, first + OUT, compose(heap, source, timer, time), 0, 0)
            number += 1
        time = heap.insts[source, I_TIME] + number * period
        if stop == NEVER or time < stop:
            put(heap, running, kept, source, number, stop)
            kept += 1
            not_past(run, node, time, 2 * SUB + number)
    heap.where[running, W_COUNT] = kept


@bare
def absence(run, node):  # type: ignore[no-untyped-def]
    """The ticks at which nothing occurred for a while; it keeps the times of the body within the timeframe."""
    heap, nodes, now, moment = run.heap, run.nodes, run.now, run.moment
    first, length = nodes[node, LIST], nodes[node, LENGTH]
    ticks, times = first + TICKS, first + TIMES
    child = run.children[nodes[node, CHILD]]
    clear(heap, first + OUT)
    theirs = nodes[child, LIST] + OUT
    for index in range(size(heap, theirs)):
        push(heap, times, -1, heap.insts[entry(heap, theirs, index, 0), I_TIME], 0)
    if moment[M_TICK]:
        inst = single(heap, moment[M_TIME], moment[M_SUB], -1, nodes[node, ROLE], moment[M_TIME])
        push(heap, ticks, inst, 0, 0)
    # Events of the time of a tick count, so it is decided when that time is over.
    while size(heap, ticks):
        tick = entry(heap, ticks, 0, 0)
        time = heap.insts[tick, I_TIME]
        if time >= now[child, F_TIME]:
            break
        true = 0 if _occurred(heap, times, length, time) else 1
        if true and not (nodes[node, EDGE] and now[node, N_FLAG]):
            push(heap, first + OUT, tick, 0, 0)
        now[node, N_FLAG] = true if nodes[node, EDGE] else 0
        drop(heap, ticks, 1)
    oldest = now[child, F_TIME]
    to_bound(run, node)
    if size(heap, ticks):
        tick = entry(heap, ticks, 0, 0)
        oldest = min(oldest, heap.insts[tick, I_TIME])
        not_past_inst(run, node, tick)
    _forget_times(heap, times, length, oldest)


@bare
def _occurred(heap, times, length, now):  # type: ignore[no-untyped-def]
    for index in range(size(heap, times)):
        time = entry(heap, times, index, 1)
        if time <= now and (length < 0 or now - length <= time):
            return True
    return False


@bare
def _forget_times(heap, times, length, now):  # type: ignore[no-untyped-def]
    if length >= 0:
        while size(heap, times) and entry(heap, times, 0, 1) < now - length:
            drop(heap, times, 1)
        return
    while size(heap, times) > 1:
        # Of times without an end only the first counts.
        if entry(heap, times, 1, 1) < entry(heap, times, 0, 1):
            put(heap, times, 0, -1, entry(heap, times, 1, 1), 0)
        for index in range(2, size(heap, times)):
            put(heap, times, index - 1, -1, entry(heap, times, index, 1), 0)
        heap.where[times, W_COUNT] -= 1


@bare
def numbered(run, node):  # type: ignore[no-untyped-def]
    """The instances with certain numbers; the last one is known when observation ends."""
    heap, nodes, now = run.heap, run.nodes, run.now
    first, low, high = nodes[node, LIST], nodes[node, LOW], nodes[node, HIGH]
    child = run.children[nodes[node, CHILD]]
    start_step(run, node)
    pass_deletions(run, node, child)
    now[node, F_TIME], now[node, F_SUB] = now[child, F_TIME], now[child, F_SUB]
    theirs = nodes[child, LIST] + OUT
    for index in range(size(heap, theirs)):
        inst = entry(heap, theirs, index, 0)
        now[node, N_COUNT] += 1
        if low < 0:
            clear(heap, first + LATEST)
            push(heap, first + LATEST, inst, 0, 0)
        elif low <= now[node, N_COUNT] and (high < 0 or now[node, N_COUNT] <= high):
            push(heap, first + OUT, inst, 0, 0)
    if size(heap, first + LATEST):
        inst = entry(heap, first + LATEST, 0, 0)
        if run.moment[M_FINAL]:
            push(heap, first + OUT, inst, 0, 0)
        else:
            not_past_inst(run, node, inst)


@bare
def never_so_far(run, node):  # type: ignore[no-untyped-def]
    """When the body occurred for the first time."""
    heap, now = run.heap, run.now
    child = run.children[run.nodes[node, CHILD]]
    now[node, F_TIME], now[node, F_SUB] = now[child, F_TIME], now[child, F_SUB]
    theirs = run.nodes[child, LIST] + OUT
    if now[node, N_FLAG] == 0 and size(heap, theirs):
        now[node, N_FLAG] = 1
        now[node, N_TIME] = heap.insts[entry(heap, theirs, 0, 0), I_TIME]


@bare
def several(run, node):  # type: ignore[no-untyped-def]
    """How far all of several guards have got."""
    to_bound(run, node)
    for at in range(run.nodes[node, CHILD], run.nodes[node, CHILD_STOP]):
        child = run.children[at]
        not_past(run, node, run.now[child, F_TIME], run.now[child, F_SUB])


@bare
def asked(run, node):  # type: ignore[no-untyped-def]
    """The matches of an operator for which something has not occurred so far; its guards come before the operator."""
    heap, nodes, now = run.heap, run.nodes, run.now
    first = nodes[node, LIST]
    held = first + HELD
    start_step(run, node)
    body = run.children[nodes[node, CHILD_STOP] - 1]
    to_bound(run, node)
    for at in range(nodes[node, CHILD], nodes[node, CHILD_STOP] - 1):
        not_past(run, node, now[run.children[at], F_TIME], now[run.children[at], F_SUB])
    known = now[node, F_TIME]
    pass_deletions(run, node, body)
    theirs = nodes[body, LIST] + OUT
    for index in range(size(heap, theirs)):
        inst = entry(heap, theirs, index, 0)
        if nodes[node, ALONE]:
            inst = compose(heap, inst, -1, heap.insts[inst, I_TIME])
        push(heap, held, inst, 0, 0)
    while size(heap, held):
        inst = entry(heap, held, 0, 0)
        time = heap.insts[inst, I_TIME]
        if time >= known or heap.counts[FULL]:
            break
        if _hold(run, node, time):
            push(heap, first + OUT, inst, 0, 0)
        drop(heap, held, 1)
    now[node, F_TIME], now[node, F_SUB] = now[body, F_TIME], now[body, F_SUB]
    if size(heap, held):
        not_past_inst(run, node, entry(heap, held, 0, 0))


@bare
def _hold(run, node, time):  # type: ignore[no-untyped-def]
    """Whether all guards of a node hold at a time. Guards stand in the table after those that they combine."""
    # Whether one holds is kept in the place of its frontier, which nobody reads any more at this moment.
    nodes, now = run.nodes, run.now
    stop = nodes[node, CHILD_STOP] - 1
    for guard in range(nodes[node, AT], run.children[stop - 1] + 1):
        kind = nodes[guard, KIND]
        if kind == NEVER_SO_FAR:
            now[guard, F_SUB] = now[guard, N_FLAG] == 0 or now[guard, N_TIME] > time
        elif kind in (ALL_OF, SOME_OF):
            now[guard, F_SUB] = kind == ALL_OF
            for at in range(nodes[guard, CHILD], nodes[guard, CHILD_STOP]):
                if now[run.children[at], F_SUB] != (kind == ALL_OF):
                    now[guard, F_SUB] = kind != ALL_OF
    for at in range(nodes[node, CHILD], stop):  # noqa: SIM110  (numba has no generators)
        if now[run.children[at], F_SUB] == 0:
            return False
    return True
