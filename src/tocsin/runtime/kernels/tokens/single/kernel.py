"""The token kernel: runs one program over the events of many keys, sorted by key and then by the total order.

A token waits in a state. Tokens of one state form a list, so an event that is irrelevant to a state costs nothing however
many tokens wait there. The events a token has taken, each under a name, are a path in a tree of nodes that tokens
share (`paths`). Paths that differ only in names share a *canonical* node; there a match is reported once, and forks that meet
again become one token. Of several ways, the one with the least names stays, and then the one with the least variables. Timers
of one kind run out in the order they were started, so each kind is a queue.

Tokens and nodes are rows of int64 tables. All memory is allocated before an event is processed, for the most that the event
can need: tokens it touches × moves, but no more than the limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import bare, kernel
from tocsin.runtime.kernels.tokens.single.comparisons import (
    Asking,
    in_domain,
    relevant_types,
    taken_as,
    unbind,
)
from tocsin.runtime.kernels.tokens.single.paths import child, compare_names
from tocsin.runtime.kernels.tokens.single.token import (
    CANON,
    EMITTED,
    FREE,
    HEAD,
    KEY,
    LAST_END,
    LAST_START,
    LIVE,
    MATCH_KEY,
    MATCH_NODE,
    MATCH_WIDTH,
    MATCHES,
    NEXT,
    NODE,
    NODES,
    OVERFLOW,
    PENDING,
    ROLE,
    SAME_NODE,
    SIZE,
    STATE,
    TOKEN_WIDTH,
    TOKENS,
)
from tocsin.runtime.kernels.tokens.single.waiting import (
    append,
    next_timer,
    remove,
    stop_timer,
    wait_in,
    with_room,
)
from tocsin.runtime.moments import LONG_AGO, NEVER
from tocsin.runtime.program import (
    ANYTHING,
    MOVE_EMITS,
    MOVE_ENTERS,
    MOVE_FIRST,
    MOVE_LINK,
    MOVE_STOP,
    MOVE_STRONG,
    MOVE_TEST,
    NOTHING,
    SPEC_ROLE,
    STATE_FIRST,
    STATE_STOP,
    STATE_STRONG,
    STATE_TIMERS,
    STEP_GOES_ON,
    STEP_LINKS,
    STEP_STARTS,
    STEP_STATE,
    TEST_TIMERS,
    TIMER_AFTER,
    TIMER_LIMIT,
    TIMER_MOMENT,
    TIMER_NAMED,
    Array,
)


class Moving(NamedTuple):
    """The inputs of a move."""

    moves: Array
    steps: Array
    timers: Array
    kinds: Array  # int64, by value
    ranks: Array  # int64, by value
    bound: Array  # int64 (variables,): those of the moving token, with those the event binds


class Taken(NamedTuple):
    """An event, or a timer that has run out, as a token takes it."""

    key: int
    role: int  # the name of the event, or -1 - the first timer of the same name
    ref: int  # -1 for a timer
    start: int
    end: int
    first_end: int  # see `Rows`


@bare
def _has(mask, number):  # type: ignore[no-untyped-def]
    return (mask >> number) & 1 != 0


@bare
def _less_bound(moving, found, match):  # type: ignore[no-untyped-def]
    """Whether the bound variables come before those of a match: unset first, then by kind and value."""
    kinds, ranks = moving.kinds, moving.ranks
    for variable in range(len(moving.bound)):
        a, b = moving.bound[variable], found[match, MATCH_WIDTH + variable]
        if a == b:
            continue
        if a < 0 or b < 0:
            return a < 0
        if kinds[a] != kinds[b]:
            return kinds[a] < kinds[b]
        if ranks[a] != ranks[b]:
            return ranks[a] < ranks[b]
    return False


@bare
def _known(tokens, nodes, where, slot):  # type: ignore[no-untyped-def]
    """Whether an equal token exists already; it gets the lesser names of the two."""
    node = tokens[slot, NODE]
    other = nodes[nodes[node, CANON], TOKENS]
    while other >= 0:
        same = tokens[other, STATE] == tokens[slot, STATE]
        for column in range(TOKEN_WIDTH, where.next_at):
            same = same and tokens[other, column] == tokens[slot, column]
        if same:
            if compare_names(nodes, node, tokens[other, NODE]) < 0:
                tokens[other, NODE] = node
            return True
        other = tokens[other, SAME_NODE]
    return False


@bare
def _emit(moving, pool, node, key):  # type: ignore[no-untyped-def]
    """Record a match, or another way to a match that is recorded already."""
    nodes, found, counts, bound = pool.nodes, pool.found, pool.counts, moving.bound
    canon = nodes[node, CANON]
    match = nodes[canon, EMITTED] - 1
    if match < 0:
        match = counts[MATCHES]
        counts[MATCHES] += 1
        nodes[canon, EMITTED] = match + 1
    else:
        order = compare_names(nodes, node, found[match, MATCH_NODE])
        if order > 0 or (order == 0 and not _less_bound(moving, found, match)):
            return
    found[match, MATCH_NODE] = node
    found[match, MATCH_KEY] = key
    for variable in range(len(bound)):
        found[match, MATCH_WIDTH + variable] = bound[variable]


@bare
def _go(moving, where, pool, move, token, taken):  # type: ignore[no-untyped-def]
    """Make one move: the tokens it leads to become pending, a match is recorded."""
    moves, steps, timers, bound = moving.moves, moving.steps, moving.timers, moving.bound
    tokens, nodes, counts = pool.tokens, pool.nodes, pool.counts
    check = moves[move, MOVE_LINK]
    if check >= 0 and token >= 0 and taken.start <= tokens[token, where.link_at + check]:
        return
    made = moves[move, MOVE_STOP] - moves[move, MOVE_FIRST]
    if counts[FREE] < made or counts[NODES] + 2 > len(nodes) or counts[MATCHES] == len(pool.found):
        counts[OVERFLOW] = taken.key + 1
        return
    before = tokens[token, NODE] if token >= 0 else 0
    node = child(nodes, counts, before, taken.ref, taken.role, taken.end, taken.start)
    if moves[move, MOVE_EMITS]:
        _emit(moving, pool, node, taken.key)
    for step in range(moves[move, MOVE_FIRST], moves[move, MOVE_STOP]):
        slot = pool.free[counts[FREE] - 1]
        tokens[slot, STATE] = steps[step, STEP_STATE]
        tokens[slot, KEY] = taken.key
        tokens[slot, NODE] = node
        tokens[slot, LAST_START] = taken.start
        tokens[slot, LAST_END] = taken.end
        for variable in range(len(bound)):
            tokens[slot, TOKEN_WIDTH + variable] = bound[variable]
        for link in range(where.links):
            ended = np.int64(LONG_AGO)
            if token >= 0 and _has(steps[step, STEP_LINKS], link):
                entered = _has(moves[move, MOVE_ENTERS], link)
                ended = tokens[token, LAST_END] if entered else tokens[token, where.link_at + link]
            tokens[slot, where.link_at + link] = ended
        for timer in range(where.timers):
            when = np.int64(NEVER)
            if _has(steps[step, STEP_STARTS], timer):
                after = timers[timer, TIMER_AFTER]
                begun = taken.first_end if timers[timer, TIMER_LIMIT] else taken.end
                moment = begun + after if after >= 0 else timers[timer, TIMER_MOMENT]
                when = moment if moment >= taken.end else np.int64(NEVER)
            elif token >= 0 and _has(steps[step, STEP_GOES_ON], timer):
                when = tokens[token, where.timer_at + timer]
                if timers[timer, TIMER_LIMIT]:
                    when = min(when, taken.first_end + timers[timer, TIMER_AFTER])
            tokens[slot, where.timer_at + timer] = when
        if _known(tokens, nodes, where, slot):
            tokens[slot, STATE] = -1
            continue
        counts[FREE] -= 1
        canon = nodes[node, CANON]
        tokens[slot, SAME_NODE] = nodes[canon, TOKENS]
        nodes[canon, TOKENS] = slot
        pool.pending[counts[PENDING]] = slot
        counts[PENDING] += 1
        counts[LIVE] += 1


@bare
def _fanout(states, moves):  # type: ignore[no-untyped-def]
    """The most tokens and matches that one token can become through one event."""
    fanout = 1
    for state in range(len(states)):
        made = 0
        for move in range(states[state, STATE_FIRST], states[state, STATE_STOP]):
            made += moves[move, MOVE_STOP] - moves[move, MOVE_FIRST] + 1
        fanout = max(fanout, made)
    return fanout


@bare
def _ring(program, moving, where, pool, key, timer):  # type: ignore[no-untyped-def]
    """Let the timer of the token that is first in its queue run out."""
    states, moves, tokens = program.states, moving.moves, pool.tokens
    token = pool.queues[HEAD, timer]
    state, time = tokens[token, STATE], tokens[token, where.timer_at + timer]
    strongly = time > tokens[token, LAST_END]
    stop_timer(where, tokens, pool.queues, token, timer)  # it runs out once, whatever the result
    if moving.timers[timer, TIMER_LIMIT]:
        left = program.closes[state, timer]
        if left >= 0:
            wait_in(where, pool, token, left, states[left, STATE_TIMERS])
        else:
            remove(where, pool, token)
        return
    unbind(tokens, token, moving.bound)
    role = -1 - moving.timers[timer, TIMER_NAMED]
    matched, moved = False, False
    for move in range(states[state, STATE_FIRST], states[state, STATE_STOP]):
        if not _has(program.tests[moves[move, MOVE_TEST], TEST_TIMERS], timer):
            continue
        matched = True
        if strongly or moves[move, MOVE_STRONG] == 0:
            moved = True
            _go(moving, where, pool, move, token, Taken(key, role, -1, time, time, time))
    deaf = not strongly and states[state, STATE_STRONG] != 0
    if moved or (not matched and not deaf and _has(states[state, STATE_TIMERS], timer)):
        remove(where, pool, token)


@kernel
def run(program, rows, values, where, pool, before, until, limit):  # type: ignore[no-untyped-def]
    """Feed the rows of every key to its tokens, then let timers up to `until` run out.

    The tables of the pool may grow and are returned. `counts[OVERFLOW]` is the number of the key, from 1, that had more than
    `limit` tokens. `before.alive` loses the start states that end for good.
    """
    token_offsets, alive = before.offsets, before.alive
    states, domain, moves, starts, specs, timers = (
        program.states,
        program.domain,
        program.moves,
        program.starts,
        program.specs,
        program.timers,
    )
    restart_always = program.restart_always or program.leaves_out == NOTHING
    leaves_out = program.leaves_out
    bits, offsets, row_start, row_end, row_ref = rows.bits, rows.offsets, rows.start, rows.end, rows.ref
    row_first_end = rows.first_end
    bound = np.full(where.variables, -1, np.int64)
    asking = Asking(
        program.tests,
        specs,
        program.spec_list,
        program.code,
        bits,
        rows.values,
        values.kind,
        values.rank,
        bound,
        np.empty(len(program.code) + 1, np.int64),
    )
    moving = Moving(moves, program.steps, timers, values.kind, values.rank, bound)
    fanout = _fanout(states, moves)
    tokens, nodes, counts, lists, queues = pool.tokens, pool.nodes, pool.counts, pool.lists, pool.queues
    for key in range(len(offsets) - 1):
        if offsets[key] == offsets[key + 1] and token_offsets[key] == token_offsets[key + 1]:
            continue
        lists[:2] = -1
        lists[SIZE] = 0
        queues[:] = -1
        counts[LIVE] = token_offsets[key + 1] - token_offsets[key]
        for slot in range(token_offsets[key], token_offsets[key + 1]):
            append(where, tokens, lists, queues, slot)
        row, last_row = offsets[key], offsets[key + 1]
        while True:
            # Timers come after the events of the same moment.
            timer = next_timer(timers, where, tokens, queues, row_end[row] - 1 if row < last_row else until)
            if timer < 0 and row == last_row:
                break
            touched = 1
            if timer < 0:
                touched = len(starts)
                for state in range(len(states)):
                    if lists[SIZE, state] > 0 and relevant_types(domain, state, bits, row):
                        touched += lists[SIZE, state]
            if counts[LIVE] > limit:
                counts[OVERFLOW] = key + 1
                return pool
            most = min(touched * fanout, limit + fanout) + 1
            if (
                counts[FREE] < most
                or counts[NODES] + 2 * most > len(nodes)
                or counts[MATCHES] + most > len(pool.found)
            ):
                pool = with_room(pool, most)
                tokens, nodes = pool.tokens, pool.nodes
            if timer >= 0:
                _ring(program, moving, where, pool, key, timer)
            else:
                start, end = row_start[row], row_end[row]
                for turn in range(len(states) + len(starts)):
                    starting = turn >= len(states)
                    state = starts[turn - len(states)] if starting else turn
                    if starting and not _has(alive[key], turn - len(states)):
                        continue
                    if (not starting and lists[SIZE, state] == 0) or not relevant_types(
                        domain, state, bits, row
                    ):
                        continue
                    token = -1 if starting else lists[HEAD, state]
                    while True:
                        after = -1 if starting else tokens[token, NEXT]
                        # Earlier than an event the token has used, which happens only when events are used as they arrive.
                        # A timer comes after all events of its moment.
                        behind = not starting and (
                            end < tokens[token, LAST_END]
                            or (
                                end == tokens[token, LAST_END]
                                and (
                                    start < tokens[token, LAST_START] or nodes[tokens[token, NODE], ROLE] < 0
                                )
                            )
                        )
                        strongly = starting or start > tokens[token, LAST_END]
                        matched, moved, fails = False, False, False
                        if not behind:
                            for move in range(states[state, STATE_FIRST], states[state, STATE_STOP]):
                                spec = taken_as(asking, moves[move, MOVE_TEST], row, tokens, token)
                                if spec < 0:
                                    continue
                                matched = True
                                if strongly or moves[move, MOVE_STRONG] == 0:
                                    moved = True
                                    taken = Taken(
                                        key,
                                        specs[spec, SPEC_ROLE],
                                        row_ref[row],
                                        start,
                                        end,
                                        row_first_end[row],
                                    )
                                    _go(moving, where, pool, move, token, taken)
                            if leaves_out == NOTHING:
                                fails = not moved
                            elif not matched and (strongly or states[state, STATE_STRONG] == 0):
                                fails = in_domain(states, moves, asking, state, row, tokens, token)
                        if starting:
                            if fails and not restart_always:
                                alive[key] &= ~(1 << (turn - len(states)))
                            break
                        if (moved and leaves_out != ANYTHING) or fails:
                            remove(where, pool, token)
                        token = after
                        if token < 0:
                            break
                row += 1
            if counts[OVERFLOW]:
                return pool
            # The tokens that the event created begin to wait.
            for at in range(counts[PENDING]):
                append(where, tokens, lists, queues, pool.pending[at])
            counts[PENDING] = 0
    return pool
