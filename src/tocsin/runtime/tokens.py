"""The token kernel: runs one program over the events of many keys, sorted by key and then by the total order.

A token waits in a state. Tokens of one state hang in one list, so an event that a state does not look at costs nothing
however many tokens wait there. The events a token has taken are a path in a tree of nodes that tokens share; equal paths
are the same node, which is how a match is reported once and forks that meet again become one token. Timers of one kind run
out in the order they were started, so each kind is a queue.

Everything is allocated before an event is looked at, for the most that event can need: (tokens + starts) × moves.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from tocsin.runtime.program import AND, BIND, COMPARE, EQ, FALSE, GE, GT, LE, LEAF, LT, NE, NOT, OR, TRUE, UNIFY, UNKNOWN
from tocsin.runtime.program import Array, Program

NEVER = np.int64(1) << np.int64(62)  # a timer that does not run; also "for ever"
LONG_AGO = -NEVER

IGNORED, ACCEPTED, FAILED = range(3)
# counters
TOKENS, FREE, NODES, MATCHES, PENDING, LIVE, PEAK = range(7)


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order. R rows, V compared columns."""

    offsets: Array  # int64 (keys+1,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    bits: Array  # uint64 (R, W)
    values: Array  # int32 (R, V)  ids of values, -1 for a missing one
    ref: Array  # int64 (R,)  what a match remembers of the row


class Values(NamedTuple):
    """What the kernel knows of a value: comparable ones share a kind, and ranks order them."""

    kind: Array  # int8
    rank: Array  # int64


class Pool(NamedTuple):
    """Tokens, one slot each."""

    state: Array  # int32, -1 for a free slot
    key: Array  # int64
    node: Array  # int64
    last_start: Array  # int64  of the last event taken
    last_end: Array  # int64
    variables: Array  # int32 (slots, variables)
    ends: Array  # int64 (slots, links)
    timers: Array  # int64 (slots, timers)
    next: Array  # int64  list of the state
    previous: Array  # int64
    timer_next: Array  # int64 (slots, timers)  queue of the timer
    timer_previous: Array  # int64 (slots, timers)
    same_node: Array  # int64  list of the tokens on the same node
    free: Array  # int64  stack of free slots
    pending: Array  # int64  tokens made by the event at hand


class Arena(NamedTuple):
    """The shared tree of events taken. Node 0 is the root."""

    parent: Array  # int64
    ref: Array  # int64
    role: Array  # int32  spec, or -1 - timer
    time: Array  # int64  end of the event, or when the timer ran out
    start: Array  # int64  earliest start on the path
    depth: Array  # int32
    child_ref: Array  # int64  the last child, so that equal paths are one node
    child_role: Array  # int32
    child_time: Array  # int64
    child: Array  # int64
    emitted: Array  # bool
    tokens: Array  # int64  head of the list of tokens on this node


class Found(NamedTuple):
    """Matches."""

    node: Array  # int64
    key: Array  # int64
    variables: Array  # int32 (slots, variables)


@nb.njit(cache=True)
def _grown(old, size):  # type: ignore[no-untyped-def]
    new = np.empty((size,) + old.shape[1:], old.dtype)
    new[: len(old)] = old
    return new


@nb.njit(cache=True)
def grow_pool(pool, size):  # type: ignore[no-untyped-def]
    """The same tokens with room for `size`."""
    return Pool(
        _grown(pool.state, size),
        _grown(pool.key, size),
        _grown(pool.node, size),
        _grown(pool.last_start, size),
        _grown(pool.last_end, size),
        _grown(pool.variables, size),
        _grown(pool.ends, size),
        _grown(pool.timers, size),
        _grown(pool.next, size),
        _grown(pool.previous, size),
        _grown(pool.timer_next, size),
        _grown(pool.timer_previous, size),
        _grown(pool.same_node, size),
        _grown(pool.free, size),
        _grown(pool.pending, size),
    )


@nb.njit(cache=True)
def grow_arena(arena, size):  # type: ignore[no-untyped-def]
    """The same nodes with room for `size`."""
    return Arena(
        _grown(arena.parent, size),
        _grown(arena.ref, size),
        _grown(arena.role, size),
        _grown(arena.time, size),
        _grown(arena.start, size),
        _grown(arena.depth, size),
        _grown(arena.child_ref, size),
        _grown(arena.child_role, size),
        _grown(arena.child_time, size),
        _grown(arena.child, size),
        _grown(arena.emitted, size),
        _grown(arena.tokens, size),
    )


@nb.njit(cache=True)
def _compare(values, relation, left, right):  # type: ignore[no-untyped-def]
    if left < 0 or right < 0:
        return UNKNOWN
    same = values.kind[left] == values.kind[right]
    if relation == EQ:
        return TRUE if same and values.rank[left] == values.rank[right] else FALSE
    if relation == NE:
        return FALSE if same and values.rank[left] == values.rank[right] else TRUE
    if not same:
        return UNKNOWN
    a, b = values.rank[left], values.rank[right]
    truth = (
        (relation == LT and a < b) or (relation == LE and a <= b) or (relation == GT and a > b) or (relation == GE and a >= b)
    )
    return TRUE if truth else FALSE


@nb.njit(cache=True)
def _bit(bits, number):  # type: ignore[no-untyped-def]
    return (bits[number >> 6] >> np.uint64(number & 63)) & np.uint64(1) != 0


@nb.njit(cache=True)
def _holds(program, spec, bits, cells, values, bound, stack):  # type: ignore[no-untyped-def]
    """Whether a spec holds for an event, given the bound variables, which may gain some."""
    if not _bit(bits, program.spec_bit[spec]):
        return False
    first, last = program.spec_code[spec], program.spec_code[spec + 1]
    if first == last:
        return True
    top = 0
    for at in range(first, last):
        operation, a, b, c = program.code[at, 0], program.code[at, 1], program.code[at, 2], program.code[at, 3]
        if operation == LEAF:
            stack[top] = TRUE if _bit(bits, a) else (FALSE if _bit(bits, b) else UNKNOWN)
            top += 1
        elif operation == COMPARE:
            stack[top] = _compare(values, a, cells[b], bound[c])
            top += 1
        elif operation == BIND:
            if bound[b] < 0 and cells[a] >= 0:
                bound[b] = cells[a]
            stack[top] = _compare(values, EQ, cells[a], bound[b])
            top += 1
        elif operation == UNIFY:
            if cells[a] < 0:
                stack[top] = TRUE
            else:
                if bound[b] < 0:
                    bound[b] = cells[a]
                stack[top] = _compare(values, EQ, cells[a], bound[b])
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


@nb.njit(cache=True)
def _first_spec(program, first, last, bits, cells, values, token_variables, bound, stack):  # type: ignore[no-untyped-def]
    """The first spec of a list that holds, or -1; `bound` are then the variables with what it binds."""
    for at in range(first, last):
        bound[:] = token_variables
        spec = program.spec_list[at]
        if _holds(program, spec, bits, cells, values, bound, stack):
            return spec
    bound[:] = token_variables
    return -1


@nb.njit(cache=True)
def _taken_as(program, test, bits, cells, values, token_variables, bound, stack):  # type: ignore[no-untyped-def]
    """The spec under which a test takes an event, or -1."""
    first, last = program.test_accept[test, 0], program.test_accept[test, 1]
    if not program.test_negated[test]:
        return _first_spec(program, first, last, bits, cells, values, token_variables, bound, stack)
    if _first_spec(program, first, last, bits, cells, values, token_variables, bound, stack) >= 0:
        bound[:] = token_variables
        return -1
    first, last = program.test_domain[test, 0], program.test_domain[test, 1]
    return _first_spec(program, first, last, bits, cells, values, token_variables, bound, stack)


@nb.njit(cache=True)
def _in_domain(program, state, bits, cells, values, token_variables, bound, stack):  # type: ignore[no-untyped-def]
    """Whether an event is in the domain of a state, for a token with these variables."""
    if not program.state_has_code[state]:
        return _any_bits(program.state_domain, state, bits)
    for move in range(program.state_moves[state], program.state_moves[state + 1]):
        test = program.move_test[move]
        first, last = program.test_accept[test, 0], program.test_accept[test, 1]
        if _first_spec(program, first, last, bits, cells, values, token_variables, bound, stack) >= 0:
            return True
        first, last = program.test_domain[test, 0], program.test_domain[test, 1]
        if _first_spec(program, first, last, bits, cells, values, token_variables, bound, stack) >= 0:
            return True
    return False


@nb.njit(cache=True)
def _any_bits(masks, row, bits):  # type: ignore[no-untyped-def]
    for word in range(masks.shape[1]):
        if masks[row, word] & bits[word]:
            return True
    return False


@nb.njit(cache=True)
def _child(arena, counts, parent, ref, role, time, start):  # type: ignore[no-untyped-def]
    """The node for one more event on a path; the same node for the same event."""
    if arena.child[parent] >= 0 and arena.child_ref[parent] == ref and arena.child_time[parent] == time:
        if (role < 0) == (arena.child_role[parent] < 0) and (role >= 0 or role == arena.child_role[parent]):
            return arena.child[parent]
    node = counts[NODES]
    counts[NODES] += 1
    arena.parent[node] = parent
    arena.ref[node] = ref
    arena.role[node] = role
    arena.time[node] = time
    arena.start[node] = min(arena.start[parent], start)
    arena.depth[node] = arena.depth[parent] + 1
    arena.child[node] = -1
    arena.emitted[node] = False
    arena.tokens[node] = -1
    arena.child_ref[parent] = ref
    arena.child_role[parent] = role
    arena.child_time[parent] = time
    arena.child[parent] = node
    return node


@nb.njit(cache=True)
def _has(mask, number):  # type: ignore[no-untyped-def]
    return (mask >> np.uint64(number)) & np.uint64(1) != 0


@nb.njit(cache=True)
def _known(pool, arena, slot):  # type: ignore[no-untyped-def]
    """Whether there is an equal token already."""
    other = arena.tokens[pool.node[slot]]
    while other >= 0:
        if (
            pool.state[other] == pool.state[slot]
            and np.array_equal(pool.variables[other], pool.variables[slot])
            and np.array_equal(pool.ends[other], pool.ends[slot])
            and np.array_equal(pool.timers[other], pool.timers[slot])
        ):
            return True
        other = pool.same_node[other]
    return False


@nb.njit(cache=True)
def _go(program, pool, arena, found, counts, token, key, move, role, ref, start, end, bound):  # type: ignore[no-untyped-def]
    """Make one move: the tokens it leads to become pending, a match is noted."""
    check = program.move_check[move]
    if check >= 0 and token >= 0 and start <= pool.ends[token, check]:
        return
    parent = pool.node[token] if token >= 0 else 0
    node = _child(arena, counts, parent, ref, role, end, start)
    if program.move_emits[move] and not arena.emitted[node]:
        arena.emitted[node] = True
        match = counts[MATCHES]
        counts[MATCHES] += 1
        found.node[match] = node
        found.key[match] = key
        found.variables[match] = bound
    for step in range(program.move_steps[move], program.move_steps[move + 1]):
        counts[FREE] -= 1
        slot = pool.free[counts[FREE]]
        pool.state[slot] = program.step_state[step]
        pool.key[slot] = key
        pool.node[slot] = node
        pool.last_start[slot] = start
        pool.last_end[slot] = end
        pool.variables[slot] = bound
        for link in range(program.links):
            pool.ends[slot, link] = LONG_AGO
            if token >= 0 and _has(program.step_links[step], link):
                entered = _has(program.move_enters[move], link)
                pool.ends[slot, link] = pool.last_end[token] if entered else pool.ends[token, link]
        for timer in range(len(program.timer_after)):
            pool.timers[slot, timer] = NEVER
            if _has(program.step_arms[step], timer):
                when = end + program.timer_after[timer] if program.timer_after[timer] >= 0 else program.timer_at[timer]
                if when >= end:
                    pool.timers[slot, timer] = when
            elif token >= 0 and _has(program.step_timers[step], timer):
                pool.timers[slot, timer] = pool.timers[token, timer]
        if _known(pool, arena, slot):
            pool.state[slot] = -1
            pool.free[counts[FREE]] = slot
            counts[FREE] += 1
            continue
        pool.same_node[slot] = arena.tokens[node]
        arena.tokens[node] = slot
        pool.pending[counts[PENDING]] = slot
        counts[PENDING] += 1
        counts[LIVE] += 1


@nb.njit(cache=True)
def _step(program, rows, values, pool, arena, found, counts, token, key, state, row, bound, unset, stack):  # type: ignore[no-untyped-def]
    """Give an event to a token, or to a start state if `token` is -1."""
    start, end = rows.start[row], rows.end[row]
    bits, cells = rows.bits[row], rows.values[row]
    if token >= 0 and (end < pool.last_end[token] or (end == pool.last_end[token] and start < pool.last_start[token])):
        return IGNORED  # only when events are taken as they arrive: it comes before what the token has used
    own = pool.variables[token] if token >= 0 else unset
    strongly = token < 0 or start > pool.last_end[token]
    matched = False
    moved = False
    for move in range(program.state_moves[state], program.state_moves[state + 1]):
        role = _taken_as(program, program.move_test[move], bits, cells, values, own, bound, stack)
        if role < 0:
            continue
        matched = True
        if program.move_strong[move] and not strongly:
            continue
        moved = True
        _go(program, pool, arena, found, counts, token, key, move, role, rows.ref[row], start, end, bound)
    if moved:
        return ACCEPTED
    if matched or (program.state_all_strong[state] and not strongly):
        return IGNORED
    return FAILED if _in_domain(program, state, bits, cells, values, own, bound, stack) else IGNORED


@nb.njit(cache=True)
def _ring(program, pool, arena, found, counts, token, timer, bound):  # type: ignore[no-untyped-def]
    """Let a timer of a token run out."""
    state = pool.state[token]
    time = pool.timers[token, timer]
    strongly = time > pool.last_end[token]
    matched = False
    moved = False
    bound[:] = pool.variables[token]
    for move in range(program.state_moves[state], program.state_moves[state + 1]):
        if not _has(program.test_timers[program.move_test[move]], timer):
            continue
        matched = True
        if program.move_strong[move] and not strongly:
            continue
        moved = True
        _go(program, pool, arena, found, counts, token, pool.key[token], move, -1 - timer, np.int64(-1), time, time, bound)
    if moved:
        return ACCEPTED
    if matched or (program.state_all_strong[state] and not strongly):
        return IGNORED
    return FAILED if _has(program.state_timers[state], timer) else IGNORED


@nb.njit(cache=True)
def _append(pool, heads, tails, sizes, timer_heads, timer_tails, slot):  # type: ignore[no-untyped-def]
    """Hang a token into the list of its state and into the queues of its timers."""
    state = pool.state[slot]
    sizes[state] += 1
    pool.next[slot] = -1
    pool.previous[slot] = tails[state]
    if tails[state] >= 0:
        pool.next[tails[state]] = slot
    else:
        heads[state] = slot
    tails[state] = slot
    for timer in range(len(timer_heads)):
        when = pool.timers[slot, timer]
        if when == NEVER:
            continue
        # Timers are started in the order of their ends, so the place is almost always the last one.
        before = timer_tails[timer]
        while before >= 0 and pool.timers[before, timer] > when:
            before = pool.timer_previous[before, timer]
        after = pool.timer_next[before, timer] if before >= 0 else timer_heads[timer]
        pool.timer_previous[slot, timer] = before
        pool.timer_next[slot, timer] = after
        if before >= 0:
            pool.timer_next[before, timer] = slot
        else:
            timer_heads[timer] = slot
        if after >= 0:
            pool.timer_previous[after, timer] = slot
        else:
            timer_tails[timer] = slot


@nb.njit(cache=True)
def _stop_timer(pool, timer_heads, timer_tails, slot, timer):  # type: ignore[no-untyped-def]
    if pool.timers[slot, timer] == NEVER:
        return
    before, after = pool.timer_previous[slot, timer], pool.timer_next[slot, timer]
    if before >= 0:
        pool.timer_next[before, timer] = after
    else:
        timer_heads[timer] = after
    if after >= 0:
        pool.timer_previous[after, timer] = before
    else:
        timer_tails[timer] = before
    pool.timers[slot, timer] = NEVER


@nb.njit(cache=True)
def _leave_node(pool, arena, slot):  # type: ignore[no-untyped-def]
    node = pool.node[slot]
    other = arena.tokens[node]
    if other == slot:
        arena.tokens[node] = pool.same_node[slot]
        return
    while other >= 0:
        if pool.same_node[other] == slot:
            pool.same_node[other] = pool.same_node[slot]
            return
        other = pool.same_node[other]


@nb.njit(cache=True)
def _remove(pool, arena, counts, heads, tails, sizes, timer_heads, timer_tails, slot):  # type: ignore[no-untyped-def]
    """Take a token out of every list and free its slot."""
    state = pool.state[slot]
    sizes[state] -= 1
    _leave_node(pool, arena, slot)
    before, after = pool.previous[slot], pool.next[slot]
    if before >= 0:
        pool.next[before] = after
    else:
        heads[state] = after
    if after >= 0:
        pool.previous[after] = before
    else:
        tails[state] = before
    for timer in range(len(timer_heads)):
        _stop_timer(pool, timer_heads, timer_tails, slot, timer)
    pool.state[slot] = -1
    pool.free[counts[FREE]] = slot
    counts[FREE] += 1
    counts[LIVE] -= 1


@nb.njit(cache=True)
def _settle(pool, counts, heads, tails, sizes, timer_heads, timer_tails):  # type: ignore[no-untyped-def]
    """The tokens the last event made begin to wait."""
    for at in range(counts[PENDING]):
        _append(pool, heads, tails, sizes, timer_heads, timer_tails, pool.pending[at])
    counts[PENDING] = 0
    counts[PEAK] = max(counts[PEAK], counts[LIVE])


@nb.njit(cache=True)
def _due(program, pool, timer_heads, until):  # type: ignore[no-untyped-def]
    """The timer that runs out next, up to `until`; -1 if none does. Equal ones go by name."""
    best = -1
    for timer in range(len(timer_heads)):
        slot = timer_heads[timer]
        if slot < 0 or pool.timers[slot, timer] > until:
            continue
        if best >= 0:
            when, least = pool.timers[slot, timer], pool.timers[timer_heads[best], best]
            if when > least or (when == least and program.timer_rank[timer] > program.timer_rank[best]):
                continue
        best = timer
    return best


@nb.njit(cache=True)
def run(program, rows, values, pool, arena, found, counts, token_offsets, alive, until, limit):  # type: ignore[no-untyped-def]
    """Feed the rows of every key to its tokens, then let timers up to `until` run out.

    `token_offsets` (keys+1) says which slots hold the tokens a key already has; `alive` (keys) which start states it still
    has, one bit each. Both pool and arena may grow and are returned. A negative last count means that a key had more than
    `limit` tokens.
    """
    fanout = 1
    for state in range(len(program.state_moves) - 1):
        steps = 0
        for move in range(program.state_moves[state], program.state_moves[state + 1]):
            steps += program.move_steps[move + 1] - program.move_steps[move] + 1
        fanout = max(fanout, steps)
    states = len(program.state_moves) - 1
    heads, tails, sizes = np.empty(states, np.int64), np.empty(states, np.int64), np.empty(states, np.int64)
    timers = len(program.timer_after)
    timer_heads, timer_tails = np.empty(timers, np.int64), np.empty(timers, np.int64)
    bound = np.empty(program.variables, np.int32)
    unset = np.full(program.variables, -1, np.int32)
    stack = np.empty(len(program.code) + 1, np.int64)
    for key in range(len(rows.offsets) - 1):
        heads[:] = -1
        tails[:] = -1
        sizes[:] = 0
        timer_heads[:] = -1
        timer_tails[:] = -1
        counts[LIVE] = token_offsets[key + 1] - token_offsets[key]
        for slot in range(token_offsets[key], token_offsets[key + 1]):
            _append(pool, heads, tails, sizes, timer_heads, timer_tails, slot)
        row, last_row = rows.offsets[key], rows.offsets[key + 1]
        while True:
            # Timers come after the events of the same moment.
            timer = _due(program, pool, timer_heads, rows.end[row] - 1 if row < last_row else until)
            if timer < 0 and row == last_row:
                break
            touched = 1
            if timer < 0:
                touched = len(program.starts)
                for state in range(states):
                    if heads[state] >= 0 and _any_bits(program.state_domain, state, rows.bits[row]):
                        touched += sizes[state]
            most = touched * fanout + 1
            if counts[FREE] < most:
                size = len(pool.state)
                larger = size + max(size, most)
                pool = grow_pool(pool, larger)
                for slot in range(size, larger):
                    pool.state[slot] = -1
                    pool.free[counts[FREE]] = slot
                    counts[FREE] += 1
            if counts[NODES] + most > len(arena.parent):
                arena = grow_arena(arena, 2 * len(arena.parent) + most)
            if counts[MATCHES] + most > len(found.node):
                size = 2 * len(found.node) + most
                found = Found(_grown(found.node, size), _grown(found.key, size), _grown(found.variables, size))
            if counts[LIVE] > limit:
                counts[PEAK] = -1 - key
                return pool, arena, found
            if timer >= 0:
                token = timer_heads[timer]
                outcome = _ring(program, pool, arena, found, counts, token, timer, bound)
                if outcome == IGNORED:
                    _stop_timer(pool, timer_heads, timer_tails, token, timer)
                else:
                    _remove(pool, arena, counts, heads, tails, sizes, timer_heads, timer_tails, token)
                _settle(pool, counts, heads, tails, sizes, timer_heads, timer_tails)
                continue
            bits = rows.bits[row]
            for state in range(states):
                if heads[state] < 0 or not _any_bits(program.state_domain, state, bits):
                    continue
                token = heads[state]
                while token >= 0:
                    after = pool.next[token]
                    outcome = _step(
                        program, rows, values, pool, arena, found, counts, token, key, state, row, bound, unset, stack
                    )
                    if outcome != IGNORED:
                        _remove(pool, arena, counts, heads, tails, sizes, timer_heads, timer_tails, token)
                    token = after
            for number in range(len(program.starts)):
                state = program.starts[number]
                if not _has(alive[key], number) or not _any_bits(program.state_domain, state, bits):
                    continue
                outcome = _step(program, rows, values, pool, arena, found, counts, -1, key, state, row, bound, unset, stack)
                if outcome == FAILED and not program.restart_always:
                    alive[key] &= ~(np.uint64(1) << np.uint64(number))
            _settle(pool, counts, heads, tails, sizes, timer_heads, timer_tails)
            row += 1
    return pool, arena, found


@nb.njit(cache=True)
def unroll(arena, nodes):  # type: ignore[no-untyped-def]
    """The events on the paths to the given nodes, first event first: offsets, refs, roles and times."""
    offsets = np.zeros(len(nodes) + 1, np.int64)
    for at in range(len(nodes)):
        offsets[at + 1] = offsets[at] + arena.depth[nodes[at]]
    refs = np.empty(offsets[-1], np.int64)
    roles = np.empty(offsets[-1], np.int32)
    times = np.empty(offsets[-1], np.int64)
    for at in range(len(nodes)):
        node = nodes[at]
        for place in range(offsets[at + 1] - 1, offsets[at] - 1, -1):
            refs[place], roles[place], times[place] = arena.ref[node], arena.role[node], arena.time[node]
            node = arena.parent[node]
    return offsets, refs, roles, times


@nb.njit(cache=True)
def reachable(parent, nodes, count):  # type: ignore[no-untyped-def]
    """Which of the first `count` nodes lie on the path to one of `nodes`."""
    keep = np.zeros(count, np.bool_)
    keep[0] = True
    for node in nodes:
        while not keep[node]:
            keep[node] = True
            node = parent[node]
    return keep


def empty_pool(program: Program, size: int) -> Pool:
    """A pool with no token in it."""
    timers = len(program.timer_after)
    return Pool(
        np.full(size, -1, np.int32),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.full((size, program.variables), -1, np.int32),
        np.full((size, program.links), LONG_AGO, np.int64),
        np.full((size, timers), NEVER, np.int64),
        np.full(size, -1, np.int64),
        np.full(size, -1, np.int64),
        np.full((size, timers), -1, np.int64),
        np.full((size, timers), -1, np.int64),
        np.full(size, -1, np.int64),
        np.arange(size - 1, -1, -1, dtype=np.int64),
        np.zeros(size, np.int64),
    )


def empty_arena(size: int) -> Arena:
    """An arena with only the root in it."""
    arena = Arena(
        np.zeros(size, np.int64),
        np.full(size, -1, np.int64),
        np.zeros(size, np.int32),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int32),
        np.full(size, -1, np.int64),
        np.zeros(size, np.int32),
        np.zeros(size, np.int64),
        np.full(size, -1, np.int64),
        np.zeros(size, np.bool_),
        np.full(size, -1, np.int64),
    )
    arena.start[0] = NEVER
    return arena
