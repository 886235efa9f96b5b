"""Detection per terminator: each instance that can end a match looks for the others, then some are deleted.

See `algebra/pairs/terminator`, and `algebra/pairs/online/per_terminator` for what is forgotten.
"""

from __future__ import annotations

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.choices import (
    L_BEFORE,
    L_CHOICE,
    begin_level,
    end_level,
    fits,
    list_of,
    next_choice,
    operand_at,
    takes_one,
)
from tocsin.runtime.kernels.pairs.deletions import (
    delete,
    forget,
    forget_by_number,
    interrupt,
    is_deleted,
    remove_deleted,
)
from tocsin.runtime.kernels.pairs.instance_heap import (
    EXCESS,
    FULL,
    I_LAST,
    I_LEAF,
    I_LEAVES,
    I_SUB,
    I_TIME,
    L_SUB,
    L_TIME,
    SOLUTIONS,
    STAMP,
    add_part,
    before,
    begin_composite,
    clear,
    drop,
    end_composite,
    entry,
    insert,
    push,
    put,
    size,
)
from tocsin.runtime.kernels.pairs.running import (
    deliver_passed_deletions,
    first_seen,
    merge,
    ready,
    start_step,
)
from tocsin.runtime.operators import (
    ABSENT,
    ACTIVE,
    ALONE,
    AVAILABLE,
    CHILD,
    CHILD_STOP,
    CONSUMES,
    CONTINUOUS,
    DELETE,
    DELETED,
    FOREIGN,
    GONE,
    KEEP,
    LAST_ONLY,
    LIST,
    MODE,
    OUT,
    OUT_DELETED,
    OWN,
    PLAIN,
    SEEN,
    SELECTION,
    TOOK,
    WAITING,
    WITHOUT,
)


@bare
def terminators(run, node):  # type: ignore[no-untyped-def]
    """One moment of an operator."""
    heap, first = run.heap, run.nodes[node, LIST]
    start_step(run, node)
    interrupt(run, node)
    merge(run, node)
    count, deletions, applied = ready(run, node), deliver_passed_deletions(run, node), 0
    for index in range(count):
        inst, operand = entry(heap, first + WAITING, index, 0), entry(heap, first + WAITING, index, 1)
        while applied < deletions and not before(
            heap, inst, entry(heap, first + DELETED, applied, 1), entry(heap, first + DELETED, applied, 2)
        ):
            delete(run, node, first + DELETED, applied)
            applied += 1
        if is_deleted(heap, first + ACTIVE, 0, inst):
            continue
        gone = 0
        if (
            not run.nodes[node, LAST_ONLY]
            or operand == run.nodes[node, CHILD_STOP] - run.nodes[node, CHILD] - 1
        ):
            gone = _end_matches(run, node, operand, inst)
        if heap.counts[FULL] or heap.counts[EXCESS]:
            return
        if gone == 0 or not is_deleted(heap, first + ACTIVE, size(heap, first + ACTIVE) - gone, inst):
            push(heap, list_of(run, node, operand, AVAILABLE), inst, 0, 0)
        if run.nodes[node, PLAIN]:
            forget_by_number(run, node)
    while applied < deletions:
        delete(run, node, first + DELETED, applied)
        applied += 1
    drop(heap, first + WAITING, count)
    drop(heap, first + DELETED, deletions)
    forget(run, node)


# --- what ends a match --------------------------------------------------------------------------------------


@bare
def _end_matches(run, node, terminator_operand, inst):  # type: ignore[no-untyped-def]
    """Find the group of matches that an instance ends, and delete what they use up; returns how many deletions there are."""
    heap, nodes = run.heap, run.nodes
    first = nodes[node, LIST]
    operands = nodes[node, CHILD_STOP] - nodes[node, CHILD]
    for operand in range(operands):
        if operand != terminator_operand and size(heap, list_of(run, node, operand, AVAILABLE)) == 0:
            return 0
    clear(heap, first + GONE)
    heap.counts[STAMP] += 1
    found, level = 0, 0
    begin_level(run, node, 0, terminator_operand, inst)
    run.levels[0, L_BEFORE] = 0
    while level >= 0 and not heap.counts[FULL]:
        operand = operand_at(run, node, level, terminator_operand)
        mode = run.modes[nodes[node, MODE] + operand]
        tried = run.levels[level, L_CHOICE] > 0
        over = tried and found > run.levels[level, L_BEFORE] and takes_one(mode[SELECTION])
        if over or not next_choice(run, node, level, inst if level == 0 else -1):
            end_level(run, node, operand)
            level -= 1
        elif not fits(run, node):
            continue
        elif level < operands - 1:
            level += 1
            begin_level(run, node, level, operand_at(run, node, level, terminator_operand), -1)
            run.levels[level, L_BEFORE] = found
        elif _is_whole(run, node):
            found += 1
            insert(heap, first + OUT, _match(run, node, heap.insts[inst, I_TIME]), 0, 0)
            if found > heap.counts[SOLUTIONS]:
                heap.counts[EXCESS] = 1
                return 0
    return 0 if found == 0 or heap.counts[FULL] else _use_up(run, node, inst)


@bare
def _match(run, node, time):  # type: ignore[no-untyped-def]
    """The composite of what the operands took; what is used up is remembered."""
    heap, nodes = run.heap, run.nodes
    gone = nodes[node, LIST] + GONE
    operands = nodes[node, CHILD_STOP] - nodes[node, CHILD]
    everything = _deletes_everything(run, node)
    for operand in range(operands):
        took = list_of(run, node, operand, TOOK)
        consumes = run.modes[nodes[node, MODE] + operand, CONSUMES]
        if everything or consumes != KEEP:
            for index in range(size(heap, took)):
                _note_gone(heap, gone, entry(heap, took, index, 0), consumes == OWN)
    if nodes[node, ALONE] and size(heap, list_of(run, node, 0, TOOK)) == 1:
        return entry(heap, list_of(run, node, 0, TOOK), 0, 0)
    match = begin_composite(heap, time)
    for operand in range(operands):
        took = list_of(run, node, operand, TOOK)
        for index in range(size(heap, took)):
            add_part(heap, match, entry(heap, took, index, 0))
    end_composite(heap, match)
    return match


@bare
def _note_gone(heap, gone, inst, own):  # type: ignore[no-untyped-def]
    """Note what is used up; `own`: for this operator alone, unless it is used up for all as well."""
    if heap.marks[inst] != heap.counts[STAMP]:
        heap.marks[inst] = heap.counts[STAMP]
        push(heap, gone, inst, 1 if own else 0, 0)
    elif not own:
        for index in range(size(heap, gone)):
            if entry(heap, gone, index, 0) == inst:
                put(heap, gone, index, inst, 0, 0)


@bare
def _deletes_everything(run, node):  # type: ignore[no-untyped-def]
    for at in range(run.nodes[node, CHILD_STOP] - run.nodes[node, CHILD]):
        if run.modes[run.nodes[node, MODE] + at, CONSUMES] != DELETE:
            return False
    return True


@bare
def _use_up(run, node, inst):  # type: ignore[no-untyped-def]
    """Delete what a group of matches uses up: per operand nothing, its participants, or all; or everything so far."""
    heap, nodes = run.heap, run.nodes
    first = nodes[node, LIST]
    gone, active = first + GONE, first + ACTIVE
    time, sub = heap.insts[inst, I_LAST], heap.insts[inst, I_SUB]
    before_this = size(heap, active)
    if _deletes_everything(run, node):
        push(heap, active, -1, time, sub)
        push(heap, first + OUT_DELETED, -1, time, sub)
    else:
        for operand in range(nodes[node, CHILD_STOP] - nodes[node, CHILD]):
            if run.modes[nodes[node, MODE] + operand, CONSUMES] == DELETE:
                available = list_of(run, node, operand, AVAILABLE)
                for index in range(size(heap, available)):
                    _note_gone(heap, gone, entry(heap, available, index, 0), False)
    for index in range(size(heap, gone)):
        push(heap, active, entry(heap, gone, index, 0), time, sub)
        if entry(heap, gone, index, 1) == 0:
            push(heap, first + OUT_DELETED, entry(heap, gone, index, 0), time, sub)
    for index in range(before_this, size(heap, active)):
        remove_deleted(run, node, active, index)
    clear(heap, gone)
    return size(heap, active) - before_this


@bare
def _is_whole(run, node):  # type: ignore[no-untyped-def]
    """Whether nothing lies within what was taken that may not."""
    heap, nodes = run.heap, run.nodes
    if nodes[node, WITHOUT] < 0 and not nodes[node, CONTINUOUS]:
        return True
    first = nodes[node, LIST]
    some = False
    low, high, start, start_sub, end, end_sub = 0, 0, 0, 0, 0, 0
    for operand in range(nodes[node, CHILD_STOP] - nodes[node, CHILD]):
        took = list_of(run, node, operand, TOOK)
        for index in range(size(heap, took)):
            inst = heap.insts[entry(heap, took, index, 0)]
            low = min(low, inst[I_TIME]) if some else inst[I_TIME]
            high = max(high, inst[I_TIME]) if some else inst[I_TIME]
            for leaf in range(inst[I_LEAF], inst[I_LEAF] + inst[I_LEAVES]):
                time, sub = heap.leaves[leaf, L_TIME], heap.leaves[leaf, L_SUB]
                if not some or time < start or (time == start and sub < start_sub):
                    start, start_sub = time, sub
                if not some or time > end or (time == end and sub > end_sub):
                    end, end_sub = time, sub
                some = True
    if nodes[node, WITHOUT] >= 0:
        for index in range(size(heap, first + ABSENT)):
            if low < entry(heap, first + ABSENT, index, 1) < high:
                return False
    if nodes[node, CONTINUOUS]:
        for index in range(size(heap, first + FOREIGN)):
            time, sub = entry(heap, first + FOREIGN, index, 1), entry(heap, first + FOREIGN, index, 2)
            after = time > start or (time == start and sub > start_sub)
            if after and (time < end or (time == end and sub < end_sub)):
                return False
    return True


# --- disjunctions -------------------------------------------------------------------------------------------


@bare
def each_one(run, node):  # type: ignore[no-untyped-def]
    """A disjunction: each operand is detected alone, and an instance of several counts once."""
    heap, first = run.heap, run.nodes[node, LIST]
    start_step(run, node)
    merge(run, node)
    count, deletions = ready(run, node), deliver_passed_deletions(run, node)
    for index in range(count):
        inst = entry(heap, first + WAITING, index, 0)
        if first_seen(run, node, first + SEEN, inst):
            insert(heap, first + OUT, inst, 0, 0)
    drop(heap, first + WAITING, count)
    drop(heap, first + DELETED, deletions)
