"""The kernel that only counts: how many matches each event completes, without listing one of them.

The groups of `machine` are numbers here: how many partial matches wait at each place. Adding is all that is needed, but for a
window: what began too long ago must be taken out again, and it is in all the sums. So the starts of a window are kept in two
parts. Of the older ones, `front`, it is known how many partial matches began at each of them or later, as they stood at one
moment, and `since_then` tells how places have mixed since that moment. Of the younger ones only the sum is kept, with a log
of what happened; when the older ones are used up, the log is read backwards once and the younger ones become the older. So
each event is looked at twice, whatever the window.

Numbers stop at `MOST`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.found import Matches
from tocsin.runtime.grouped import Events
from tocsin.runtime.groups import Rows
from tocsin.runtime.growing import grown
from tocsin.runtime.interning import Interned
from tocsin.runtime.machine import (
    BEGUN,
    COMPLETE,
    EMIT,
    FROM,
    NEXT_START,
    TO,
    Known,
    Tables,
)
from tocsin.runtime.program import Array
from tocsin.runtime.window import NO_WINDOW

MOST = np.int64(1) << np.int64(62)
LOG_LETTER, LOG_PLACE, LOG_TIME, LOG_WIDTH = range(4)
FOUND_KEY, FOUND_REF, FOUND_TIME, FOUND_BEGIN, FOUND_COUNT, FOUND_WIDTH = range(6)


class Counts(NamedTuple):
    """How many partial matches of one detector wait, by key, start and place."""

    keys: Array  # int64 (K,)
    offsets: Array  # int64 (K+1,): which starts a key has
    times: Array  # int64 (starts,): the end of the first event
    waiting: Array  # int64 (starts, places): of this and all later starts of the key
    begun: Array  # int64 (K,)
    known: Known
    fed: int  # when the last event ended


def no_counts() -> Counts:
    """Before the first event."""
    empty = np.empty(0, np.int64)
    return Counts(empty, np.zeros(1, np.int64), empty, np.empty((0, 0), np.int64), empty, Known(), int(-MOST))


@kernel
def _plus(a, b):  # type: ignore[no-untyped-def]
    return MOST if a >= MOST - b else a + b


@kernel
def _times(a, b):  # type: ignore[no-untyped-def]
    if a == 0 or b == 0:
        return np.int64(0)
    return MOST if a >= MOST // b else a * b


@kernel
def _read_back(log, length, transfers, transfer_at, leaving, leaving_at, places):  # type: ignore[no-untyped-def]
    """The starts of a log with their times, and how many partial matches of each and all later ones wait where."""
    starts = 0
    for at in range(length):
        starts += log[at, LOG_PLACE] >= 0
    times = np.empty(starts, np.int64)
    waiting = np.empty((starts, places), np.int64)
    mixing = np.zeros(
        (places, places), np.int64
    )  # what one match at a place has become by the end of the log
    for place in range(places):
        mixing[place, place] = 1
    total = np.zeros(places, np.int64)
    before = np.empty((places, places), np.int64)
    for at in range(length - 1, -1, -1):
        begun = log[at, LOG_PLACE]
        if begun >= 0:
            starts -= 1
            for place in range(places):
                total[place] = _plus(total[place], mixing[begun, place])
            times[starts] = log[at, LOG_TIME]
            waiting[starts] = total
        letter = log[at, LOG_LETTER]
        if transfer_at[letter] == transfer_at[letter + 1] and leaving_at[letter] == leaving_at[letter + 1]:
            continue
        before[:] = mixing
        for n in range(leaving_at[letter], leaving_at[letter + 1]):
            mixing[leaving[n]] = 0
        for n in range(transfer_at[letter], transfer_at[letter + 1]):
            to, place = transfers[n, TO], transfers[n, FROM]
            if to != EMIT:
                for other in range(places):
                    mixing[place, other] = _plus(mixing[place, other], before[to, other])
    return times, waiting


@kernel
def _mixed(waiting, since_then, plus):  # type: ignore[no-untyped-def]
    """What has become of numbers at places, with more beside them."""
    after = plus.copy()
    for place in range(len(waiting)):
        if waiting[place]:
            for other in range(len(waiting)):
                after[other] = _plus(after[other], _times(waiting[place], since_then[place, other]))
    return after


@kernel
def run(  # type: ignore[no-untyped-def]
    rows,
    transfers,
    transfer_at,
    leaving,
    leaving_at,
    starts,
    window,
    tick,
    offsets,
    times,
    waiting,
    begun,
    keep,
):
    """Feed the rows of every key. The starts of key `k` are `times` and `waiting` from `offsets[k]` to `offsets[k+1]`."""
    places = waiting.shape[1]
    found = np.empty((1024, FOUND_WIDTH), np.int64)
    matches = 0
    log = np.empty((256, LOG_WIDTH), np.int64)
    since_then = np.empty((places, places), np.int64)
    moved = np.empty((places, places), np.int64)
    young = np.zeros(places, np.int64)
    moved_young = np.zeros(places, np.int64)
    row_offsets, letters, signature, row_end = rows.offsets, rows.letter, rows.signature, rows.end
    keys = len(row_offsets) - 1
    after_offsets = np.zeros(keys + 1, np.int64)
    after_times = np.empty(64 if keep else 0, np.int64)
    after_waiting = np.empty((64 if keep else 0, places), np.int64)
    windowed = window < NO_WINDOW
    for key in range(keys):
        front_times, front = times[offsets[key] : offsets[key + 1]], waiting[offsets[key] : offsets[key + 1]]
        begin, first, length = begun[key], 0, 0
        young[:] = 0
        since_then[:] = 0
        for place in range(places):
            since_then[place, place] = 1
        if not windowed and len(front):
            young[:] = front[0]
            front = front[:0]
        row, stop = row_offsets[key], row_offsets[key + 1]
        fresh, moment = False, np.int64(0)  # whether something took an event of this moment
        while row < stop or (fresh and keep):
            over = row == stop
            letter = 0 if over else letters[signature[row]]
            if letter == 0 and not over:
                row += 1
                continue
            end = moment + 1 if over else row_end[row]
            if fresh and end > moment:  # first time goes on, then the row is looked at again
                letter, fresh = tick, False
            else:
                fresh, moment = tick > 0, end
                row += 1
            since = end - window
            while first < len(front) and front_times[first] < since:
                first += 1
            if windowed and first == len(front) and length and log[0, LOG_TIME] < since:
                front_times, front = _read_back(
                    log, length, transfers, transfer_at, leaving, leaving_at, places
                )
                first, length = 0, 0
                young[:] = 0
                since_then[:] = 0
                for place in range(places):
                    since_then[place, place] = 1
                while first < len(front) and front_times[first] < since:
                    first += 1
            older = first < len(front)
            complete = np.int64(starts[begin, letter, COMPLETE])
            some = transfer_at[letter] < transfer_at[letter + 1]
            if some:
                moved_young[:] = 0
                if older:
                    moved[:] = 0
                for n in range(transfer_at[letter], transfer_at[letter + 1]):
                    place, to = transfers[n, FROM], transfers[n, TO]
                    if to == EMIT:
                        done = young[place]
                        if older:
                            for other in range(places):
                                done = _plus(done, _times(front[first, other], since_then[other, place]))
                        complete = _plus(complete, done)
                        continue
                    moved_young[to] = _plus(moved_young[to], young[place])
                    if older:
                        for other in range(places):
                            moved[other, to] = _plus(moved[other, to], since_then[other, place])
            for n in range(leaving_at[letter], leaving_at[letter + 1]):
                young[leaving[n]] = 0
                if older:
                    since_then[:, leaving[n]] = 0
            if some:
                for place in range(places):
                    young[place] = _plus(young[place], moved_young[place])
                if older:
                    for place in range(places):
                        for other in range(places):
                            since_then[place, other] = _plus(since_then[place, other], moved[place, other])
            place = starts[begin, letter, BEGUN]
            begin = starts[begin, letter, NEXT_START]
            if place >= 0:
                young[place] = _plus(young[place], 1)
            if windowed and (length or place >= 0):
                if length == len(log):
                    log = grown(log, 2 * length)
                log[length, LOG_LETTER], log[length, LOG_PLACE], log[length, LOG_TIME] = letter, place, end
                length += 1
            if complete:
                if matches == len(found):
                    found = grown(found, 2 * matches)
                found[matches, FOUND_KEY], found[matches, FOUND_REF] = key, rows.ref[row - 1]
                found[matches, FOUND_TIME], found[matches, FOUND_BEGIN] = end, rows.start[row - 1]
                found[matches, FOUND_COUNT] = complete
                matches += 1
        begun[key] = begin
        count = after_offsets[key]
        if keep:
            log_times, log_waiting = _read_back(
                log, length, transfers, transfer_at, leaving, leaving_at, places
            )
            size = (len(front) - first + len(log_times)) if windowed else 1
            while count + size > len(after_times):
                larger = np.empty(2 * len(after_times), np.int64)
                larger[: len(after_times)] = after_times
                after_times = larger
                after_waiting = grown(after_waiting, 2 * len(after_waiting))
            if not windowed:
                after_times[count] = MOST
                after_waiting[count] = young
                count += young.any()
            else:
                for at in range(first, len(front)):
                    after_times[count] = front_times[at]
                    after_waiting[count] = _mixed(front[at], since_then, young)
                    count += 1
                for at in range(len(log_times)):
                    after_times[count] = log_times[at]
                    after_waiting[count] = log_waiting[at]
                    count += 1
        after_offsets[key + 1] = count
    return (
        found[:matches],
        after_offsets,
        after_times[: after_offsets[keys]],
        after_waiting[: after_offsets[keys]],
    )


def count(
    before: Counts, tables: Tables, letters: Array, events: Events, until: int, keep: bool, interned: Interned
) -> tuple[Matches, Counts]:
    """Feed events, and say of each that completes matches how many."""
    keys = len(events.offsets) - 1
    places, starts = tables.numbers_of(before.known)
    waiting = np.zeros((len(before.times), len(tables.places)), np.int64)
    waiting[:, places] = before.waiting
    sizes = np.zeros(keys, np.int64)
    sizes[before.keys] = np.diff(before.offsets)
    begun = np.zeros(keys, np.int64)
    if len(before.keys):
        begun[before.keys] = starts[before.begun]
    found, offsets, times, after = run(
        Rows(events.offsets, letters, events.signature, events.start, events.end, events.ref),
        tables.transfers,
        tables.transfer_at,
        tables.leaving,
        tables.leaving_at,
        tables.starts,
        tables.window,
        tables.tick,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        before.times,
        waiting,
        begun,
        keep,
    )
    matches = _matches(found, interned)
    if not keep:
        return matches, no_counts()
    # What the window has left behind goes; what began later tells itself how many there are.
    live = times > until - tables.window
    owner = np.repeat(np.arange(keys), np.diff(offsets))[live]
    alive = np.flatnonzero((np.bincount(owner, minlength=keys) > 0) | (begun != 0))
    own = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=keys)[alive])]).astype(np.int64)
    fed = max(before.fed, int(events.end.max(initial=-MOST)))
    return matches, Counts(alive, own, times[live], after[live], begun[alive], tables.known, fed)


def _matches(found: Array, interned: Interned) -> Matches:
    """One match for each event that completes some: the event, and the number."""
    distinct, which = np.unique(found[:, FOUND_COUNT], return_inverse=True)
    numbers = np.array([interned.number(int(size)) for size in distinct], np.int64)
    begin, end = found[:, FOUND_BEGIN].copy(), found[:, FOUND_TIME].copy()
    return Matches(
        found[:, FOUND_KEY].copy(),
        begin,
        end,
        numbers[which].reshape(-1, 1),
        np.arange(len(found) + 1),
        found[:, FOUND_REF].copy(),
        np.zeros(len(found), np.int64),
        end,
        begin,
    )
