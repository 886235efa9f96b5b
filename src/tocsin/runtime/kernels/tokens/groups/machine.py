"""A program of the token family as a deterministic machine over *groups* of partial matches.

Where all predicates are on single events and the only timer is a window over the whole match, partial matches that wait in
the same states advance together, however many there are. A **place** is where such a group waits; an event moves whole
groups, so it costs the same whatever the window and the number of partial matches. The program states reached by one list of
events are kept as one set, so no list is found twice.

For `next` and `leftmost` a place also knows which other ways the same first event has: once one of them is complete, the
others are dropped. The ways are in the order of their events, so the first to be complete is the one to report.

For one program, an event is the set of its predicates that hold: a *mask*. Masks become *letters* when an event first has them,
and the tables grow with them. If a bound is exceeded, `Unsuitable` is raised, and the token kernel does the work.

Strong order can be followed if events have no length: a way is *fresh* as long as its last event is of the present moment, and
the advance of time is a letter of its own. A way that is fresh when its window ends, and continues by strong order only, does
not take the timer, which does not lie after its last event: it *escapes*, and no window ends it any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tocsin.runtime.kernels.tokens.groups.eligible import can_escape, is_strong, window_of
from tocsin.runtime.kernels.tokens.groups.letter_tables import (
    BEGUN,
    COMPLETE,
    EMIT,
    ESCAPED,
    FRESH,
    NOWHERE,
    Place,
    States,
    Tables,
    Unsuitable,
    Way,
    Ways,
)
from tocsin.runtime.program import (
    ANYTHING,
    MOVE_EMITS,
    MOVE_FIRST,
    MOVE_STOP,
    MOVE_STRONG,
    MOVE_TEST,
    NOTHING,
    SPEC_ROLE,
    STATE_FIRST,
    STATE_STOP,
    STATE_STRONG,
    STEP_STATE,
    TEST_EXCEPTED,
    TEST_LOOKED_AT,
    TEST_LOOKED_AT_STOP,
    TEST_TAKEN,
    TEST_TAKEN_STOP,
    Array,
    Choice,
    Detector,
    Program,
)

MAX_PLACES = 256
MAX_LETTERS = 1024
MOST_PREDICATES = 62  # of one program, as bits of a mask
MOST_TRIED = 1 << 13  # masks, to see whether a machine can outgrow its bounds
_TICK = None  # in place of a mask: time advances
_T = TypeVar("_T")


class _Outcome(NamedTuple):
    """The effect of an event on one list of events: the states if it is taken, and those if it is left out."""

    taken: States
    complete: bool
    role: int
    left: States


class Machine:
    """The machine of a program and a choice; it grows with the masks of events."""

    def __init__(self, program: Program, choice: Choice) -> None:
        window = window_of(program)
        if window is None:
            raise Unsuitable
        self._program, self._window = program, window
        self._one_each = choice.matches in ("next", "leftmost")
        self._counts = choice.take == "count"  # then the names of events do not matter
        self._strong = is_strong(program)
        self._taking = FRESH if self._strong else 0
        self._can_escape = can_escape(program)
        self._masks: dict[int, int] = {}
        self._outcomes: dict[tuple[Way, int], _Outcome] = {}
        self._single: dict[tuple[int, int, bool], tuple[str, States, bool, int]] = {}
        # Only some of the matches of one event are reported. Escapes are known match by match, so then all are listed.
        self._some = choice.take != "all" and choice.matches != "leftmost" and not self._can_escape
        self._settled: bool | None = None
        self.tables: Tables | None = None

    @property
    def goes_on(self) -> bool:
        """Whether it can run in a kernel that does not keep each partial match, so that there is no way back to single tokens.

        That requires that the machine never outgrows its bounds, whatever the events. The check takes a bounded time.
        """
        if self._settled is None and self._some:
            try:
                self._try_all_masks()
                self._settled = True
            except Unsuitable:
                self._settled = False
        return bool(self._settled)

    def _try_all_masks(self) -> None:
        if len(self._program.specs) > MOST_PREDICATES:
            raise Unsuitable
        tried, count = 0, 0
        start_sets = {tuple(sorted(set(self._program.starts.tolist()))): 0}
        places: dict[Ways, None] = {}
        for begin in discovered(start_sets):
            for mask in self._masks_that_differ(begin):
                outcome = self._outcome((0, begin), mask, starting=True)
                start_sets.setdefault(outcome.left, 0)
                if outcome.taken:
                    places.setdefault(((self._taking, outcome.taken),))
                tried += 1
        for ways in discovered(places):
            count += len(ways)
            ticks: list[int | None] = [_TICK] if self._strong else []
            for happening in [*self._masks_that_differ(s for _, states in ways for s in states), *ticks]:
                for _, target, *_ in self._moves(ways, happening)[0]:
                    if target is not None:
                        places.setdefault(target)
                tried += 1
            if count > MAX_PLACES or tried > MOST_TRIED:
                raise Unsuitable

    def _masks_that_differ(self, states: Iterable[int]) -> Iterator[int]:
        """Every combination of results of the predicates of some states."""
        asked = set[int]()
        for state in states:
            for test in self._moves_of(state)[:, MOVE_TEST].tolist():
                asked.update(self._specs(test, TEST_EXCEPTED, TEST_LOOKED_AT_STOP))
        if 1 << len(asked) > MOST_TRIED:
            raise Unsuitable
        for size in range(len(asked) + 1):
            for chosen in combinations(sorted(asked), size):
                yield sum(1 << spec for spec in chosen)

    def _moves_of(self, state: int) -> Array:
        first, stop = self._program.states[state, [STATE_FIRST, STATE_STOP]]
        return self._program.moves[first:stop]

    def _specs(self, test: int, first: int, stop: int) -> list[int]:
        own = self._program.tests[test]
        specs: list[int] = self._program.spec_list[own[first] : own[stop]].tolist()
        return specs

    def with_masks(self, masks: list[int]) -> Tables:
        """The tables, with these masks among their letters."""
        new = [mask for mask in dict.fromkeys(masks) if mask not in self._masks]
        if new or self.tables is None:
            if len(self._masks) + len(new) > MAX_LETTERS and not self.goes_on:
                raise Unsuitable
            before = dict(self._masks)
            for mask in new:
                self._masks[mask] = len(self._masks) + 1
            try:
                self.tables = self._tables()
            except Unsuitable:
                self._masks = before  # other events may never have these
                raise
        return self.tables

    def _tables(self) -> Tables:
        whole = tuple(sorted(set(self._program.starts.tolist())))
        start_sets = {whole: 0}
        places: dict[Place, int] = {}
        waiting: list[Ways] = []
        starts: list[list[tuple[int, int, bool, int]]] = []

        def place(ways: Ways, index: int) -> int:
            if (ways, 0) not in places:
                if len(places) + len(ways) > MAX_PLACES:
                    raise Unsuitable
                for n in range(len(ways)):
                    places[ways, n] = len(places)
                waiting.append(ways)
            return places[ways, index]

        for begin in discovered(start_sets):
            row = [(start_sets[begin], NOWHERE, False, 0)]
            for mask in self._masks:
                outcome = self._outcome((0, begin), mask, starting=True)
                after = start_sets.setdefault(outcome.left, len(start_sets))
                done = outcome.complete and self._one_each
                begun = place(((self._taking, outcome.taken),), 0) if outcome.taken and not done else NOWHERE
                row.append((after, begun, outcome.complete, outcome.role))
            starts.append(row)
        tick = len(self._masks) + 1 if self._strong else 0
        letters = self._letters()
        if tick:
            starts = [[*row, (number, NOWHERE, False, 0)] for number, row in enumerate(starts)]
        transfers: list[list[tuple[int, int, bool, int]]] = [[] for _ in range(len(letters) + 1)]
        leaving: list[list[int]] = [[] for _ in transfers]
        escapes: list[tuple[int, int]] = []
        for ways in waiting:
            free = self._escaped(ways)
            escapes += [(places[ways, index], place(tuple(free), n)) for n, index in enumerate(free.values())]
            for happening, letter in letters:
                moves, stays = self._moves(ways, happening)
                for index in range(len(ways)):
                    if not stays[index]:
                        leaving[letter].append(places[ways, index])
                for index, target, at, takes, role in moves:
                    if not (stays[index] and not takes):
                        to = EMIT if target is None else place(target, at)
                        transfers[letter].append((places[ways, index], to, takes, role))
        return Tables(
            dict(self._masks),
            _flat(transfers, 4),
            _offsets(transfers),
            np.array([p for own in leaving for p in own], np.int64),
            _offsets(leaving),
            np.array(starts, np.int64),
            tuple(places),
            tuple(start_sets),
            self._window,
            tick,
            np.array(escapes, np.int64).reshape(-1, 2),
            self._one_each and not escapes and self._monotone(waiting, starts, tuple(places)),
        )

    def _letters(self) -> list[tuple[int | None, int]]:
        """Masks with their letters, and the letter for the advance of time, where it makes a difference."""
        ticks: list[tuple[int | None, int]] = [(_TICK, len(self._masks) + 1)] if self._strong else []
        return [*self._masks.items(), *ticks]

    def _moves(
        self, ways: Ways, mask: int | None
    ) -> tuple[list[tuple[int, Ways | None, int, bool, int]], list[bool]]:
        """The effect of an event on the ways of a start: (way, ways after it or None for a match, which of them, whether it
        takes the event, under which name); and which ways stay unchanged."""
        outcomes = [
            _Outcome((), False, 0, states) if mask is _TICK else self._outcome((how, states), mask)
            for how, states in ways
        ]
        # The advance of time leaves nothing fresh; an event changes the freshness only of the ways that take it.
        left = [
            (how & ~FRESH if mask is _TICK else how, own.left)
            for (how, _), own in zip(ways, outcomes, strict=True)
        ]
        taken = [
            (how & ESCAPED | self._taking, own.taken) for (how, _), own in zip(ways, outcomes, strict=True)
        ]
        moves: list[tuple[int, Ways | None, int, bool, int]] = []
        if not self._one_each:
            (own,) = outcomes
            if own.complete:
                moves.append((0, None, 0, True, own.role))
            if own.taken:
                moves.append((0, (taken[0],), 0, True, own.role))
            stays = left[0] == ways[0]
            if own.left and not stays:
                moves.append((0, (left[0],), 0, False, 0))
            return moves, [stays]
        complete = [index for index, own in enumerate(outcomes) if own.complete]
        if complete:
            return [(complete[0], None, 0, True, outcomes[complete[0]].role)], [False] * len(ways)
        after: dict[Way, tuple[int, bool, int]] = {}
        for index, own in enumerate(outcomes):
            if own.taken:
                after.setdefault(taken[index], (index, True, own.role))
            if own.left:
                after.setdefault(left[index], (index, False, 0))
        target = tuple(after)
        if target == ways and all(not takes and at == n for n, (at, takes, _) in enumerate(after.values())):
            return [], [True] * len(ways)
        for at, (index, takes, role) in enumerate(after.values()):
            moves.append((index, target, at, takes, role))
        return moves, [False] * len(ways)

    def _escaped(self, ways: Ways) -> dict[Way, int]:
        """The ways that escape when the window ends at the present moment, and the index that each had."""
        free: dict[Way, int] = {}
        for index, (how, states) in enumerate(ways):
            deaf = tuple(state for state in states if self._program.states[state, STATE_STRONG])
            if self._can_escape and how == FRESH and deaf:
                free.setdefault((ESCAPED, deaf), index)
        return free

    def _outcome(self, way: Way, mask: int | None, *, starting: bool = False) -> _Outcome:
        assert mask is not None
        known = self._outcomes.get((way, mask))
        if known is not None and not starting:
            return known
        how, states = way
        taken: set[int] = set()
        left: list[int] = []
        complete, roles = False, set()
        for state in states:
            what, targets, emits, role = self._of_state(state, mask, bool(how & FRESH))
            if what == "takes":
                taken.update(targets)
                complete |= emits
                roles.add(role)
            if starting:
                if what != "fails" or self._program.restart_always or self._program.leaves_out == NOTHING:
                    left.append(state)
            elif what == "ignores" or (what == "takes" and self._program.leaves_out == ANYTHING):
                left.append(state)
        if len(roles) > 1 and not self._counts:
            raise Unsuitable  # the name of the event depends on later events
        outcome = _Outcome(tuple(sorted(taken)), complete, min(roles, default=0), tuple(left))
        if not starting:
            self._outcomes[way, mask] = outcome
        return outcome

    def _of_state(self, state: int, mask: int, fresh: bool) -> tuple[str, States, bool, int]:
        """The effect of an event on a token in a state, as in `single.kernel.run`."""
        if (state, mask, fresh) in self._single:
            return self._single[state, mask, fresh]
        program = self._program
        targets: set[int] = set()
        matched, taken, emits, roles = False, False, False, set()
        looks = False
        for move in self._moves_of(state).tolist():
            test = move[MOVE_TEST]
            looks |= self._holding(mask, test, TEST_LOOKED_AT, TEST_LOOKED_AT_STOP) is not None
            spec = self._holding(mask, test, TEST_TAKEN, TEST_TAKEN_STOP)
            if self._holding(mask, test, TEST_EXCEPTED, TEST_TAKEN) is not None:
                spec = None
            matched |= spec is not None
            if spec is not None and not (fresh and move[MOVE_STRONG]):
                taken = True
                emits |= bool(move[MOVE_EMITS])
                roles.add(int(program.specs[spec, SPEC_ROLE]))
                targets.update(program.steps[move[MOVE_FIRST] : move[MOVE_STOP], STEP_STATE].tolist())
        if len(roles) > 1 and not self._counts:
            raise Unsuitable
        can_fail = looks and not matched and not (fresh and program.states[state, STATE_STRONG])
        what = "takes" if taken else "fails" if can_fail or program.leaves_out == NOTHING else "ignores"
        found = (what, tuple(sorted(targets)), emits, min(roles, default=0))
        self._single[state, mask, fresh] = found
        return found

    def _holding(self, mask: int, test: int, first: int, stop: int) -> int | None:
        """The first spec that holds in a list of a test."""
        return next((s for s in self._specs(test, first, stop) if mask >> s & 1), None)

    def _monotone(
        self,
        all_ways: list[Ways],
        starts: list[list[tuple[int, int, bool, int]]],
        places: tuple[Place, ...],
    ) -> bool:
        """Whether no start can be complete before an earlier one that is, and stays, incomplete."""
        after: dict[tuple[Ways, int], Ways | None] = {}  # None: complete; (): failed
        for ways in all_ways:
            for mask, letter in self._letters():
                moves, stays = self._moves(ways, mask)
                ended: Ways | None = ways if all(stays) and not moves else ()
                for _, target, _, _, _ in moves:
                    ended = target
                after[ways, letter] = ended
        pairs: set[tuple[Ways, Ways]] = set()
        queue: list[tuple[Ways, Ways]] = []
        for letter in self._masks.values():
            begun = {places[row[letter][BEGUN]][0] for row in starts if row[letter][BEGUN] >= 0}
            completes = any(row[letter][COMPLETE] for row in starts)
            for ways in all_ways:
                then = after[ways, letter]
                if then and completes:
                    return False
                queue += [(then, other) for other in begun if then]
        while queue:
            pair = queue.pop()
            if pair in pairs:
                continue
            pairs.add(pair)
            for _, letter in self._letters():
                earlier, later = after[pair[0], letter], after[pair[1], letter]
                if later is None and earlier:
                    return False
                if earlier and later:
                    queue.append((earlier, later))
        return True


def discovered(known: dict[_T, Any]) -> Iterator[_T]:
    """Iterate over a dict, including the entries that are added during the iteration."""
    done = 0
    while done < len(known):
        for one in list(known)[done:]:
            done += 1
            yield one


_MACHINES: dict[
    int, tuple[Program, Machine | None]
] = {}  # by the identity of the program, which is kept with it
_MANY = 50_000


def machine_of(program: Program, choice: Choice) -> Machine | None:
    """The machine of a program, built once per process; None if groups cannot run the program."""
    known = _MACHINES.get(id(program))
    if known is None:
        try:
            made = Machine(program, choice)
        except Unsuitable:
            made = None
        if len(_MACHINES) > _MANY:
            _MACHINES.clear()
        known = _MACHINES[id(program)] = (program, made)
    return known[1]


def goes_on(detector: Detector) -> bool:
    """Whether a kernel that does not keep each partial match may run a detector (see `Machine.goes_on`)."""
    if not isinstance(detector.program, Program) or detector.inputs:
        return False
    machine = machine_of(detector.program, detector.choice)
    return machine is not None and machine.goes_on


def _flat(rows: list[list[tuple[int, int, bool, int]]], width: int) -> Array:
    return np.array([row for own in rows for row in own], np.int64).reshape(-1, width)


def _offsets(rows: list[list[tuple[int, int, bool, int]]] | list[list[int]]) -> Array:
    return np.concatenate([[0], np.cumsum([len(own) for own in rows])]).astype(np.int64)
