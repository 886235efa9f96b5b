"""The kernel for `leftmost` where all events of a key are given: queues of starts, and matches rebuilt from their start.

Of the matches of a key only the leftmost is reported, and then those after it. So all that is kept of a partial match is its
first event. What becomes of a start depends on its *stage*: all the ways it may continue, as the places of the machine know
them. Starts at one stage form a queue, earliest first, and an event that moves everything at a stage appends its queue to
another. When a queue is complete, its first start in the window is the match, and the machine is run again from there to find
the events it took. Matches do not overlap, so no event is read again more than once, whatever the window and the number of
starts.

Where starts of two queues would have to be interleaved the kernel gives up, and groups do the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.match_arrays import Matches
from tocsin.runtime.kernels.tokens.groups.letter_tables import (
    BEGUN,
    COMPLETE,
    EMIT,
    FIRST_ROLE,
    FROM,
    NEXT_START,
    TO,
    Rows,
    Tables,
)
from tocsin.runtime.program import Array

# Columns of the effect of an event on one way: which way it was before, whether it takes the event, and under which name.
WAS, TAKEN, NAME, BACK_WIDTH = range(4)
# Columns of a queue (-1 where it is empty), of a start (its index among the relevant rows, the set of start states it began in,
# and the next in its queue), and of an event of a match.
HEAD, TAIL, QUEUE_WIDTH = range(3)
START, START_SET, NEXT, BEGUN_WIDTH = range(4)
PART_REF, PART_ROLE, PART_TIME, PART_BEGIN, PART_WIDTH = range(5)
# Columns of a match.
MATCH_KEY, MATCH_START, MATCH_END, MATCH_STOP, MATCH_WIDTH = range(5)
_GIVES_UP = -1
_FAILS = -1
_MOST_CELLS = 1 << 18


class Stages(NamedTuple):
    """A machine by stages. S stages, L letters, W ways at a stage at most."""

    moves: Array  # int64 (moves, 2): from stage to stage, or EMIT; those of a letter together
    move_at: Array  # int64 (L+1,)
    leaving: Array  # int64: stages that a letter empties
    leaving_at: Array  # int64 (L+1,)
    then: Array  # int64 (S, L): the next stage, EMIT or _FAILS
    back: (
        Array  # int64 (S, L, W, BACK_WIDTH): by the stage before and the way after; way 0 is that of a match
    )
    starts: Array  # int64 (start sets, L, 4), with stages in place of places


class Scratch(NamedTuple):
    """Scratch arrays with room for the rows of any key, for all stages, and for all possible matches."""

    seen: Array  # int64 (rows of a key + 1,): the relevant rows
    means: Array  # int64 (rows of a key + 1,): their letters
    trail: Array  # int64 (rows of a key,): the stages on the way to a match
    begun: Array  # int64 (rows of a key, BEGUN_WIDTH)
    queues: Array  # int64 (S, QUEUE_WIDTH)
    arriving: Array  # int64 (S, QUEUE_WIDTH)
    found: Array  # int64 (rows, MATCH_WIDTH); matches share no event, so there is room for all
    parts: Array  # int64 (rows, PART_WIDTH)


class Again(NamedTuple):
    """A match to rebuild: its key, its first and last row among the relevant ones, and its set of start states."""

    key: int
    first: int
    last: int
    start_set: int


_KNOWN: dict[int, tuple[Tables, Stages | None]] = {}  # by the identity of the tables, which are kept with it
_MANY = 50_000


def stages_of(tables: Tables) -> Stages | None:
    """A machine by stages, computed once; None if starts of one stage can behave differently."""
    known = _KNOWN.get(id(tables))
    if known is None:
        if len(_KNOWN) > _MANY:
            _KNOWN.clear()
        known = _KNOWN[id(tables)] = (tables, _stages(tables))
    return known[1]


def _stages(tables: Tables) -> Stages | None:
    if tables.tick or len(tables.escapes) or tables.starts[:, :, COMPLETE].any():
        return None
    numbers = {ways: n for n, ways in enumerate(dict.fromkeys(ways for ways, _ in tables.places))}
    stage = np.array([numbers[ways] for ways, _ in tables.places], np.int64)
    way = np.array([index for _, index in tables.places], np.int64)
    letters, widest = len(tables.transfer_at) - 1, int(way.max(initial=0)) + 1
    if len(numbers) * letters * widest > _MOST_CELLS:
        return None
    then = np.repeat(np.arange(len(numbers))[:, None], letters, axis=1)
    back = np.zeros((len(numbers), letters, widest, BACK_WIDTH), np.int64)
    back[:, :, :, WAS] = np.arange(widest)
    leaving, moves = [], []
    for letter in range(letters):
        left = np.unique(stage[tables.leaving[tables.leaving_at[letter] : tables.leaving_at[letter + 1]]])
        then[left, letter] = _FAILS
        moved = tables.transfers[tables.transfer_at[letter] : tables.transfer_at[letter + 1]].tolist()
        for before, after, takes, role in moved:
            complete = after == EMIT
            then[stage[before], letter] = EMIT if complete else stage[after]
            back[stage[before], letter, 0 if complete else way[after]] = way[before], takes, role
        leaving.append(left)
        moves.append(
            np.array([[s, then[s, letter]] for s in left if then[s, letter] != _FAILS]).reshape(-1, 2)
        )
    starts = tables.starts.copy()
    begun = starts[:, :, BEGUN]
    starts[:, :, BEGUN] = np.where(begun >= 0, stage[begun], begun) if len(stage) else begun
    return Stages(
        np.concatenate(moves).astype(np.int64),
        _offsets(moves),
        np.concatenate(leaving).astype(np.int64),
        _offsets(leaving),
        then,
        back,
        starts,
    )


def _offsets(parts: list[Array]) -> Array:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


def find(tables: Tables, stages: Stages, rows: Rows) -> Matches | None:
    """The leftmost matches of keys whose events are all given; None if only groups can find them."""
    most, size, count = int(np.diff(rows.offsets).max(initial=0)), len(rows.end), len(stages.then)
    scratch = Scratch(
        np.empty(most + 1, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(most, np.int64),
        np.empty((most, BEGUN_WIDTH), np.int64),
        np.empty((count, QUEUE_WIDTH), np.int64),
        np.empty((count, QUEUE_WIDTH), np.int64),
        np.empty((size, MATCH_WIDTH), np.int64),
        np.empty((size, PART_WIDTH), np.int64),
    )
    count = _find(rows, stages, tables.window, scratch)
    if count == _GIVES_UP:
        return None
    found, parts = scratch.found[:count], scratch.parts
    stops = np.concatenate([[0], found[:, MATCH_STOP]])
    parts = parts[: stops[-1]]
    return Matches(
        found[:, MATCH_KEY].copy(),
        found[:, MATCH_START].copy(),
        found[:, MATCH_END].copy(),
        np.empty((count, 0), np.int64),
        stops,
        parts[:, PART_REF].copy(),
        parts[:, PART_ROLE].copy(),
        parts[:, PART_TIME].copy(),
        parts[:, PART_BEGIN].copy(),
    )


@kernel
def _find(events, stages, window, scratch):  # type: ignore[no-untyped-def]
    """Write the leftmost matches of all keys; returns their number."""
    offsets, letters, signature, _, row_end, _ = events
    moves, move_at, leaving, leaving_at = stages.moves, stages.move_at, stages.leaving, stages.leaving_at
    starts = stages.starts
    seen, means, begun = scratch.seen, scratch.means, scratch.begun
    queues, arriving = scratch.queues, scratch.arriving
    matches, stop = 0, 0
    for key in range(len(offsets) - 1):
        # Most rows are irrelevant. They are skipped without a branch, which no processor could predict.
        rows = 0
        for row in range(offsets[key], offsets[key + 1]):
            letter = letters[signature[row]]
            seen[rows], means[rows] = row, letter
            rows += letter != 0
        queues[:] = -1
        count, begin = 0, 0
        for now in range(rows):
            letter = means[now]
            if count > 0:
                since = row_end[seen[now]] - window
                first, last = move_at[letter], move_at[letter + 1]
                best = count
                for at in range(first, last):
                    stage = moves[at, FROM]
                    head = queues[stage, HEAD]
                    if head >= 0 and moves[at, TO] == EMIT:
                        while head >= 0 and row_end[seen[begun[head, START]]] < since:
                            head = begun[head, NEXT]
                        if head >= 0:
                            best = min(best, head)
                        head = -1
                    arriving[stage, HEAD], arriving[stage, TAIL] = head, queues[stage, TAIL]
                if best < count:
                    again = Again(key, begun[best, START], now, begun[best, START_SET])
                    stop = _found_again(events, stages, scratch, again, matches, stop)
                    matches += 1
                    queues[:] = -1
                    count, begin = 0, starts[begin, letter, NEXT_START]
                    continue
                for at in range(leaving_at[letter], leaving_at[letter + 1]):
                    queues[leaving[at], HEAD] = -1
                for at in range(first, last):
                    stage, to = moves[at, FROM], moves[at, TO]
                    head, tail = arriving[stage, HEAD], arriving[stage, TAIL]
                    if head >= 0 and not _linked(queues, to, head, tail, begun):
                        if row_end[seen[begun[queues[to, TAIL], START]]] >= since:
                            return _GIVES_UP
                        queues[to, HEAD], queues[to, TAIL] = head, tail  # the queue there is empty
            stage = starts[begin, letter, BEGUN]
            if stage >= 0:
                begun[count, START], begun[count, START_SET], begun[count, NEXT] = now, begin, -1
                _linked(queues, stage, count, count, begun)  # no start is later, so it goes to the end
                count += 1
            begin = starts[begin, letter, NEXT_START]
    return matches


@kernel
def _linked(queues, stage, head, tail, begun):  # type: ignore[no-untyped-def]
    """Join a queue to the one of a stage; false if their starts would have to be interleaved."""
    if queues[stage, HEAD] < 0:
        queues[stage, HEAD], queues[stage, TAIL] = head, tail
    elif queues[stage, TAIL] < head:
        begun[queues[stage, TAIL], NEXT] = head
        queues[stage, TAIL] = tail
    elif tail < queues[stage, HEAD]:
        begun[tail, NEXT] = queues[stage, HEAD]
        queues[stage, HEAD] = head
    else:
        return False
    return True


@kernel
def _found_again(events, stages, scratch, again, match, stop):  # type: ignore[no-untyped-def]
    """Write the match that begins and ends at these relevant rows; returns where its events end.

    The way of a match is known only at its end. So stages are recorded forwards, and events are collected backwards.
    """
    row_start, row_end, row_ref = events.start, events.end, events.ref
    then, back, starts = stages.then, stages.back, stages.starts
    seen, means, trail, found, parts = (
        scratch.seen,
        scratch.means,
        scratch.trail,
        scratch.found,
        scratch.parts,
    )
    key, first, last, begin = again
    letter = means[first]
    stage, first_role = starts[begin, letter, BEGUN], starts[begin, letter, FIRST_ROLE]
    for at in range(first + 1, last + 1):
        trail[at] = stage
        stage = then[stage, means[at]]
    way, top = np.int64(0), stop
    earliest = row_start[seen[first]]
    for at in range(last, first - 1, -1):
        row = seen[at]
        role = first_role
        if at > first:
            stage, letter, after = trail[at], means[at], way
            way = back[stage, letter, after, WAS]
            if back[stage, letter, after, TAKEN] == 0:
                continue
            role = back[stage, letter, after, NAME]
        parts[top, PART_REF], parts[top, PART_ROLE] = row_ref[row], role
        parts[top, PART_TIME], parts[top, PART_BEGIN] = row_end[row], row_start[row]
        earliest = min(earliest, row_start[row])
        top += 1
    for at in range((top - stop) // 2):
        for column in range(PART_WIDTH):
            other = parts[top - 1 - at, column]
            parts[top - 1 - at, column] = parts[stop + at, column]
            parts[stop + at, column] = other
    found[match, MATCH_KEY], found[match, MATCH_START] = key, earliest
    found[match, MATCH_END], found[match, MATCH_STOP] = row_end[seen[last]], top
    return top
