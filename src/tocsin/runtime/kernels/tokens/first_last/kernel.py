"""The kernel for `take = first n` and `take = last`: finds the matches to report of those an event completes, and no others.

Matches are ordered by their events. If one of two partial matches at a place comes first, it still does after both have taken
the same events. So a place keeps only its `most` first partial matches, or its last one, as a list of *chains*: a link is an
event on top of another chain.

A window removes the first ones, and then others become the first. So, as in `counting`, starts are kept in two parts. The
younger ones have lists. For the older ones, `front` holds their lists as of one moment, and further lists hold the events that
were taken since that moment from each place to each other. When the older ones are used up, the log since then is read
backwards once, and the younger become the older. Read backwards, an event that may be taken gives a *fork*: first all lists
that take it, then all that do not. So a fork stands for any number of lists of events, in their order. The last match has the
last start, which the window removes last: `take = last` needs no `front`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.tokens.first_last.prefixes import (
    COUNTERS,
    FIRST,
    LINK_WIDTH,
    LINKS,
    MATCHES,
    PARTS,
    STEPS,
    Chains,
    collected,
    link,
    merge,
)
from tocsin.runtime.kernels.tokens.first_last.suffixes import (
    EMPTY,
    FORK_WIDTH,
    LOG_LETTER,
    LOG_PLACE,
    LOG_WIDTH,
    UNIT,
    Ending,
    Lists,
    best,
    read_back,
    wanted,
)
from tocsin.runtime.kernels.tokens.groups.eligible import NO_WINDOW
from tocsin.runtime.kernels.tokens.groups.enumerate import (
    MATCH_KEY,
    MATCH_LENGTH,
    MATCH_WIDTH,
    PART_BEGIN,
    PART_REF,
    PART_ROLE,
    PART_TIME,
    PART_WIDTH,
)
from tocsin.runtime.kernels.tokens.groups.letter_tables import (
    BEGUN,
    COMPLETE,
    EMIT,
    FIRST_ROLE,
    FROM,
    NEXT_START,
    TAKES,
    TO,
)
from tocsin.runtime.kernels.tokens.groups.letter_tables import ROLE as TRANSFER_ROLE
from tocsin.runtime.program import Array


class Wants(NamedTuple):
    """Which of the matches that an event completes are reported, and whether the state afterwards is returned."""

    places: int
    most: int
    latest: bool  # the last match, not the first ones
    keep: bool
    until: int


class Known(NamedTuple):
    """The links, roots and log of each key: from one offset to the next."""

    link_at: Array  # int64 (keys+1,)
    links: Array  # int64 (L, LINK_WIDTH): links refer to each other by their index among those of the key
    root_at: Array  # int64 (keys+1,)
    roots: Array  # int64 (R, 2): place, and the last link of a chain that waits there
    log_at: Array  # int64 (keys+1,)
    log: Array  # int64 (E, LOG_WIDTH): the events since the first start, where starts are in two parts


@kernel
def _roots(lists, sizes):  # type: ignore[no-untyped-def]
    """Every chain of some lists: row, place, index in the list, and the chain."""
    count = 0
    roots = np.empty((sizes.sum(), 4), np.int64)
    for row in range(lists.shape[0]):
        for place in range(lists.shape[1]):
            for which in range(sizes[row, place]):
                roots[count] = row, place, which, lists[row, place, which]
                count += 1
    return roots


@kernel
def _start_over(lists, sizes):  # type: ignore[no-untyped-def]
    """Reset the lists to the present moment: nothing has been taken since, and no start is younger."""
    sizes[:] = 0
    for place in range(len(lists) - 1):
        lists[place, place, 0] = -1
        sizes[place, place] = 1


@kernel
def _wider(lists, room):  # type: ignore[no-untyped-def]
    wider = np.empty((lists.shape[0], lists.shape[1], room), np.int64)
    wider[:, :, : lists.shape[2]] = lists
    return wider


@kernel
def run(rows, moves, wants, begun, before):  # type: ignore[no-untyped-def]
    """Feed the rows of every key. Returns matches, the state afterwards, and a count of the work; updates `begun`.

    One loop over the rows of a key, whose tables grow as it goes.
    """
    transfers, transfer_at, leaving, leaving_at, starts = (
        moves.transfers,
        moves.transfer_at,
        moves.leaving,
        moves.leaving_at,
        moves.starts,
    )
    window, tick = moves.window, moves.tick
    places, most, latest, keep, until = wants
    link_at, old_links, root_at, old_roots, log_at, old_log = before
    two_parts = window < NO_WINDOW and not latest
    young = places if two_parts else 0  # the row of lists for starts, as opposed to events taken since
    room = min(most, 4)
    lists = np.empty((young + 1, places, room), np.int64)
    sizes = np.zeros((young + 1, places), np.int64)
    arriving = np.empty((1, max(1, len(transfers)), room), np.int64)  # the first row also holds new starts
    arrived = np.zeros(len(transfers), np.int64)
    scratch = np.empty(room, np.int64)
    links = np.empty((256, LINK_WIDTH), np.int64)
    log = np.empty((256, LOG_WIDTH), np.int64)
    found = np.empty((1024, MATCH_WIDTH), np.int64)
    parts = np.empty((4096, PART_WIDTH), np.int64)
    candidates = np.empty((64, PART_WIDTH), np.int64)
    counts = np.zeros(COUNTERS, np.int64)
    event = np.empty(PART_WIDTH, np.int64)
    nothing_before = Chains(np.full(1, -1, np.int64), np.int64(1))
    ends, runs = (
        [np.int64(0)],
        [np.int64(0)],
    )  # of the matches of one event: where each ends, how many each place adds
    times, front = np.empty(0, np.int64), np.empty((0, places), np.int64)
    forks = np.empty((0, FORK_WIDTH), np.int64)
    offsets, letters, signature = rows.offsets, rows.letter, rows.signature
    keys = len(offsets) - 1
    new_link_at, new_root_at, new_log_at = (
        np.zeros(keys + 1, np.int64),
        np.zeros(keys + 1, np.int64),
        np.zeros(keys + 1, np.int64),
    )
    new_links = np.empty((64 if keep else 1, LINK_WIDTH), np.int64)
    new_roots = np.empty((64 if keep else 1, 2), np.int64)
    new_log = np.empty((64 if keep else 1, LOG_WIDTH), np.int64)
    for key in range(keys):
        begin, first, length = begun[key], 0, log_at[key + 1] - log_at[key]
        counts[LINKS] = link_at[key + 1] - link_at[key]
        row, stop = offsets[key], offsets[key + 1]
        while row < stop and letters[signature[row]] == 0:
            row += 1
        waiting = length + counts[LINKS] + root_at[key + 1] - root_at[key] > 0
        if row == stop and not (waiting and keep):
            # Of many rules most have nothing to do with most keys.
            new_log_at[key + 1], new_root_at[key + 1] = new_log_at[key], new_root_at[key]
            new_link_at[key + 1] = new_link_at[key]
            continue
        if counts[LINKS] > len(links):
            links = grown(links, 2 * counts[LINKS])
        links[: counts[LINKS]] = old_links[link_at[key] : link_at[key + 1]]
        _start_over(lists, sizes)
        for at in range(root_at[key], root_at[key + 1]):
            place = old_roots[at, 0]
            if sizes[young, place] == room:
                room = min(most, 2 * room)
                lists, arriving, scratch = (
                    _wider(lists, room),
                    _wider(arriving, room),
                    np.empty(room, np.int64),
                )
            lists[young, place, sizes[young, place]] = old_roots[at, 1]
            sizes[young, place] += 1
        if length > len(log):
            log = grown(log, 2 * length)
        log[:length] = old_log[log_at[key] : log_at[key + 1]]
        flipped, times, front = length, times[:0], front[:0]
        if length:
            times, front, forks = read_back(log[:length], moves, places)
            counts[STEPS] += len(forks)
        fresh, moment = False, np.int64(0)  # whether something took an event of this moment
        while row < stop or (fresh and keep):
            over = row == stop
            letter = 0 if over else letters[signature[row]]
            if letter == 0 and not over:
                row += 1
                continue
            end = moment + 1 if over else rows.end[row]
            event[PART_REF], event[PART_ROLE], event[PART_TIME], event[PART_BEGIN] = -1, 0, end, end
            if fresh and end > moment:  # first time advances, then the row is processed again
                letter, fresh = tick, False
            else:
                fresh, moment = tick > 0, end
                event[PART_REF], event[PART_BEGIN] = rows.ref[row], rows.start[row]
                row += 1
            since = end - window
            while first < len(times) and times[first] < since:
                first += 1
            if two_parts and first == len(times) and length > flipped and log[flipped, PART_TIME] < since:
                times, front, forks = read_back(log[flipped:length], moves, places)
                counts[STEPS] += len(forks)
                log[: length - flipped] = log[flipped:length].copy()
                first, length = 0, length - flipped
                flipped = length
                counts[LINKS] = 0
                _start_over(lists, sizes)
                while first < len(times) and times[first] < since:
                    first += 1
            older = first < len(times)
            touched = False
            first_move, last_move = transfer_at[letter], transfer_at[letter + 1]
            # The complete matches, from each place and each part of the starts.
            completes = starts[begin, letter, COMPLETE] != 0
            ends.clear()
            runs.clear()
            for n in range(first_move, last_move):
                place = transfers[n, FROM]
                if transfers[n, TO] != EMIT:
                    continue
                for source in range(young + 1):
                    if sizes[source, place] == 0:
                        continue
                    root = (
                        np.int64(UNIT)
                        if source == young
                        else (front[first, source] if older else np.int64(EMPTY))
                    )
                    if root == EMPTY or (latest and links[lists[source, place, 0], FIRST] < since):
                        continue
                    chains = Chains(lists[source, place], sizes[source, place])
                    ending = Ending(event, transfers[n, TRANSFER_ROLE])
                    candidates = wanted(
                        links, counts, Lists(forks, root), chains, ending, most, ends, candidates
                    )
                    runs.append(np.int64(len(ends)))
            if completes:  # the event alone
                alone, ending = Lists(forks, np.int64(UNIT)), Ending(event, starts[begin, letter, FIRST_ROLE])
                candidates = wanted(links, counts, alone, nothing_before, ending, most, ends, candidates)
                runs.append(np.int64(len(ends)))
            if len(runs):
                for which in best(candidates, ends, runs, most, latest):
                    start = ends[which - 1] if which else 0
                    size = ends[which] - start
                    if counts[MATCHES] == len(found):
                        found = grown(found, 2 * len(found))
                    while counts[PARTS] + size > len(parts):
                        parts = grown(parts, 2 * len(parts))
                    found[counts[MATCHES], MATCH_KEY], found[counts[MATCHES], MATCH_LENGTH] = key, size
                    parts[counts[PARTS] : counts[PARTS] + size] = candidates[start : start + size]
                    counts[MATCHES] += 1
                    counts[PARTS] += size
            # Chains move.
            for source in range(young + 1):
                if source < young and (not older or front[first, source] == EMPTY):
                    continue
                needed = 2
                for n in range(first_move, last_move):
                    needed += sizes[source, transfers[n, FROM]]
                if counts[LINKS] + needed > len(links):
                    roots = _roots(lists, sizes)
                    alive = collected(links, counts[LINKS], roots, 3)
                    for at in range(len(roots)):
                        lists[roots[at, 0], roots[at, 1], roots[at, 2]] = roots[at, 3]
                    counts[LINKS] = len(alive)
                    links[: len(alive)] = alive
                    if 2 * (len(alive) + needed) > len(links):
                        links = grown(links, 2 * (len(links) + needed))
                for n in range(first_move, last_move):
                    place = transfers[n, FROM]
                    arrived[n] = 0
                    if transfers[n, TO] == EMIT:
                        continue
                    touched = touched or sizes[source, place] > 0
                    for which in range(sizes[source, place]):
                        chain = lists[source, place, which]
                        if transfers[n, TAKES]:
                            chain = link(links, counts, event, transfers[n, TRANSFER_ROLE], chain)
                        arriving[0, n, which] = chain
                    arrived[n] = sizes[source, place]
                for n in range(leaving_at[letter], leaving_at[letter + 1]):
                    touched = touched or sizes[source, leaving[n]] > 0
                    sizes[source, leaving[n]] = 0
                for n in range(first_move, last_move):
                    to = transfers[n, TO]
                    if to == EMIT or arrived[n] == 0:
                        continue
                    while room < min(most, arrived[n] + sizes[source, to]):
                        room = min(most, 2 * room)
                        lists, arriving, scratch = (
                            _wider(lists, room),
                            _wider(arriving, room),
                            np.empty(room, np.int64),
                        )
                    into, more = (
                        Chains(lists[source, to], sizes[source, to]),
                        Chains(arriving[0, n], arrived[n]),
                    )
                    sizes[source, to] = merge(links, counts, into, more, most, latest, scratch)
            place, role = starts[begin, letter, BEGUN], starts[begin, letter, FIRST_ROLE]
            begin = starts[begin, letter, NEXT_START]
            if place >= 0:
                if counts[LINKS] == len(links):
                    links = grown(links, 2 * len(links))
                arriving[0, 0, 0] = link(links, counts, event, role, -1)
                if sizes[young, place] == room and room < most:
                    room = min(most, 2 * room)
                    lists, arriving, scratch = (
                        _wider(lists, room),
                        _wider(arriving, room),
                        np.empty(room, np.int64),
                    )
                into, more = (
                    Chains(lists[young, place], sizes[young, place]),
                    Chains(arriving[0, 0], np.int64(1)),
                )
                sizes[young, place] = merge(links, counts, into, more, most, latest, scratch)
            if two_parts and (place >= 0 or touched):
                if length == len(log):
                    log = grown(log, 2 * length)
                log[length, :PART_WIDTH] = event
                log[length, PART_ROLE] = role
                log[length, LOG_LETTER], log[length, LOG_PLACE] = letter, place
                length += 1
        if not keep:
            continue
        begun[key] = begin
        # The state afterwards: the log since the first start that the window still reaches, or the chains themselves.
        at = 0
        while two_parts and at < length and (log[at, LOG_PLACE] < 0 or log[at, PART_TIME] <= until - window):
            at += 1
        size = length - at if two_parts else 0
        while new_log_at[key] + size > len(new_log):
            new_log = grown(new_log, 2 * len(new_log))
        new_log_at[key + 1] = new_log_at[key] + size
        new_log[new_log_at[key] : new_log_at[key + 1]] = log[at : at + size]
        new_root_at[key + 1], new_link_at[key + 1] = new_root_at[key], new_link_at[key]
        if two_parts:
            continue
        if latest:
            for place in range(places):
                if sizes[0, place] and links[lists[0, place, 0], FIRST] <= until - window:
                    sizes[0, place] = 0
        roots = _roots(lists, sizes)
        alive = collected(links, counts[LINKS], roots, 3)
        while new_root_at[key] + len(roots) > len(new_roots):
            new_roots = grown(new_roots, 2 * len(new_roots))
        while new_link_at[key] + len(alive) > len(new_links):
            new_links = grown(new_links, 2 * len(new_links))
        new_root_at[key + 1] += len(roots)
        new_link_at[key + 1] += len(alive)
        for at in range(len(roots)):
            new_roots[new_root_at[key] + at] = roots[at, 1], roots[at, 3]
        new_links[new_link_at[key] : new_link_at[key + 1]] = alive
    after = Known(
        new_link_at,
        new_links[: new_link_at[keys]],
        new_root_at,
        new_roots[: new_root_at[keys]],
        new_log_at,
        new_log[: new_log_at[keys]],
    )
    return (found[: counts[MATCHES]], parts[: counts[PARTS]]), after, counts[STEPS]
