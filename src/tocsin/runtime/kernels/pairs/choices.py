"""What the operands of a terminator choose: every way to complete a match, in the order of preference.

Operands choose one after the other, the one of the terminator first. Each has a number of choices (see
`algebra.pairs.terminator`); if the rest of the match does not work out with one, the next is tried.
"""

from __future__ import annotations

from tocsin.runtime.compiling import bare
from tocsin.runtime.kernels.pairs.instance_heap import (
    I_START,
    I_TIME,
    clear,
    entry,
    precedes,
    push,
    put,
    same,
    size,
)
from tocsin.runtime.operators import (
    APART,
    AVAILABLE,
    BACKWARDS,
    CANDIDATES,
    CHILD,
    CHILD_STOP,
    CLASS,
    COMBINATIONS,
    COMBINATIONS_MINIMUM,
    COMBINED,
    CUMULATIVE,
    DISJUNCTION,
    FIRST,
    LAST,
    LEAST,
    LENGTH,
    LIST,
    MODE,
    MOST,
    NEEDED,
    OPERANDS,
    OPERATOR,
    PER_OPERAND,
    PICK,
    PICK_HIGH,
    PICK_LOW,
    RESTRICTED,
    SELECTION,
    SEQUENCE,
    TOOK,
)

# Columns of a level: the operand that chooses, the number of its choice, and how many matches there were before its first;
# of combinations how many instances are combined, and of which number at most.
L_OPERAND, L_CHOICE, L_BEFORE, L_SIZE, L_TOP = range(5)
LEVEL_COLUMNS = 5


@bare
def list_of(run, node, operand, which):  # type: ignore[no-untyped-def]
    """The number of a list that an operand of a node has."""
    return run.nodes[node, LIST] + OPERANDS + operand * PER_OPERAND + which


@bare
def operand_at(run, node, level, terminator):  # type: ignore[no-untyped-def]
    """Which operand chooses at a level: that of the terminator, then the others from one end."""
    if level == 0:
        return terminator
    operands = run.nodes[node, CHILD_STOP] - run.nodes[node, CHILD]
    turn = operands - 1 - level if run.nodes[node, BACKWARDS] else level - 1
    return turn + 1 if turn >= terminator else turn


@bare
def takes_one(selection):  # type: ignore[no-untyped-def]
    """Whether the first choice that works out is the only one."""
    return selection in (FIRST, LAST, CUMULATIVE, RESTRICTED)


@bare
def begin_level(run, node, level, operand, terminator):  # type: ignore[no-untyped-def]
    """Prepare the choices of an operand; `terminator` is the instance that ends the match, or negative."""
    heap = run.heap
    mode = run.modes[run.nodes[node, MODE] + operand]
    own = run.levels[level]
    own[L_OPERAND], own[L_CHOICE], own[L_SIZE] = operand, 0, -1
    needed, available = list_of(run, node, operand, NEEDED), list_of(run, node, operand, AVAILABLE)
    clear(heap, needed)
    if is_lazy(mode):
        return
    candidates = list_of(run, node, operand, CANDIDATES)
    clear(heap, candidates)
    for index in range(size(heap, available)):
        inst = entry(heap, available, index, 0)
        if terminator >= 0:
            if not same(heap, inst, terminator):
                push(heap, candidates, inst, 0, 0)
            continue
        push(heap, needed, inst, 0, 0)
        if fits(run, node):
            push(heap, candidates, inst, 0, 0)
        clear(heap, needed)
    least = mode[LEAST] - (1 if terminator >= 0 else 0)
    most = size(heap, candidates)
    if mode[MOST] >= 0:
        most = min(most, mode[MOST] - (1 if terminator >= 0 else 0))
    own[L_TOP] = least if mode[SELECTION] == COMBINATIONS_MINIMUM else most


@bare
def end_level(run, node, operand):  # type: ignore[no-untyped-def]
    """Nothing is chosen for an operand any more."""
    for which in (CANDIDATES, NEEDED, TOOK, COMBINED):
        clear(run.heap, list_of(run, node, operand, which))


@bare
def is_lazy(mode):  # type: ignore[no-untyped-def]
    """Whether the choices can be read off the available instances one by one."""
    return (mode[SELECTION] == FIRST or mode[SELECTION] == LAST) and mode[LEAST] == 1


@bare
def next_choice(run, node, level, terminator):  # type: ignore[no-untyped-def]
    """Make the next choice of a level, in the lists NEEDED and TOOK of its operand; False if there is none."""
    own = run.levels[level]
    operand = own[L_OPERAND]
    mode = run.modes[run.nodes[node, MODE] + operand]
    selection = mode[SELECTION]
    heap = run.heap
    needed, took = list_of(run, node, operand, NEEDED), list_of(run, node, operand, TOOK)
    clear(heap, needed)
    clear(heap, took)
    number = own[L_CHOICE]
    own[L_CHOICE] += 1
    if is_lazy(mode):
        return _one(run, node, operand, number, terminator)
    candidates = list_of(run, node, operand, CANDIDATES)
    count = size(heap, candidates)
    ending = 1 if terminator >= 0 else 0
    least = mode[LEAST] - ending
    if selection == PICK:
        return _nth(run, node, operand, number, terminator)
    if selection in (COMBINATIONS, COMBINATIONS_MINIMUM):
        combined = list_of(run, node, operand, COMBINED)
        if not _next_combination(heap, combined, own, least, count):
            return False
        for index in range(size(heap, combined)):
            push(heap, needed, entry(heap, candidates, entry(heap, combined, index, 0), 0), 0, 0)
    elif selection == RESTRICTED:
        length = count - number
        if length < least:
            return False
        first = count - length if ending or run.nodes[node, BACKWARDS] else 0
        for index in range(first, first + length):
            push(heap, needed, entry(heap, candidates, index, 0), 0, 0)
    else:
        runs = count - least + 1 if least > 0 else 1
        if number >= runs:
            return False
        reverse = selection == LAST or (selection == CUMULATIVE and (ending or run.nodes[node, BACKWARDS]))
        first = runs - 1 - number if reverse else number
        for index in range(first, first + least):
            push(heap, needed, entry(heap, candidates, index, 0), 0, 0)
    if selection == CUMULATIVE:
        # The pattern is met by the choice that leaves most room for the others; the rest comes along.
        listed = candidates if ending else list_of(run, node, operand, AVAILABLE)
    else:
        listed = needed
    for index in range(size(heap, listed)):
        push(heap, took, entry(heap, listed, index, 0), 0, 0)
    if ending:
        push(heap, needed, terminator, 0, 0)
        push(heap, took, terminator, 0, 0)
    return True


@bare
def _one(run, node, operand, number, terminator):  # type: ignore[no-untyped-def]
    """One available instance, from one end: the next that has not been tried."""
    heap = run.heap
    if terminator >= 0:
        if number > 0:
            return False
        inst = terminator
    else:
        available = list_of(run, node, operand, AVAILABLE)
        if number >= size(heap, available):
            return False
        backwards = run.modes[run.nodes[node, MODE] + operand, SELECTION] == LAST
        inst = entry(heap, available, size(heap, available) - 1 - number if backwards else number, 0)
    push(heap, list_of(run, node, operand, NEEDED), inst, 0, 0)
    push(heap, list_of(run, node, operand, TOOK), inst, 0, 0)
    return True


@bare
def _nth(run, node, operand, number, terminator):  # type: ignore[no-untyped-def]
    """One of the candidates whose numbers are wanted."""
    heap = run.heap
    if terminator >= 0:
        return _one(run, node, operand, number, terminator)
    mode = run.modes[run.nodes[node, MODE] + operand]
    candidates = list_of(run, node, operand, CANDIDATES)
    count = size(heap, candidates)
    low = count if mode[PICK_LOW] < 0 else mode[PICK_LOW]
    high = count if mode[PICK_HIGH] < 0 else min(count, mode[PICK_HIGH])
    index = max(low, 1) - 1 + number
    if index >= high:
        return False
    inst = entry(heap, candidates, index, 0)
    push(heap, list_of(run, node, operand, NEEDED), inst, 0, 0)
    push(heap, list_of(run, node, operand, TOOK), inst, 0, 0)
    return True


@bare
def _next_combination(heap, combined, own, least, count):  # type: ignore[no-untyped-def]
    """Go on to the next set of so many of the candidates, in the order of their positions; then to larger sets."""
    length = own[L_SIZE]
    at = length - 1
    while at >= 0 and entry(heap, combined, at, 0) == count - length + at:
        at -= 1
    if at >= 0:
        position = entry(heap, combined, at, 0) + 1
        for index in range(at, length):
            put(heap, combined, index, position + index - at, 0, 0)
        return True
    length = least if length < 0 else length + 1
    if length > min(own[L_TOP], count):
        return False
    own[L_SIZE] = length
    clear(heap, combined)
    for index in range(length):
        push(heap, combined, index, 0, 0)
    return True


# --- what fits together -------------------------------------------------------------------------------------


@bare
def fits(run, node):  # type: ignore[no-untyped-def]
    """Whether what the operands need so far can belong to one match."""
    heap, nodes = run.heap, run.nodes
    operator = nodes[node, OPERATOR]
    if operator == DISJUNCTION:
        return True
    operands = nodes[node, CHILD_STOP] - nodes[node, CHILD]
    least, most, passed = 0, 0, 0
    some = False
    for operand in range(operands):
        needed = list_of(run, node, operand, NEEDED)
        if size(heap, needed) == 0:
            continue
        low, high = _span(heap, needed)
        if some and operator == SEQUENCE and passed >= low:
            return False
        passed = high
        least, most = (min(least, low), max(most, high)) if some else (low, high)
        some = True
    if nodes[node, LENGTH] >= 0 and most - least > nodes[node, LENGTH]:
        return False
    if operator == SEQUENCE and not nodes[node, APART]:
        return True
    for operand in range(operands):
        for other in range(operand + 1, operands):
            if not _go_together(run, node, operand, other):
                return False
    return True


@bare
def _span(heap, needed):  # type: ignore[no-untyped-def]
    """The first and the last time of some instances."""
    low = high = heap.insts[entry(heap, needed, 0, 0), I_TIME]
    for index in range(1, size(heap, needed)):
        time = heap.insts[entry(heap, needed, index, 0), I_TIME]
        low, high = min(low, time), max(high, time)
    return low, high


@bare
def _go_together(run, node, one, other):  # type: ignore[no-untyped-def]
    """Whether two operands need different instances, in order if they are of one class, and apart if they have to be."""
    heap, nodes = run.heap, run.nodes
    ones, others = list_of(run, node, one, NEEDED), list_of(run, node, other, NEEDED)
    if size(heap, ones) == 0 or size(heap, others) == 0:
        return True
    alike = run.modes[nodes[node, MODE] + one, CLASS] == run.modes[nodes[node, MODE] + other, CLASS]
    for index in range(size(heap, ones)):
        for place in range(size(heap, others)):
            mine, theirs = entry(heap, ones, index, 0), entry(heap, others, place, 0)
            if same(heap, mine, theirs) or (alike and precedes(heap, mine, theirs) >= 0):
                return False
    if not nodes[node, APART]:
        return True
    last, last_of_others = _span(heap, ones)[1], _span(heap, others)[1]
    second = others if last <= last_of_others else ones
    end = min(last, last_of_others)
    for index in range(size(heap, second)):  # noqa: SIM110  (numba has no generators)
        if end >= heap.insts[entry(heap, second, index, 0), I_START]:
            return False
    return True
