"""Evaluation per terminator: each instance that can end a match looks for the others, then some are deleted.

The instances of all operands come in order. One that can be the last of a match (of the last operand of a sequence, of any
operand otherwise) is a terminator: the other operands choose among their instances that are still available and fit, each
in its mode; all matches it ends are one group. Afterwards each operand deletes as its consumption mode says.

- `first` and `last` take the oldest and youngest choice with which the whole match works out (backtracking, as in the
  paper's example of the traversal mode); other selections take what they pick and nothing else.
- A gathering selection adds instances to the match; they stand in it in the order of the operands.
- What an operator deletes is gone for the operators around it as well: the history is one (Fig. 5). Only what the mode `own`
  deletes is gone for this operator alone.

Paper: 004, sections 2 and 4.1; Part C.5.1 (b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import assert_never

from tocsin.algebra.pairs.observation import Instance, Place, compose
from tocsin.algebra.pairs.parameters import FIRST, LAST, Consumption, Detection, Gather, Mode, Pick, Traversal

Fits = Callable[[Sequence[tuple[Instance, ...] | None]], bool]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a match deleted when it ended at `place`: some instances, or everything up to there; `own` here alone."""

    place: Place
    instances: frozenset[Instance] = frozenset()
    everything: bool = False
    own: frozenset[Instance] = frozenset()

    def covers(self, instance: Instance) -> bool:
        """Whether an instance is deleted; composites that were completed by the same event are not."""
        earlier = instance.last < self.place or (instance.last == self.place and not instance.parts)
        return instance in self.instances or instance in self.own or (self.everything and earlier)

    def outside(self) -> Iterator[Deletion]:
        """The deletion as operators around see it, if they see any of it."""
        if self.instances or self.everything:
            yield replace(self, own=frozenset())


@dataclass(frozen=True, slots=True)
class Found:
    """The instances of an expression in order, and what was deleted to get them."""

    instances: tuple[Instance, ...]
    deletions: tuple[Deletion, ...] = ()


@dataclass(frozen=True, slots=True)
class _Choice:
    """What an operand contributes: the instances that the pattern needs, and those that the match lists."""

    needed: tuple[Instance, ...]
    listed: tuple[Instance, ...]


# One choice for each operand; None for one that is not needed.
_Solution = tuple[_Choice | None, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """An operator with its operands' instances.

    `fits` says whether choices for some operands (None: not chosen yet) can be part of a match; `complete` tests a
    whole match. `last_only`: only instances of the last operand end a match. `count`: so many of the operands are enough.
    """

    operands: Sequence[Found]
    how: Detection
    fits: Fits
    complete: Callable[[Instance], bool]
    last_only: bool
    count: int | None = None


def detect(task: Task) -> Found:
    """Every match of an operator, group by group."""
    arrivals = sorted(
        ((operand, i) for operand, found in enumerate(task.operands) for i in found.instances),
        key=lambda arrival: (arrival[1].order, arrival[0]),
    )
    inner = sorted((d for found in task.operands for d in found.deletions), key=lambda d: d.place)
    available: list[list[Instance]] = [[] for _ in task.operands]
    matches: list[Instance] = []
    deletions: list[Deletion] = list(inner)
    active: list[Deletion] = []
    for operand, instance in arrivals:
        while inner and inner[0].place <= instance.last:
            active.append(inner[0])
            available = without_deleted(available, inner.pop(0))
        if any(deletion.covers(instance) for deletion in active):
            continue
        ended, deletion = end_matches(task, available, operand, instance)
        matches += ended
        if deletion is not None:
            deletions += deletion.outside()
            active.append(deletion)
            available = without_deleted(available, deletion)
        if deletion is None or not deletion.covers(instance):
            available[operand].append(instance)
    return Found(tuple(sorted(matches, key=lambda match: match.order)), tuple(deletions))


def without_deleted(available: list[list[Instance]], deletion: Deletion) -> list[list[Instance]]:
    """The available instances of each operand after a deletion."""
    return [[instance for instance in found if not deletion.covers(instance)] for found in available]


def end_matches(
    task: Task, available: Sequence[Sequence[Instance]], operand: int, instance: Instance
) -> tuple[list[Instance], Deletion | None]:
    """The group of matches that an instance ends, and what they delete."""
    if task.last_only and operand != len(task.operands) - 1:
        return [], None
    group = _solutions(task, available, operand, instance)
    matches = [
        compose([i for choice in solution if choice for i in choice.listed], instance.time)
        for solution in group
    ]
    if not matches:
        return [], None
    return matches, _deletion(task.how.modes, available, group, instance)


def _deletion(
    modes: Sequence[Mode],
    available: Sequence[Sequence[Instance]],
    group: Sequence[_Solution],
    instance: Instance,
) -> Deletion | None:
    """What a group deletes: per operand nothing, its participants, or all its instances; if all do the latter, everything."""
    if all(mode.consumption is Consumption.DELETE for mode in modes):
        took_part = frozenset(i for operand in range(len(modes)) for i in _participants(group, operand))
        return Deletion(instance.last, took_part, everything=True)
    gone: set[Instance] = set()
    own: set[Instance] = set()
    for operand, mode in enumerate(modes):
        match mode.consumption:
            case Consumption.KEEP:
                pass
            case Consumption.REAPPLY:
                gone.update(_participants(group, operand))
            case Consumption.OWN:
                own.update(_participants(group, operand))
            case Consumption.DELETE:
                gone.update(available[operand])
                gone.update(_participants(group, operand))
            case _:
                assert_never(mode.consumption)
    return Deletion(instance.last, frozenset(gone), own=frozenset(own)) if gone or own else None


def _participants(group: Sequence[_Solution], operand: int) -> Iterator[Instance]:
    """What an operand contributed to the matches of a group."""
    for solution in group:
        choice = solution[operand]
        if choice is not None:
            yield from choice.listed


# --- choosing the instances of a match ------------------------------------------------------------------


def _solutions(
    task: Task, available: Sequence[Sequence[Instance]], operand: int, instance: Instance
) -> list[_Solution]:
    """Every way to complete a match with the instance as its terminator."""
    mode = task.how.modes[operand]
    found: list[_Solution] = []
    others = [number for number in range(len(task.operands)) if number != operand]
    if task.how.traversal is Traversal.RIGHT_TO_LEFT:
        others.reverse()
    for ending in _endings(mode, available[operand], instance):
        chosen = [ending if number == operand else None for number in range(len(task.operands))]
        if task.fits(_needed(chosen)):
            for some in _enough(task, available, others):
                completed = _complete(task, available, some, chosen)
                found += completed
                if completed:
                    break
        if found and _takes_one(mode):
            break
    return found


def _enough(
    task: Task, available: Sequence[Sequence[Instance]], others: Sequence[int]
) -> Iterator[Sequence[int]]:
    """The operands that complete a match: all others, or so many as count; those with the preferred instances first."""
    if task.count is None:
        yield others
        return
    newest = any(mode.selection == LAST for mode in task.how.modes)
    some = [number for number in others if available[number]]
    some.sort(key=lambda number: available[number][-1 if newest else 0].order, reverse=newest)
    yield from combinations(some, task.count - 1)


def _complete(
    task: Task,
    available: Sequence[Sequence[Instance]],
    remaining: Sequence[int],
    chosen: Sequence[_Choice | None],
) -> list[_Solution]:
    """Every way to choose for the remaining operands, in the order in which they choose."""
    if not remaining:
        listed = [i for choice in chosen if choice is not None for i in choice.listed]
        return [tuple(chosen)] if task.complete(compose(listed, max(i.time for i in listed))) else []
    operand, *rest = remaining
    mode = task.how.modes[operand]

    def with_choice(choice: _Choice) -> list[_Choice | None]:
        return [choice if number == operand else before for number, before in enumerate(chosen)]

    def works(choice: _Choice) -> bool:
        return task.fits(_needed(with_choice(choice)))

    candidates = [i for i in available[operand] if works(_Choice((i,), (i,)))]
    found: list[_Solution] = []
    for choice in _choices(mode, candidates, available[operand], task.how.traversal):
        if works(choice):
            found += _complete(task, available, rest, with_choice(choice))
        if found and _takes_one(mode):
            break
    return found


def _needed(chosen: Sequence[_Choice | None]) -> list[tuple[Instance, ...] | None]:
    return [None if choice is None else choice.needed for choice in chosen]


def _takes_one(mode: Mode) -> bool:
    """Whether the first choice that works out is the only one."""
    return mode.selection in (FIRST, LAST, Gather.CUMULATIVE, Gather.RESTRICTED)


def _choices(
    mode: Mode, candidates: Sequence[Instance], available: Sequence[Instance], traversal: Traversal
) -> Iterator[_Choice]:
    """What an operand can contribute, the preferred choice first. `candidates` fit what was chosen before."""
    least, most = mode.delimiter.least, mode.delimiter.most
    runs = [tuple(candidates[i : i + least]) for i in range(len(candidates) - least + 1)]
    left_to_right = traversal is Traversal.LEFT_TO_RIGHT
    match mode.selection:
        case Pick() as pick if pick == FIRST:
            yield from (_Choice(run, run) for run in runs)
        case Pick() as pick if pick == LAST:
            yield from (_Choice(run, run) for run in reversed(runs))
        case Pick() as pick:
            yield from (_Choice((i,), (i,)) for i in pick.of(candidates))
        case Gather.CUMULATIVE:
            # The pattern is met by the choice that leaves most room for the others; the rest comes along.
            yield from (_Choice(run, tuple(available)) for run in (runs if left_to_right else reversed(runs)))
        case Gather.RESTRICTED:
            for size in range(len(candidates), least - 1, -1):
                taken = tuple(candidates[:size] if left_to_right else candidates[len(candidates) - size :])
                yield _Choice(taken, taken)
        case Gather.COMBINATIONS:
            top = len(candidates) if most is None else most
            for size in range(least, top + 1):
                yield from (_Choice(some, some) for some in combinations(candidates, size))
        case Gather.COMBINATIONS_MINIMUM:
            yield from (_Choice(some, some) for some in combinations(candidates, least))
        case _:
            assert_never(mode.selection)


def _endings(mode: Mode, available: Sequence[Instance], instance: Instance) -> Iterator[_Choice]:
    """What the operand of the terminator contributes: the terminator, and others before it if the mode wants more."""
    least, most = mode.delimiter.least, mode.delimiter.most
    others = [other for other in available if other != instance]

    def ending(*before: Instance) -> _Choice:
        return _Choice((*before, instance), (*before, instance))

    runs = [others[i : i + least - 1] for i in range(len(others) - least + 2)] if least > 1 else [[]]
    match mode.selection:
        case Pick() as pick if pick in (FIRST, LAST):
            yield from (ending(*run) for run in (runs if pick == FIRST else reversed(runs)))
        case Pick():
            yield ending()
        case Gather.CUMULATIVE:
            yield from (_Choice((*run, instance), (*others, instance)) for run in reversed(runs))
        case Gather.RESTRICTED:
            for size in range(len(others), least - 2, -1):
                yield ending(*others[len(others) - size :])
        case Gather.COMBINATIONS:
            top = len(others) if most is None else min(most - 1, len(others))
            for size in range(least - 1, top + 1):
                yield from (ending(*some) for some in combinations(others, size))
        case Gather.COMBINATIONS_MINIMUM:
            yield from (ending(*some) for some in combinations(others, least - 1))
        case _:
            assert_never(mode.selection)
