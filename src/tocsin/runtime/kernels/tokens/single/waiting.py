"""The tokens of one key: a list for each state they wait in, a queue for each kind of timer, and room for more of them."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import bare, kernel
from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.tokens.single.token import (
    CANON,
    FREE,
    HEAD,
    LIVE,
    MATCHES,
    NEXT,
    NODE,
    NODES,
    PREVIOUS,
    SAME_NODE,
    SIZE,
    STATE,
    TAIL,
    TOKENS,
    Pool,
)
from tocsin.runtime.moments import NEVER
from tocsin.runtime.program import TIMER_RANK


@bare
def append(where, tokens, lists, queues, slot):  # type: ignore[no-untyped-def]
    """Append a token to the list of its state and to the queues of its timers."""
    state = tokens[slot, STATE]
    last = lists[TAIL, state]
    tokens[slot, NEXT] = -1
    tokens[slot, PREVIOUS] = last
    if last >= 0:
        tokens[last, NEXT] = slot
    else:
        lists[HEAD, state] = slot
    lists[TAIL, state] = slot
    lists[SIZE, state] += 1
    for timer in range(where.timers):
        at, following, preceding = where.timer_at + timer, where.next_at + timer, where.previous_at + timer
        when = tokens[slot, at]
        if when == NEVER:
            continue
        # Timers are started in the order of their ends, so the position is almost always the last.
        before = queues[TAIL, timer]
        while before >= 0 and tokens[before, at] > when:
            before = tokens[before, preceding]
        after = tokens[before, following] if before >= 0 else queues[HEAD, timer]
        tokens[slot, preceding] = before
        tokens[slot, following] = after
        if before >= 0:
            tokens[before, following] = slot
        else:
            queues[HEAD, timer] = slot
        if after >= 0:
            tokens[after, preceding] = slot
        else:
            queues[TAIL, timer] = slot


@bare
def stop_timer(where, tokens, queues, slot, timer):  # type: ignore[no-untyped-def]
    if tokens[slot, where.timer_at + timer] == NEVER:
        return
    before, after = tokens[slot, where.previous_at + timer], tokens[slot, where.next_at + timer]
    if before >= 0:
        tokens[before, where.next_at + timer] = after
    else:
        queues[HEAD, timer] = after
    if after >= 0:
        tokens[after, where.previous_at + timer] = before
    else:
        queues[TAIL, timer] = before
    tokens[slot, where.timer_at + timer] = NEVER


@bare
def _leave_state(tokens, lists, slot):  # type: ignore[no-untyped-def]
    """Remove a token from the list of its state."""
    state, before, after = tokens[slot, STATE], tokens[slot, PREVIOUS], tokens[slot, NEXT]
    if before >= 0:
        tokens[before, NEXT] = after
    else:
        lists[HEAD, state] = after
    if after >= 0:
        tokens[after, PREVIOUS] = before
    else:
        lists[TAIL, state] = before
    lists[SIZE, state] -= 1


@bare
def wait_in(where, pool, slot, state, running):  # type: ignore[no-untyped-def]
    """Let a token wait in another state, with those of its timers that run there."""
    tokens, lists, queues = pool.tokens, pool.lists, pool.queues
    _leave_state(tokens, lists, slot)
    for timer in range(where.timers):
        when = tokens[slot, where.timer_at + timer]
        stop_timer(where, tokens, queues, slot, timer)
        if (running >> timer) & 1 != 0:
            tokens[slot, where.timer_at + timer] = when
    tokens[slot, STATE] = state
    append(where, tokens, lists, queues, slot)


@bare
def remove(where, pool, slot):  # type: ignore[no-untyped-def]
    """Remove a token from every list and free its slot."""
    tokens, nodes, counts, lists = pool.tokens, pool.nodes, pool.counts, pool.lists
    _leave_state(tokens, lists, slot)
    for timer in range(where.timers):
        stop_timer(where, tokens, pool.queues, slot, timer)
    canon = nodes[tokens[slot, NODE], CANON]
    other = nodes[canon, TOKENS]
    if other == slot:
        nodes[canon, TOKENS] = tokens[slot, SAME_NODE]
        other = -1
    while other >= 0:
        if tokens[other, SAME_NODE] == slot:
            tokens[other, SAME_NODE] = tokens[slot, SAME_NODE]
            break
        other = tokens[other, SAME_NODE]
    tokens[slot, STATE] = -1
    pool.free[counts[FREE]] = slot
    counts[FREE] += 1
    counts[LIVE] -= 1


@bare
def next_timer(timers, where, tokens, queues, until):  # type: ignore[no-untyped-def]
    """The timer that runs out next, up to `until`; -1 if none does. Ties are broken by name."""
    best = -1
    least = np.int64(NEVER)
    for timer in range(where.timers):
        slot = queues[HEAD, timer]
        if slot < 0:
            continue
        when = tokens[slot, where.timer_at + timer]
        first = when < least or (when == least and timers[timer, TIMER_RANK] < timers[best, TIMER_RANK])
        if when <= until and first:
            best, least = timer, when
    return best


@kernel
def with_room(pool, most):  # type: ignore[no-untyped-def]
    """The tables with room for an event that creates `most` tokens and matches."""
    tokens, free, pending, nodes, found, counts = (
        pool.tokens,
        pool.free,
        pool.pending,
        pool.nodes,
        pool.found,
        pool.counts,
    )
    if counts[FREE] < most:
        size = len(tokens)
        larger = size + max(size, most)
        tokens = grown(tokens, larger)
        pending = np.empty(larger, np.int64)
        more = np.empty(larger, np.int64)
        more[: counts[FREE]] = free[: counts[FREE]]
        free = more
        for slot in range(size, larger):
            tokens[slot, STATE] = -1
            free[counts[FREE]] = slot
            counts[FREE] += 1
    if counts[NODES] + 2 * most > len(nodes):  # a new node may need a canonical one as well
        nodes = grown(nodes, 2 * (len(nodes) + most))
    if counts[MATCHES] + most > len(found):
        found = grown(found, 2 * len(found) + most)
    return Pool(tokens, free, pending, nodes, found, counts, pool.lists, pool.queues)
