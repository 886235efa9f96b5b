"""The counting kernel: how many matches each event completes, without listing any of them.

The groups of `machine` are numbers here: how many partial matches wait at each place. Addition is all it takes, except for a
window: partial matches that began too long ago must be removed, but they are part of all the sums. So the starts of a window
are kept in two parts. For the older ones, `front` holds how many partial matches began at each of them or later, as of one
moment, and `since_then` how places have mixed since that moment. For the younger ones only the sum is kept, with a log of
events; when the older ones are used up, the log is read backwards once and the younger ones become the older. So each event
is processed twice, however long the window.

Counts saturate at `MOST`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.growing import grown
from tocsin.runtime.kernels.tokens.groups.eligible import NO_WINDOW
from tocsin.runtime.kernels.tokens.groups.letter_tables import BEGUN, COMPLETE, EMIT, FROM, NEXT_START, TO
from tocsin.runtime.program import Array

MOST = np.int64(1) << np.int64(62)
LOG_LETTER, LOG_PLACE, LOG_TIME, LOG_WIDTH = range(4)
FOUND_KEY, FOUND_REF, FOUND_TIME, FOUND_BEGIN, FOUND_COUNT, FOUND_WIDTH = range(6)


class Waiting(NamedTuple):
    """The numbers of waiting partial matches: the starts of key `k` are those from `offsets[k]` to `offsets[k+1]`."""

    offsets: Array  # int64 (keys+1,)
    times: Array  # int64 (starts,): the end of the first event
    numbers: Array  # int64 (starts, places): of this and all later starts of the key


@kernel
def _plus(a, b):  # type: ignore[no-untyped-def]
    return MOST if a >= MOST - b else a + b


@kernel
def _times(a, b):  # type: ignore[no-untyped-def]
    if a == 0 or b == 0:
        return np.int64(0)
    return MOST if a >= MOST // b else a * b


@kernel
def _read_back(log, length, moves, places):  # type: ignore[no-untyped-def]
    """The starts of a log with their times, and how many partial matches of each and all later ones wait at each place."""
    transfers, transfer_at, leaving, leaving_at = (
        moves.transfers,
        moves.transfer_at,
        moves.leaving,
        moves.leaving_at,
    )
    starts = 0
    for at in range(length):
        starts += log[at, LOG_PLACE] >= 0
    times = np.empty(starts, np.int64)
    waiting = np.empty((starts, places), np.int64)
    mixing = np.zeros(
        (places, places), np.int64
    )  # what one partial match at a place has become by the end of the log
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
    """The numbers at places after the transitions of `since_then`, plus further ones."""
    after = plus.copy()
    for place in range(len(waiting)):
        if waiting[place]:
            for other in range(len(waiting)):
                after[other] = _plus(after[other], _times(waiting[place], since_then[place, other]))
    return after


@kernel
def run(rows, moves, before, begun, keep):  # type: ignore[no-untyped-def]
    """Feed the rows of every key. Returns the counts and the partial matches that wait; updates `begun` (keys)."""
    offsets, times, waiting = before
    transfers, transfer_at, leaving, leaving_at, starts = (
        moves.transfers,
        moves.transfer_at,
        moves.leaving,
        moves.leaving_at,
        moves.starts,
    )
    window, tick = moves.window, moves.tick
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
        row, stop = row_offsets[key], row_offsets[key + 1]
        while row < stop and letters[signature[row]] == 0:
            row += 1
        if row == stop and not keep:
            continue
        front_times, front = times[offsets[key] : offsets[key + 1]], waiting[offsets[key] : offsets[key + 1]]
        begin, first, length = begun[key], 0, 0
        young[:] = 0
        since_then[:] = 0
        for place in range(places):
            since_then[place, place] = 1
        if not windowed and len(front):
            young[:] = front[0]
            front = front[:0]
        fresh, moment = False, np.int64(0)  # whether something took an event of this moment
        while row < stop or (fresh and keep):
            over = row == stop
            letter = 0 if over else letters[signature[row]]
            if letter == 0 and not over:
                row += 1
                continue
            end = moment + 1 if over else row_end[row]
            if fresh and end > moment:  # first time advances, then the row is processed again
                letter, fresh = tick, False
            else:
                fresh, moment = tick > 0, end
                row += 1
            since = end - window
            while first < len(front) and front_times[first] < since:
                first += 1
            if windowed and first == len(front) and length and log[0, LOG_TIME] < since:
                front_times, front = _read_back(log, length, moves, places)
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
            log_times, log_waiting = _read_back(log, length, moves, places)
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
    last = after_offsets[keys]
    return found[:matches], Waiting(after_offsets, after_times[:last], after_waiting[:last])
