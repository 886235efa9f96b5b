"""Lists of events that share their ends, in their order, and the matches they lead to (see `kernel`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.tokens.first_last.prefixes import BEFORE, LENGTH, STEPS
from tocsin.runtime.kernels.tokens.groups.enumerate import PART_REF, PART_ROLE, PART_TIME, PART_WIDTH
from tocsin.runtime.kernels.tokens.groups.letter_tables import EMIT, FROM, TAKES, TO
from tocsin.runtime.kernels.tokens.groups.letter_tables import ROLE as TRANSFER_ROLE
from tocsin.runtime.program import Array

# A fork is an event, as a part of a match: first the lists that take it, THEN, then those that do not, ELSE.
THEN, ELSE, FORK_WIDTH = range(PART_WIDTH, PART_WIDTH + 3)
EMPTY, UNIT = -2, -1  # in place of a fork: no list of events, and the empty list
# An entry of the log: an event, its letter, and the place where a match that begins with it waits, or -1.
LOG_LETTER, LOG_PLACE, LOG_WIDTH = range(PART_WIDTH, PART_WIDTH + 3)


class Lists(NamedTuple):
    """Lists of events that share their ends: a fork, EMPTY or UNIT."""

    forks: Array  # int64 (forks, FORK_WIDTH)
    root: np.int64


class Ending(NamedTuple):
    """The event that completes matches, as a part of them, and the name it gets."""

    event: Array  # int64 (PART_WIDTH,)
    role: int


@kernel
def _fork(forks, count, event, role, then, otherwise):  # type: ignore[no-untyped-def]
    if count == len(forks):
        forks = grown(forks, 2 * count)
    forks[count, :PART_WIDTH] = event[:PART_WIDTH]
    forks[count, PART_ROLE] = role
    forks[count, THEN] = then
    forks[count, ELSE] = otherwise
    return forks


@kernel
def read_back(log, moves, places):  # type: ignore[no-untyped-def]
    """The starts of a log: the time of each, and the partial matches of it and all later ones at each place, as forks."""
    transfers, transfer_at, leaving, leaving_at = (
        moves.transfers,
        moves.transfer_at,
        moves.leaving,
        moves.leaving_at,
    )
    starts, count = 0, 0
    for at in range(len(log)):
        starts += log[at, LOG_PLACE] >= 0
    times = np.empty(starts, np.int64)
    front = np.empty((starts, places), np.int64)
    forks = np.empty((64, FORK_WIDTH), np.int64)
    mixing = np.full((places, places), EMPTY, np.int64)  # the events taken later, from one place to another
    for place in range(places):
        mixing[place, place] = UNIT
    total = np.full(places, EMPTY, np.int64)
    before = np.empty((places, places), np.int64)
    for at in range(len(log) - 1, -1, -1):
        begun, letter = log[at, LOG_PLACE], log[at, LOG_LETTER]
        if begun >= 0:
            starts -= 1
            for other in range(places):
                if mixing[begun, other] != EMPTY:
                    forks = _fork(
                        forks, count, log[at], log[at, PART_ROLE], mixing[begun, other], total[other]
                    )
                    total[other] = count
                    count += 1
            times[starts] = log[at, PART_TIME]
            front[starts] = total
        before[:] = mixing
        for n in range(leaving_at[letter], leaving_at[letter + 1]):
            mixing[leaving[n]] = EMPTY
        for n in range(transfer_at[letter], transfer_at[letter + 1]):
            if transfers[n, TAKES] == 0:
                mixing[transfers[n, FROM]] = before[transfers[n, TO]]
        for n in range(transfer_at[letter], transfer_at[letter + 1]):
            place, to = transfers[n, FROM], transfers[n, TO]
            if transfers[n, TAKES] == 0 or to == EMIT:
                continue
            for other in range(places):
                if before[to, other] != EMPTY:
                    role = transfers[n, TRANSFER_ROLE]
                    forks = _fork(forks, count, log[at], role, before[to, other], mixing[place, other])
                    mixing[place, other] = count
                    count += 1
    return times, front, forks[:count]


@kernel
def wanted(links, counts, lists, chains, ending, most, ends, parts):  # type: ignore[no-untyped-def]
    """Append the first `most` matches: lists of events, each continued by a chain and ended by an event."""
    forks, root = lists.forks, lists.root
    stack = np.empty((16, 2), np.int64)
    path = np.empty(16, np.int64)
    stack[0, 0], stack[0, 1] = root, 0
    top, made = 1, 0
    while top and made < most:
        top -= 1
        fork, depth = stack[top, 0], stack[top, 1]
        counts[STEPS] += 1
        if fork >= 0:
            if top + 2 > len(stack):
                stack = grown(stack, 2 * len(stack))
            if depth == len(path):
                path = np.concatenate((path, path))
            path[depth] = fork
            if forks[fork, ELSE] != EMPTY:
                stack[top, 0], stack[top, 1] = forks[fork, ELSE], depth
                top += 1
            stack[top, 0], stack[top, 1] = forks[fork, THEN], depth + 1
            top += 1
            continue
        for which in range(min(chains.size, most - made)):
            chain = chains.ends[which]
            length = depth + (links[chain, LENGTH] if chain >= 0 else 0) + 1
            begin = ends[-1] if len(ends) else 0
            while begin + length > len(parts):
                parts = grown(parts, 2 * len(parts))
            for at in range(depth):
                parts[begin + at] = forks[path[at], :PART_WIDTH]
            at = begin + length - 1
            parts[at] = ending.event
            parts[at, PART_ROLE] = ending.role
            while chain >= 0:
                at -= 1
                parts[at] = links[chain, :PART_WIDTH]
                chain = links[chain, BEFORE]
            ends.append(begin + length)
            counts[STEPS] += length
            made += 1
    return parts


@kernel
def _earlier(parts, one, other):  # type: ignore[no-untyped-def]
    """Whether the match that begins at part `one` comes before that at `other`; both end with the same event."""
    while parts[one, PART_REF] == parts[other, PART_REF]:
        one += 1
        other += 1
    return parts[one, PART_REF] < parts[other, PART_REF]


@kernel
def best(parts, ends, runs, most, latest):  # type: ignore[no-untyped-def]
    """The first `most` matches, or the last, of several runs of matches that are each in order."""
    chosen = np.empty(0, np.int64)
    begin = 0
    for end in runs:
        size = min(most, len(chosen) + end - begin)
        merged = np.empty(size, np.int64)
        at, other = 0, begin
        for place in range(size):
            own = at < len(chosen)
            if own and other < end:
                first = ends[chosen[at] - 1] if chosen[at] else 0
                second = ends[other - 1] if other else 0
                own = _earlier(parts, first, second) != latest
            merged[place] = chosen[at] if own else other
            at += own
            other += not own
        chosen, begin = merged, end
    return chosen
