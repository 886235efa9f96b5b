"""Selects which matches of the token kernel are reported: the policies of `algebra.tokens.selection`.

Partial matches do not influence each other, so a policy can be applied to the matches found; the partial matches that it makes
useless are then removed from those that wait. Positions are compared by rank: events in the total order, timers after the
events of their moment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.kernels.match_arrays import Matches, joined, none, some
from tocsin.runtime.program import Array, Choice, Detector
from tocsin.runtime.rows.value_numbers import Interned

_DROPPED, _CHOSEN, _HELD = range(3)


class Waiting(NamedTuple):
    """The waiting partial matches: the key of each, and its first event as ref, name, end and start."""

    key: Array
    refs: Array
    roles: Array
    times: Array
    begins: Array


class Chosen(NamedTuple):
    """The matches to report, those held back for now, and which partial matches may continue."""

    matches: Matches
    held: Matches
    alive: Array  # bool


def choose(
    detector: Detector,
    found: Matches,
    held: Matches,
    waiting: Waiting,
    composites: Array,
    interned: Interned,
    ended: bool,
) -> Chosen:
    """Apply the selection policy of a detector to the matches it found.

    Args:
        composites: for each composite event a number that orders those of equal time.
        ended: whether no partial match continues any more.
    """
    choice = detector.choice
    count = len(found.key)
    every = joined(held, found)
    if not len(every.key):
        return Chosen(none(len(detector.variable_names)), held, np.ones(len(waiting.key), np.bool_))
    ranks = _ranks(detector, every, waiting, composites)
    firsts, own = ranks[len(every.refs) :], ranks[: len(every.refs)]
    order = _Order(every, own)
    alive = np.ones(len(waiting.key), np.bool_)
    rows = np.arange(len(every.key))
    held_rows = rows[:0]
    if choice.matches in ("next", "leftmost"):
        rows = order.sorted(rows, by_start=True)
        rows = rows[_first_of_group(every.key[rows], order.first[rows])]
        done = rows[rows >= len(every.key) - count]
        alive &= ~np.isin(_pairs(waiting.key, firsts), _pairs(every.key[done], order.first[done]))
    if choice.matches == "leftmost":
        live = np.lexsort((firsts, waiting.key))
        live = live[alive[live]]
        status, over = _leftmost(
            every.key[rows], order.first[rows], order.last[rows], waiting.key[live], firsts[live], ended
        )
        held_rows, rows = rows[status == _HELD], rows[status == _CHOSEN]
        alive[live] = over < firsts[live]
    rows = order.sorted(rows)
    if choice.take != "all":
        begins = _first_of_group(every.key[rows], order.moment[rows])
        group = np.cumsum(begins) - 1
        where = np.flatnonzero(begins)
        if choice.take == "first":
            rows = rows[np.arange(len(rows)) - where[group] < choice.limit]
        else:
            sizes = np.diff([*where, len(rows)])
            rows = rows[where + sizes - 1]
            if choice.take == "count":
                return Chosen(_counted(some(every, rows), sizes, interned), some(every, held_rows), alive)
    return Chosen(some(every, rows), some(every, held_rows), alive)


def take(detector: Detector, found: Matches, interned: Interned) -> Matches:
    """Apply `take` to matches that were chosen already."""
    if detector.choice.take == "all":
        return found
    only = detector._replace(choice=Choice("each", *detector.choice[1:]))
    nobody = np.empty(0, np.int64)
    none_waits = Waiting(nobody, nobody, nobody, nobody, nobody)
    return choose(only, found, none(found.variables.shape[1]), none_waits, nobody, interned, True).matches


def _ranks(detector: Detector, matches: Matches, waiting: Waiting, composites: Array) -> Array:
    """The rank of each constituent, and of the first event of each partial match."""
    refs = np.concatenate([matches.refs, waiting.refs])
    roles = np.concatenate([matches.roles, waiting.roles])
    names = sorted(set(detector.timer_names))
    timer_ranks = np.array([names.index(name) for name in detector.timer_names] + [0], np.int64)
    kind = np.where(roles < 0, 2, np.where(refs >= 0, 1, 0))
    number = refs.copy()
    number[refs <= -2] = composites[-2 - refs[refs <= -2]]
    number = np.where(roles < 0, timer_ranks[np.where(roles < 0, -1 - roles, 0)], number)
    columns = (
        number,
        kind,
        np.concatenate([matches.begins, waiting.begins]),
        np.concatenate([matches.times, waiting.times]),
    )
    order = np.lexsort(columns)
    differs = np.zeros(len(order), np.bool_)
    for column in columns:
        differs[1:] |= column[order[1:]] != column[order[:-1]]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(differs)
    return ranks


class _Order:
    """The ranks where matches begin, where and when they are complete, and their order by events."""

    def __init__(self, matches: Matches, ranks: Array) -> None:
        first, last = matches.offsets[:-1], matches.offsets[1:] - 1
        self.first, self.last = ranks[first], ranks[last]
        timer = matches.roles[last] < 0
        # All timers of one time are one moment, after its events.
        self.moment = np.stack([matches.times[last], timer, np.where(timer, 0, self.last)], axis=1)
        lengths = np.diff(matches.offsets)
        width = int(lengths.max(initial=0))
        # A longer match comes before its own prefix, whatever ranks partial matches take.
        table = np.full((len(lengths), width + 1), np.iinfo(np.int64).max, np.int64)
        table[np.arange(width + 1) < lengths[:, None]] = ranks
        self._key, self._events = matches.key, table

    def sorted(self, rows: Array, *, by_start: bool = False) -> Array:
        """The rows sorted by key, optionally by start, by moment, and then by their events."""
        columns = [*reversed(self._events[rows].T), *reversed(self.moment[rows].T)]
        if by_start:
            columns.append(self.first[rows])
        return rows[np.lexsort((*columns, self._key[rows]))]


def _first_of_group(key: Array, group: Array) -> Array:
    """Whether each row is the first of its key and group; rows of a group are adjacent."""
    new = np.ones(len(key), np.bool_)
    if not len(key):
        return new
    group = group.reshape(len(key), -1)
    new[1:] = (key[1:] != key[:-1]) | (group[1:] != group[:-1]).any(axis=1)
    return new


def _pairs(key: Array, rank: Array) -> Array:
    return key * (1 << 40) + rank


@kernel
def _leftmost(key, first, last, live_key, live_first, ended):  # type: ignore[no-untyped-def]
    """The status of each match, sorted by key and start, and for each partial match the end of the last chosen one."""
    status = np.zeros(len(key), np.int64)
    over_live = np.full(len(live_key), np.int64(-1))
    at, live = 0, 0
    while at < len(key) or live < len(live_key):
        own = key[at] if at < len(key) else live_key[live]
        if live < len(live_key) and live_key[live] < own:
            own = live_key[live]
        over, blocked, begin = np.int64(-1), False, live
        while at < len(key) and key[at] == own:
            if first[at] <= over:
                status[at] = _DROPPED
            else:
                while live < len(live_key) and live_key[live] == own and live_first[live] <= over:
                    live += 1
                waits = live < len(live_key) and live_key[live] == own and live_first[live] < first[at]
                blocked = blocked or (waits and not ended)
                if blocked:
                    status[at] = _HELD
                else:
                    status[at] = _CHOSEN
                    over = last[at]
            at += 1
        live = begin
        while live < len(live_key) and live_key[live] == own:
            over_live[live] = over
            live += 1
    return status, over_live


def _counted(last: Matches, sizes: Array, interned: Interned) -> Matches:
    """The last match of each moment, reduced to the completing event, with the number of matches of the moment."""
    ends = last.offsets[1:] - 1
    distinct, which = np.unique(sizes, return_inverse=True)
    numbers = np.array([interned.number(int(size)) for size in distinct], np.int64)
    return Matches(
        last.key,
        last.begins[ends],
        last.times[ends],
        numbers[which].reshape(-1, 1),
        np.arange(len(ends) + 1),
        last.refs[ends],
        np.minimum(last.roles[ends], 0),  # the only name there is, or that of a timer
        last.times[ends],
        last.begins[ends],
    )
