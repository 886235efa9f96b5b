"""Lists of events that share their ends, in their order, and the matches they lead to (see `ranking`)."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.chains import BEFORE, LENGTH, STEPS
from tocsin.runtime.compiling import kernel
from tocsin.runtime.growing import grown
from tocsin.runtime.listing import PART_REF, PART_ROLE, PART_TIME, PART_WIDTH
from tocsin.runtime.machine import EMIT, FROM, TAKES, TO
from tocsin.runtime.machine import ROLE as TRANSFER_ROLE

# A fork is an event, as a part of a match: first all that take it, THEN, then all that do not, ELSE.
THEN, ELSE, FORK_WIDTH = range(PART_WIDTH, PART_WIDTH + 3)
EMPTY, UNIT = -2, -1  # instead of a fork: no list of events, and the one without any
# An entry of the log: an event, what it means, and where a match that begins with it waits, or -1.
LOG_LETTER, LOG_PLACE, LOG_WIDTH = range(PART_WIDTH, PART_WIDTH + 3)


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
def read_back(log, transfers, transfer_at, leaving, leaving_at, places):  # type: ignore[no-untyped-def]
    """The starts of a log: when each was, and the partial matches of this and all later ones at each place, as forks."""
    starts, count = 0, 0
    for at in range(len(log)):
        starts += log[at, LOG_PLACE] >= 0
    times = np.empty(starts, np.int64)
    front = np.empty((starts, places), np.int64)
    forks = np.empty((64, FORK_WIDTH), np.int64)
    mixing = np.full((places, places), EMPTY, np.int64)  # what is yet taken from a place on, to be at another
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
def wanted(links, counts, forks, root, chains, count, event, role, most, ends, parts):  # type: ignore[no-untyped-def]
    """The first `most` matches of lists of events that go on with a chain and end with an event, behind those there are."""
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
        for which in range(min(count, most - made)):
            chain = chains[which]
            length = depth + (links[chain, LENGTH] if chain >= 0 else 0) + 1
            begin = ends[-1] if len(ends) else 0
            while begin + length > len(parts):
                parts = grown(parts, 2 * len(parts))
            for at in range(depth):
                parts[begin + at] = forks[path[at], :PART_WIDTH]
            at = begin + length - 1
            parts[at] = event
            parts[at, PART_ROLE] = role
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
    """Whether the match that begins at one part comes before that at the other; both end with the same event."""
    while parts[one, PART_REF] == parts[other, PART_REF]:
        one += 1
        other += 1
    return parts[one, PART_REF] < parts[other, PART_REF]


@kernel
def best(parts, ends, runs, most, latest):  # type: ignore[no-untyped-def]
    """Of runs of matches, each in order, the first `most`, or the last."""
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
