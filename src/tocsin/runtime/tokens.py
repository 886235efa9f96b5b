"""The token kernel: runs one program over the events of many keys, sorted by key and then by the total order.

A token waits in a state. Tokens of one state hang in one list, so an event that a state does not look at costs nothing
however many tokens wait there. The events a token has taken, each under a name, are a path in a tree of nodes that tokens
share. Paths that differ only in names share a *canonical* node; there a match is reported once, and forks that meet again
become one token. Of several ways, the one with the least names stays, and then the one with the least variables. Timers of
one kind run out in the order they were started, so each kind is a queue.

Tokens and nodes are rows of int64 tables. Everything is allocated before an event is looked at, for the most that event
can need: tokens it touches × moves, but no more than are allowed at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.growing import grown
from tocsin.runtime.program import (
    AND,
    ANYTHING,
    BIND,
    COMPARE,
    EQ,
    FALSE,
    GE,
    GT,
    LE,
    LEAF,
    LT,
    NE,
    NOT,
    NOTHING,
    TRUE,
    UNIFY,
    UNKNOWN,
    Array,
    Program,
)

NEVER = np.int64(1) << np.int64(62)  # a timer that does not run; also "for ever"
LONG_AGO = -NEVER

# Columns of a token. Behind these come its variables (numbers of values, -1 unset), the ends of its strong links, its
# timers (NEVER if stopped), and for each timer the next and the previous token in the timer's queue.
STATE, KEY, NODE, LAST_START, LAST_END, NEXT, PREVIOUS, SAME_NODE, TOKEN_WIDTH = range(9)
# Columns of a node: TIME and BEGIN are the end and the start of its event, START is the start of the path. CHILD is its
# youngest child and SIBLING the next older child of its parent, so that equal paths are one node. A canonical node heads the
# list of the TOKENS of its events, and EMITTED is 1 + its match.
PARENT, REF, ROLE, TIME, BEGIN, START, DEPTH, CHILD, SIBLING, CANON, EMITTED, TOKENS, NODE_WIDTH = range(13)
# Columns of a match; its variables follow.
MATCH_NODE, MATCH_KEY, MATCH_WIDTH = range(3)
# Where things are in a token, and how many.
VARIABLES, LINKS, TIMERS, LINK_AT, TIMER_AT, NEXT_AT, PREVIOUS_AT, WIDTH = range(8)
# Counters.
FREE, NODES, MATCHES, PENDING, LIVE, OVERFLOW, COUNTERS = range(7)
# Rows of the table of lists of tokens: by state, and queues by timer.
HEAD, TAIL, SIZE = range(3)


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order. R rows, V compared columns."""

    offsets: Array  # int64 (keys+1,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    bits: Array  # uint64 (R, W)
    values: Array  # int32 (R, V)  numbers of values, -1 for a missing one
    ref: Array  # int64 (R,)  what a match remembers of the row


class Values(NamedTuple):
    """What the kernel knows of a value: comparable ones share a kind, and ranks order them."""

    kind: Array  # int64
    rank: Array  # int64


def layout(program: Program) -> Array:
    """Where the parts of a token are."""
    v, k, t = program.variables, program.links, len(program.timers)
    first = TOKEN_WIDTH + v
    return np.array(
        [v, k, t, first, first + k, first + k + t, first + k + 2 * t, first + k + 3 * t], np.int64
    )


@kernel
def _has(mask, number):  # type: ignore[no-untyped-def]
    return (mask >> number) & 1 != 0


@kernel
def _bit(bits, row, number):  # type: ignore[no-untyped-def]
    return (bits[row, number >> 6] >> np.uint64(number & 63)) & np.uint64(1) != 0


@kernel
def _looks_at(domain, state, bits, row):  # type: ignore[no-untyped-def]
    """Whether an event can mean anything to tokens of a state."""
    for word in range(domain.shape[1]):  # noqa: SIM110  (a kernel has no generators)
        if domain[state, word] & bits[row, word]:
            return True
    return False


@kernel
def _compare(kinds, ranks, relation, left, right):  # type: ignore[no-untyped-def]
    if left < 0 or right < 0:
        return UNKNOWN
    same = kinds[left] == kinds[right]
    a, b = ranks[left], ranks[right]
    if relation == EQ:
        return TRUE if same and a == b else FALSE
    if relation == NE:
        return FALSE if same and a == b else TRUE
    if not same:
        return UNKNOWN
    if (
        (relation == LT and a < b)
        or (relation == LE and a <= b)
        or (relation == GT and a > b)
        or (relation == GE and a >= b)
    ):
        return TRUE
    return FALSE


@kernel
def _holds(specs, code, spec, bits, cells, row, kinds, ranks, bound, stack):  # type: ignore[no-untyped-def]
    """Whether a spec holds for an event, given the bound variables, which may gain some."""
    if not _bit(bits, row, specs[spec, 0]):
        return False
    if specs[spec, 1] == specs[spec, 2]:
        return True
    top = 0
    for at in range(specs[spec, 1], specs[spec, 2]):
        operation, a, b, c = code[at, 0], code[at, 1], code[at, 2], code[at, 3]
        if operation == LEAF:
            stack[top] = TRUE if _bit(bits, row, a) else (FALSE if _bit(bits, row, b) else UNKNOWN)
            top += 1
        elif operation == COMPARE:
            stack[top] = _compare(kinds, ranks, a, cells[row, b], bound[c])
            top += 1
        elif operation == BIND:
            if bound[b] < 0:
                bound[b] = cells[row, a]
            stack[top] = _compare(kinds, ranks, EQ, cells[row, a], bound[b])
            top += 1
        elif operation == UNIFY:
            if cells[row, a] < 0:
                stack[top] = TRUE
            else:
                if bound[b] < 0:
                    bound[b] = cells[row, a]
                stack[top] = _compare(kinds, ranks, EQ, cells[row, a], bound[b])
            top += 1
        elif operation == NOT:
            if stack[top - 1] != UNKNOWN:
                stack[top - 1] = FALSE if stack[top - 1] == TRUE else TRUE
        else:
            deciding = FALSE if operation == AND else TRUE
            left, right = stack[top - 2], stack[top - 1]
            top -= 1
            if left == deciding or right == deciding:
                stack[top - 1] = deciding
            elif left == UNKNOWN or right == UNKNOWN:
                stack[top - 1] = UNKNOWN
            else:
                stack[top - 1] = left
    return stack[0] == TRUE


@kernel
def _unbind(pool, token, bound):  # type: ignore[no-untyped-def]
    """The variables of a token, all unset for a start state."""
    for variable in range(len(bound)):
        bound[variable] = pool[token, TOKEN_WIDTH + variable] if token >= 0 else -1


@kernel
def _first_spec(  # type: ignore[no-untyped-def]
    specs, spec_list, code, first, last, bits, cells, row, kinds, ranks, pool, token, bound, stack
):
    """The first spec of a list that holds, or -1; `bound` are then the variables with what it binds."""
    for at in range(first, last):
        _unbind(pool, token, bound)
        if _holds(specs, code, spec_list[at], bits, cells, row, kinds, ranks, bound, stack):
            return spec_list[at]
    _unbind(pool, token, bound)
    return -1


@kernel
def _taken_as(  # type: ignore[no-untyped-def]
    tests, specs, spec_list, code, test, bits, cells, row, kinds, ranks, pool, token, bound, stack
):
    """The spec under which a test takes an event, or -1."""
    accepted = _first_spec(
        specs,
        spec_list,
        code,
        tests[test, 2],
        tests[test, 3],
        bits,
        cells,
        row,
        kinds,
        ranks,
        pool,
        token,
        bound,
        stack,
    )
    if tests[test, 0] == 0:
        return accepted
    if accepted >= 0:
        return -1
    return _first_spec(
        specs,
        spec_list,
        code,
        tests[test, 4],
        tests[test, 5],
        bits,
        cells,
        row,
        kinds,
        ranks,
        pool,
        token,
        bound,
        stack,
    )


@kernel
def _in_domain(  # type: ignore[no-untyped-def]
    states,
    moves,
    tests,
    specs,
    spec_list,
    code,
    state,
    bits,
    cells,
    row,
    kinds,
    ranks,
    pool,
    token,
    bound,
    stack,
):
    """Whether an event whose bits a state looks at is in its domain, for a token with its variables."""
    if states[state, 3] == 0:
        return True
    for move in range(states[state, 0], states[state, 1]):
        test = moves[move, 0]
        # Accepted specs and those of the domain stand side by side.
        found = _first_spec(
            specs,
            spec_list,
            code,
            tests[test, 2],
            tests[test, 5],
            bits,
            cells,
            row,
            kinds,
            ranks,
            pool,
            token,
            bound,
            stack,
        )
        if found >= 0:
            return True
    return False


@kernel
def _new_node(nodes, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    node = counts[NODES]
    counts[NODES] += 1
    nodes[node, PARENT] = parent
    nodes[node, REF] = ref
    nodes[node, ROLE] = role
    nodes[node, TIME] = time
    nodes[node, BEGIN] = start
    nodes[node, START] = min(nodes[parent, START], start)
    nodes[node, DEPTH] = nodes[parent, DEPTH] + 1
    nodes[node, CHILD] = -1
    nodes[node, SIBLING] = nodes[parent, CHILD]
    nodes[node, CANON] = node
    nodes[node, EMITTED] = 0
    nodes[node, TOKENS] = -1
    nodes[parent, CHILD] = node
    return node


@kernel
def _canonical_child(nodes, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    """The node that stands for one more event on a canonical path, whatever the event's name."""
    child = nodes[parent, CHILD]
    while child >= 0 and nodes[child, REF] == ref and nodes[child, TIME] == time:
        if role >= 0 or nodes[child, ROLE] == role:
            return nodes[child, CANON]
        child = nodes[child, SIBLING]
    return _new_node(nodes, counts, parent, ref, role, time, start)


@kernel
def _child(nodes, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    """The node for one more event on a path; the same node for the same event or timer under the same name."""
    canon = -1
    child = nodes[parent, CHILD]
    # Children for the present event are the youngest ones.
    while child >= 0 and nodes[child, REF] == ref and nodes[child, TIME] == time:
        if nodes[child, ROLE] == role:
            return child
        if role >= 0:  # timers of different names are different events
            canon = nodes[child, CANON]
        child = nodes[child, SIBLING]
    if canon < 0 and nodes[parent, CANON] != parent:
        canon = _canonical_child(nodes, counts, nodes[parent, CANON], ref, role, time, start)
    node = _new_node(nodes, counts, parent, ref, role, time, start)
    if canon >= 0:
        nodes[node, CANON] = canon
    return node


@kernel
def _compare_names(nodes, left, right):  # type: ignore[no-untyped-def]
    """Below, at or above zero as the names on one path come before, equal or come after those on another as long."""
    order = np.int64(0)
    while left != right:
        if nodes[left, ROLE] != nodes[right, ROLE]:
            order = nodes[left, ROLE] - nodes[right, ROLE]  # the first difference decides, and it is met last
        left, right = nodes[left, PARENT], nodes[right, PARENT]
    return order


@kernel
def _less_bound(kinds, ranks, bound, other):  # type: ignore[no-untyped-def]
    """Whether some variables come before others: unset first, then by kind and value."""
    for variable in range(len(bound)):
        a, b = bound[variable], other[variable]
        if a == b:
            continue
        if a < 0 or b < 0:
            return a < 0
        if kinds[a] != kinds[b]:
            return kinds[a] < kinds[b]
        return ranks[a] < ranks[b]
    return False


@kernel
def _known(pool, nodes, where, slot):  # type: ignore[no-untyped-def]
    """Whether there is an equal token already; it gets the lesser names of the two."""
    node = pool[slot, NODE]
    other = nodes[nodes[node, CANON], TOKENS]
    while other >= 0:
        same = pool[other, STATE] == pool[slot, STATE]
        for column in range(TOKEN_WIDTH, where[NEXT_AT]):
            same = same and pool[other, column] == pool[slot, column]
        if same:
            if _compare_names(nodes, node, pool[other, NODE]) < 0:
                pool[other, NODE] = node
            return True
        other = pool[other, SAME_NODE]
    return False


@kernel
def _emit(kinds, ranks, nodes, found, counts, node, key, bound):  # type: ignore[no-untyped-def]
    """Note a match, or another way to a match that is noted already."""
    canon = nodes[node, CANON]
    match = nodes[canon, EMITTED] - 1
    if match < 0:
        match = counts[MATCHES]
        counts[MATCHES] += 1
        nodes[canon, EMITTED] = match + 1
    else:
        order = _compare_names(nodes, node, found[match, MATCH_NODE])
        if order > 0 or (order == 0 and not _less_bound(kinds, ranks, bound, found[match, MATCH_WIDTH:])):
            return
    found[match, MATCH_NODE] = node
    found[match, MATCH_KEY] = key
    for variable in range(len(bound)):
        found[match, MATCH_WIDTH + variable] = bound[variable]


@kernel
def _go(  # type: ignore[no-untyped-def]
    moves,
    steps,
    timers,
    kinds,
    ranks,
    where,
    pool,
    free,
    pending,
    nodes,
    found,
    counts,
    token,
    key,
    move,
    role,
    ref,
    start,
    end,
    bound,
):
    """Make one move: the tokens it leads to become pending, a match is noted."""
    check = moves[move, 3]
    if check >= 0 and token >= 0 and start <= pool[token, where[LINK_AT] + check]:
        return
    made = moves[move, 6] - moves[move, 5]
    if counts[FREE] < made or counts[NODES] + 2 > len(nodes) or counts[MATCHES] == len(found):
        counts[OVERFLOW] = key + 1
        return
    node = _child(nodes, counts, pool[token, NODE] if token >= 0 else 0, ref, role, end, start)
    if moves[move, 4]:
        _emit(kinds, ranks, nodes, found, counts, node, key, bound)
    for step in range(moves[move, 5], moves[move, 6]):
        slot = free[counts[FREE] - 1]
        pool[slot, STATE] = steps[step, 0]
        pool[slot, KEY] = key
        pool[slot, NODE] = node
        pool[slot, LAST_START] = start
        pool[slot, LAST_END] = end
        for variable in range(len(bound)):
            pool[slot, TOKEN_WIDTH + variable] = bound[variable]
        for link in range(where[LINKS]):
            before = LONG_AGO
            if token >= 0 and _has(steps[step, 3], link):
                entered = _has(moves[move, 2], link)
                before = pool[token, LAST_END] if entered else pool[token, where[LINK_AT] + link]
            pool[slot, where[LINK_AT] + link] = before
        for timer in range(where[TIMERS]):
            when = NEVER
            if _has(steps[step, 1], timer):
                moment = end + timers[timer, 0] if timers[timer, 0] >= 0 else timers[timer, 1]
                when = moment if moment >= end else NEVER
            elif token >= 0 and _has(steps[step, 2], timer):
                when = pool[token, where[TIMER_AT] + timer]
            pool[slot, where[TIMER_AT] + timer] = when
        if _known(pool, nodes, where, slot):
            pool[slot, STATE] = -1
            continue
        counts[FREE] -= 1
        canon = nodes[node, CANON]
        pool[slot, SAME_NODE] = nodes[canon, TOKENS]
        nodes[canon, TOKENS] = slot
        pending[counts[PENDING]] = slot
        counts[PENDING] += 1
        counts[LIVE] += 1


@kernel
def _append(where, pool, lists, queues, slot):  # type: ignore[no-untyped-def]
    """Hang a token into the list of its state and into the queues of its timers."""
    state = pool[slot, STATE]
    last = lists[TAIL, state]
    pool[slot, NEXT] = -1
    pool[slot, PREVIOUS] = last
    if last >= 0:
        pool[last, NEXT] = slot
    else:
        lists[HEAD, state] = slot
    lists[TAIL, state] = slot
    lists[SIZE, state] += 1
    for timer in range(where[TIMERS]):
        at, following, preceding = where[TIMER_AT] + timer, where[NEXT_AT] + timer, where[PREVIOUS_AT] + timer
        when = pool[slot, at]
        if when == NEVER:
            continue
        # Timers are started in the order of their ends, so the place is almost always the last one.
        before = queues[TAIL, timer]
        while before >= 0 and pool[before, at] > when:
            before = pool[before, preceding]
        after = pool[before, following] if before >= 0 else queues[HEAD, timer]
        pool[slot, preceding] = before
        pool[slot, following] = after
        if before >= 0:
            pool[before, following] = slot
        else:
            queues[HEAD, timer] = slot
        if after >= 0:
            pool[after, preceding] = slot
        else:
            queues[TAIL, timer] = slot


@kernel
def _stop_timer(where, pool, queues, slot, timer):  # type: ignore[no-untyped-def]
    if pool[slot, where[TIMER_AT] + timer] == NEVER:
        return
    before, after = pool[slot, where[PREVIOUS_AT] + timer], pool[slot, where[NEXT_AT] + timer]
    if before >= 0:
        pool[before, where[NEXT_AT] + timer] = after
    else:
        queues[HEAD, timer] = after
    if after >= 0:
        pool[after, where[PREVIOUS_AT] + timer] = before
    else:
        queues[TAIL, timer] = before
    pool[slot, where[TIMER_AT] + timer] = NEVER


@kernel
def _remove(where, pool, free, nodes, counts, lists, queues, slot):  # type: ignore[no-untyped-def]
    """Take a token out of every list and free its slot."""
    state, before, after = pool[slot, STATE], pool[slot, PREVIOUS], pool[slot, NEXT]
    if before >= 0:
        pool[before, NEXT] = after
    else:
        lists[HEAD, state] = after
    if after >= 0:
        pool[after, PREVIOUS] = before
    else:
        lists[TAIL, state] = before
    lists[SIZE, state] -= 1
    for timer in range(where[TIMERS]):
        _stop_timer(where, pool, queues, slot, timer)
    canon = nodes[pool[slot, NODE], CANON]
    other = nodes[canon, TOKENS]
    if other == slot:
        nodes[canon, TOKENS] = pool[slot, SAME_NODE]
        other = -1
    while other >= 0:
        if pool[other, SAME_NODE] == slot:
            pool[other, SAME_NODE] = pool[slot, SAME_NODE]
            break
        other = pool[other, SAME_NODE]
    pool[slot, STATE] = -1
    free[counts[FREE]] = slot
    counts[FREE] += 1
    counts[LIVE] -= 1


@kernel
def _due(timers, where, pool, queues, until):  # type: ignore[no-untyped-def]
    """The timer that runs out next, up to `until`; -1 if none does. Equal ones go by name."""
    best = -1
    least = NEVER
    for timer in range(where[TIMERS]):
        slot = queues[HEAD, timer]
        if slot < 0:
            continue
        when = pool[slot, where[TIMER_AT] + timer]
        if when <= until and (when < least or (when == least and timers[timer, 2] < timers[best, 2])):
            best, least = timer, when
    return best


@kernel
def run(program, rows, values, where, pool, free, nodes, found, counts, token_offsets, alive, until, limit):  # type: ignore[no-untyped-def]
    """Feed the rows of every key to its tokens, then let timers up to `until` run out.

    `token_offsets` (keys+1) says which slots hold the tokens a key already has; `alive` (keys) which start states it still
    has, one bit each. The tables may grow and are returned. `counts[OVERFLOW]` is the number of the key, from 1, that had
    more than `limit` tokens.
    """
    states, domain, moves, steps, tests = (
        program.states,
        program.domain,
        program.moves,
        program.steps,
        program.tests,
    )
    specs, spec_list, code, timers, starts = (
        program.specs,
        program.spec_list,
        program.code,
        program.timers,
        program.starts,
    )
    restart_always = program.restart_always or program.leaves_out == NOTHING
    leaves_out = program.leaves_out
    bits, cells, kinds, ranks = rows.bits, rows.values, values.kind, values.rank
    offsets, row_start, row_end, row_ref = rows.offsets, rows.start, rows.end, rows.ref
    fanout = 1
    for state in range(len(states)):
        made = 0
        for move in range(states[state, 0], states[state, 1]):
            made += moves[move, 6] - moves[move, 5] + 1
        fanout = max(fanout, made)
    lists, queues = np.empty((3, len(states)), np.int64), np.empty((2, len(timers)), np.int64)
    bound = np.full(where[VARIABLES], -1, np.int64)
    stack = np.empty(len(code) + 1, np.int64)
    pending = np.empty(len(free), np.int64)
    for key in range(len(offsets) - 1):
        lists[:2] = -1
        lists[SIZE] = 0
        queues[:] = -1
        counts[LIVE] = token_offsets[key + 1] - token_offsets[key]
        for slot in range(token_offsets[key], token_offsets[key + 1]):
            _append(where, pool, lists, queues, slot)
        row, last_row = offsets[key], offsets[key + 1]
        while True:
            # Timers come after the events of the same moment.
            timer = _due(timers, where, pool, queues, row_end[row] - 1 if row < last_row else until)
            if timer < 0 and row == last_row:
                break
            touched = 1
            if timer < 0:
                touched = len(starts)
                for state in range(len(states)):
                    if lists[SIZE, state] > 0 and _looks_at(domain, state, bits, row):
                        touched += lists[SIZE, state]
            if counts[LIVE] > limit:
                counts[OVERFLOW] = key + 1
                return pool, nodes, found
            most = min(touched * fanout, limit + fanout) + 1
            if counts[FREE] < most:
                size = len(pool)
                larger = size + max(size, most)
                pool = grown(pool, larger)
                pending = np.empty(larger, np.int64)
                more = np.empty(larger, np.int64)
                more[: counts[FREE]] = free[: counts[FREE]]
                free = more
                for slot in range(size, larger):
                    pool[slot, STATE] = -1
                    free[counts[FREE]] = slot
                    counts[FREE] += 1
            if counts[NODES] + 2 * most > len(nodes):  # a new node may need a canonical one beside it
                nodes = grown(nodes, 2 * (len(nodes) + most))
            if counts[MATCHES] + most > len(found):
                found = grown(found, 2 * len(found) + most)
            if timer >= 0:
                token = queues[HEAD, timer]
                state, time = pool[token, STATE], pool[token, where[TIMER_AT] + timer]
                strongly = time > pool[token, LAST_END]
                _stop_timer(where, pool, queues, token, timer)  # it rings once, whatever comes of it
                _unbind(pool, token, bound)
                matched, moved = False, False
                for move in range(states[state, 0], states[state, 1]):
                    if not _has(tests[moves[move, 0], 1], timer):
                        continue
                    matched = True
                    if strongly or moves[move, 1] == 0:
                        moved = True
                        _go(moves, steps, timers, kinds, ranks, where, pool, free, pending, nodes, found, counts, token, key,
                            move, -1 - timer, -1, time, time, bound)  # fmt: skip
                fails = not matched and (strongly or states[state, 2] == 0) and _has(states[state, 4], timer)
                if moved or fails:
                    _remove(where, pool, free, nodes, counts, lists, queues, token)
            else:
                start, end = row_start[row], row_end[row]
                for turn in range(len(states) + len(starts)):
                    starting = turn >= len(states)
                    state = starts[turn - len(states)] if starting else turn
                    if starting and not _has(alive[key], turn - len(states)):
                        continue
                    if (not starting and lists[SIZE, state] == 0) or not _looks_at(domain, state, bits, row):
                        continue
                    token = -1 if starting else lists[HEAD, state]
                    while True:
                        after = -1 if starting else pool[token, NEXT]
                        # Behind what the token has used, which happens only when events are taken as they arrive.
                        # A timer comes after all events of its moment.
                        behind = not starting and (
                            end < pool[token, LAST_END]
                            or (
                                end == pool[token, LAST_END]
                                and (start < pool[token, LAST_START] or nodes[pool[token, NODE], ROLE] < 0)
                            )
                        )
                        strongly = starting or start > pool[token, LAST_END]
                        matched, moved, fails = False, False, False
                        if not behind:
                            for move in range(states[state, 0], states[state, 1]):
                                spec = _taken_as(tests, specs, spec_list, code, moves[move, 0], bits, cells, row, kinds, ranks,
                                                 pool, token, bound, stack)  # fmt: skip
                                if spec < 0:
                                    continue
                                matched = True
                                if strongly or moves[move, 1] == 0:
                                    moved = True
                                    _go(moves, steps, timers, kinds, ranks, where, pool, free, pending, nodes, found, counts,
                                        token, key, move, specs[spec, 3], row_ref[row], start, end, bound)  # fmt: skip
                            if leaves_out == NOTHING:
                                fails = not moved
                            elif not matched and (strongly or states[state, 2] == 0):
                                fails = _in_domain(states, moves, tests, specs, spec_list, code, state, bits, cells, row,
                                                   kinds, ranks, pool, token, bound, stack)  # fmt: skip
                        if starting:
                            if fails and not restart_always:
                                alive[key] &= ~(1 << (turn - len(states)))
                            break
                        if (moved and leaves_out != ANYTHING) or fails:
                            _remove(where, pool, free, nodes, counts, lists, queues, token)
                        token = after
                        if token < 0:
                            break
                row += 1
            if counts[OVERFLOW]:
                return pool, nodes, found
            # The tokens that the event made begin to wait.
            for at in range(counts[PENDING]):
                _append(where, pool, lists, queues, pending[at])
            counts[PENDING] = 0
    return pool, nodes, found


@kernel
def unroll(nodes, ends):  # type: ignore[no-untyped-def]
    """The events on the paths to the given nodes, first event first: offsets, refs, roles, ends and starts."""
    offsets = np.zeros(len(ends) + 1, np.int64)
    for at in range(len(ends)):
        offsets[at + 1] = offsets[at] + nodes[ends[at], DEPTH]
    refs = np.empty(offsets[-1], np.int64)
    roles = np.empty(offsets[-1], np.int64)
    times = np.empty(offsets[-1], np.int64)
    begins = np.empty(offsets[-1], np.int64)
    for at in range(len(ends)):
        node = ends[at]
        for place in range(offsets[at + 1] - 1, offsets[at] - 1, -1):
            refs[place], roles[place] = nodes[node, REF], nodes[node, ROLE]
            times[place], begins[place] = nodes[node, TIME], nodes[node, BEGIN]
            node = nodes[node, PARENT]
    return offsets, refs, roles, times, begins


@kernel
def first_of(nodes, ends):  # type: ignore[no-untyped-def]
    """The node of the first event on the path to each of the given nodes."""
    first = np.empty(len(ends), np.int64)
    for at in range(len(ends)):
        node = ends[at]
        while nodes[node, PARENT] != 0:
            node = nodes[node, PARENT]
        first[at] = node
    return first


@kernel
def reachable(nodes, ends, count):  # type: ignore[no-untyped-def]
    """Which of the first `count` nodes lie on the path to one of `ends`, or on its canonical path."""
    keep = np.zeros(count, np.bool_)
    keep[0] = True
    for end in ends:
        for node in (end, nodes[end, CANON]):
            while not keep[node]:
                keep[node] = True
                node = nodes[node, PARENT]
    return keep


def compacted(rows: Array, nodes: Array, count: int) -> tuple[Array, Array]:
    """Tokens sorted by key, and only those of the first `count` nodes that they need."""
    rows = rows[np.argsort(rows[:, KEY], kind="stable")]
    keep = reachable(nodes, np.ascontiguousarray(rows[:, NODE]), count)
    place = np.cumsum(keep) - 1
    kept = nodes[:count][keep]
    rows[:, NODE] = place[rows[:, NODE]]
    for column in (PARENT, CANON):
        kept[:, column] = place[kept[:, column]]
    # Which tokens, children and matches a node has matters only within one batch.
    kept[:, [CHILD, SIBLING, TOKENS]] = -1
    kept[:, EMITTED] = 0
    return rows, kept


def root() -> Array:
    """A tree of events with nothing in it."""
    nodes = np.zeros((1, NODE_WIDTH), np.int64)
    nodes[0, START] = NEVER
    nodes[0, [REF, CHILD, SIBLING, TOKENS]] = -1
    return nodes
