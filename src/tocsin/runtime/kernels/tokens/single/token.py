"""Column numbers of the token kernel's tables: tokens, the nodes of their paths, matches, lists and counters."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.program import Array, Program

# Columns of a token. After these come its variables (numbers of values, -1 unset), the ends of its strong links, its
# timers (NEVER if stopped), and for each timer the next and the previous token in the timer's queue.
STATE, KEY, NODE, LAST_START, LAST_END, NEXT, PREVIOUS, SAME_NODE, TOKEN_WIDTH = range(9)
# Columns of a node: TIME and BEGIN are the end and the start of its event, START is the start of the path. CHILD is its
# youngest child and SIBLING the next older child of its parent, so that equal paths are one node. A canonical node heads the
# list of the TOKENS of its events, and EMITTED is 1 + its match.
PARENT, REF, ROLE, TIME, BEGIN, START, DEPTH, CHILD, SIBLING, CANON, EMITTED, TOKENS, NODE_WIDTH = range(13)
# Columns of a match; its variables follow.
MATCH_NODE, MATCH_KEY, MATCH_WIDTH = range(3)
# Counters.
FREE, NODES, MATCHES, PENDING, LIVE, OVERFLOW, COUNTERS = range(7)
# Rows of the tables of lists of tokens: by state, and queues by timer.
HEAD, TAIL, SIZE = range(3)


class Rows(NamedTuple):
    """Events of many keys, sorted by key and then in the total order. R rows, V compared columns."""

    offsets: Array  # int64 (keys+1,)
    start: Array  # int64 (R,)
    end: Array  # int64 (R,)
    bits: Array  # uint64 (R, W)
    values: Array  # int32 (R, V)  numbers of values, -1 for a missing one
    ref: Array  # int64 (R,)  the reference by which a match remembers the row
    first_end: Array  # int64 (R,)  when the first event of a parallel part ends; of any other row, its end


class FromBefore(NamedTuple):
    """The state of each key from earlier batches."""

    offsets: Array  # int64 (keys+1,): which slots hold its tokens
    alive: Array  # int64 (keys,): the start states it still has, one bit each


class Layout(NamedTuple):
    """The offsets of the parts of a token, and their numbers."""

    variables: int
    links: int
    timers: int
    link_at: int
    timer_at: int
    next_at: int
    previous_at: int
    width: int


class Pool(NamedTuple):
    """Every table that the kernel writes to. All but the last three may grow."""

    tokens: Array  # int64 (slots, width): STATE is -1 where a slot is free
    free: Array  # int64 (slots,): the free slots, `counts[FREE]` of them
    pending: Array  # int64 (slots,): the tokens that the current event created
    nodes: Array  # int64 (nodes, NODE_WIDTH), the root first
    found: Array  # int64 (matches, MATCH_WIDTH + variables)
    counts: Array  # int64 (COUNTERS,)
    lists: Array  # int64 (3, states): the first and last token of a state, and how many
    queues: Array  # int64 (2, timers): the token whose timer runs out first, and last


def layout(program: Program) -> Layout:
    """The layout of a program's tokens."""
    v, k, t = program.variables, program.links, len(program.timers)
    first = TOKEN_WIDTH + v
    return Layout(v, k, t, first, first + k, first + k + t, first + k + 2 * t, first + k + 3 * t)
