"""Warnings about legal but probably unintended correlations: guards that imply too little, branches without labels.

A label that some statement switches off can be aborted, and is then dropped from guards (Definition 9). So
the implications of a guard are taken only from those of its parts that cannot be dropped, if there are any.

Paper: 001, Definitions 5 to 9; decisions C.2.6, C.2.15 and C.2.16 of the project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from tocsin.algebra.correlation.expression import (
    Accumulation,
    And,
    Atom,
    Case,
    Collection,
    Correlation,
    Guard,
    Is,
    Labelled,
    Not,
    Or,
    Sequence,
    Switch,
    events,
    used,
)
from tocsin.algebra.correlation.window import Place, aborted, placed
from tocsin.errors import PatternError


@dataclass(frozen=True)
class _Filter:
    """A filter: its branches, the place of each label, and the labels that some statement switches off."""

    roots: tuple[Place, ...]
    places: Mapping[str, Place]
    homes: Mapping[str, int]
    switched: frozenset[str]
    everything: frozenset[str]  # the events of all branches
    # What was found out about parts of guards and places, by their identity: each is asked for many times.
    branches: dict[int, frozenset[int]] = field(default_factory=dict)
    droppable: dict[int, bool] = field(default_factory=dict)
    certain: dict[tuple[int, frozenset[str]], frozenset[str]] = field(default_factory=dict)


def warnings(correlation: Correlation) -> tuple[PatternError, ...]:
    """All warnings for a correlation without mistakes, as errors that are not raised.

    >>> from tocsin.algebra.correlation.expression import Push
    >>> either = Collection(Labelled("l1", Atom("a")), Labelled("l2", Atom("b")))
    >>> careless = Case(Or((Is("l1"), Is("l2"))), (Push("a"),))
    >>> [warning.code for warning in warnings(Correlation("E", "C", (), (either,), (), (careless,)))]
    ['absent-event']
    """
    filter = _filter(correlation)
    found = [*_without_labels(filter)]
    everywhere = frozenset(range(len(filter.roots)))
    guards = [
        _pushed_in(case.guard) for case in correlation.cases
    ]  # all kept, so that each has its own identity
    for case, guard in zip(correlation.cases, guards, strict=True):
        found += [*_never_true(guard, filter), *_foreign_negations(guard, everywhere, filter)]
        found += _absent_events(case, guard, filter)
    return tuple(found)


def _filter(correlation: Correlation) -> _Filter:
    roots = tuple(placed(branch) for branch in correlation.branches)
    places, homes = {}, {}
    for number, root in enumerate(roots):
        for place in root.all():
            if isinstance(place.part, Labelled):
                places[place.part.label] = place
                homes[place.part.label] = number
    bodies = [correlation.initial, *(case.body for case in correlation.cases)]
    switches = [s for body in bodies for s in body if isinstance(s, Switch) and s.action != "revive"]
    switched = frozenset(label for switch in switches for label in switch.labels)
    everything = frozenset(event for root in roots for event in events(root.part))
    return _Filter(roots, places, homes, switched, everything)


def _without_labels(filter: _Filter) -> Iterator[PatternError]:
    labelled = frozenset(filter.homes.values())
    for number, root in enumerate(filter.roots):
        if number not in labelled:
            yield PatternError(
                "no-label",
                f"branch {number + 1} has no label: when it triggers, only negated guards are true",
                root.part.span,
                "label the whole branch: name:( … )",
            )


def _never_true(guard: Guard, filter: _Filter) -> Iterator[PatternError]:
    if not _branches(guard, filter):
        yield PatternError(
            "never-true",
            "this guard asks for labels of different branches at once, so it is never true",
            guard.span,
            "a label is active only when its own branch triggers",
        )


def _foreign_negations(guard: Guard, possible: frozenset[int], filter: _Filter) -> Iterator[PatternError]:
    """Negated labels that are true only because another branch triggers; `possible` are those that can."""
    match guard:
        case Is():
            return
        case Not(part):
            label = part.label if isinstance(part, Is) else ""
            if possible - {filter.homes[label]}:
                yield PatternError(
                    "foreign-negation",
                    f"!{label} is also true whenever another branch triggers",
                    guard.span,
                    f"ask for a label of the branch of {label} as well",
                )
        case And(parts):
            for part, others in zip(parts, _beside(parts, filter), strict=True):
                yield from _foreign_negations(part, possible & others, filter)
        case Or(parts):
            for part in parts:
                yield from _foreign_negations(part, possible, filter)
        case _:
            assert_never(guard)


def _beside(parts: tuple[Guard, ...], filter: _Filter) -> Iterator[frozenset[int]]:
    """For each part of a conjunction, the branches whose triggers can make the others true."""
    if len(parts) == 1:
        yield frozenset(range(len(filter.roots)))
        return
    solid = [not _droppable(part, filter) for part in parts]
    each = [_branches(part, filter) for part in parts]
    # How many parts allow a branch. Of those that cannot be dropped all others must; if there are none, one of any kind.
    allowing = Counter(branch for found in each for branch in found)
    firmly = Counter(branch for own, found in zip(solid, each, strict=True) if own for branch in found)
    total = sum(solid)
    for own, mine in zip(solid, each, strict=True):
        needed = total - own
        if needed:
            yield frozenset(b for b, count in firmly.items() if count - (own and b in mine) == needed)
        else:
            yield frozenset(b for b, count in allowing.items() if count > (b in mine))


def _absent_events(case: Case, guard: Guard, filter: _Filter) -> Iterator[PatternError]:
    present = _implied(guard, frozenset(), filter)
    for statement in case.body:
        for event in used(statement):
            if event not in present:
                yield PatternError(
                    "absent-event",
                    f"the guard does not imply that {event} has arrived; if not, this is skipped",
                    statement.span,
                    f"ask for a label whose expression needs {event}",
                )


# --- implications of a guard ---------------------------------------------------------------------------


def _pushed_in(guard: Guard, negated: bool = False) -> Guard:
    """Negation normal form, with the places in the text kept."""
    match guard:
        case Is():
            return Not(guard, guard.span) if negated else guard
        case Not(part):
            return _pushed_in(part, not negated)
        case And(parts) | Or(parts):
            inner = tuple(_pushed_in(part, negated) for part in parts)
            return And(inner, guard.span) if isinstance(guard, And) != negated else Or(inner, guard.span)
        case _:
            assert_never(guard)


def _droppable(guard: Guard, filter: _Filter) -> bool:
    """Whether aborts can make the whole guard disappear."""
    if id(guard) not in filter.droppable:
        filter.droppable[id(guard)] = _found_droppable(guard, filter)
    return filter.droppable[id(guard)]


def _found_droppable(guard: Guard, filter: _Filter) -> bool:
    match guard:
        case Is(label):
            return aborted(filter.places[label], filter.switched)
        case Not(part):
            return _droppable(part, filter)
        case And(parts) | Or(parts):
            return all(_droppable(part, filter) for part in parts)
        case _:
            assert_never(guard)


def _branches(guard: Guard, filter: _Filter) -> frozenset[int]:
    """The branches whose triggers can make a guard true."""
    if id(guard) not in filter.branches:
        filter.branches[id(guard)] = _found_branches(guard, filter)
    return filter.branches[id(guard)]


def _found_branches(guard: Guard, filter: _Filter) -> frozenset[int]:
    match guard:
        case Is(label):
            return frozenset({filter.homes[label]})
        case Not():
            return frozenset(range(len(filter.roots)))
        case And(parts):
            solid = [part for part in parts if not _droppable(part, filter)]
            each = [_branches(part, filter) for part in solid or parts]
            return frozenset.intersection(*each) if solid else frozenset.union(*each)
        case Or(parts):
            return frozenset.union(*(_branches(part, filter) for part in parts))
        case _:
            assert_never(guard)


def _implied(guard: Guard, inactive: frozenset[str], filter: _Filter) -> frozenset[str]:
    """The events that have arrived whenever a guard is true and these labels are not active."""
    match guard:
        case Is(label):
            root = filter.roots[filter.homes[label]]
            return _certain(filter.places[label], inactive, filter) | _certain(root, inactive, filter)
        case Not():
            labels = inactive | _settled(guard, filter)
            return frozenset.intersection(*(_certain(root, labels, filter) for root in filter.roots))
        case And(parts):
            solid = [part for part in parts if not _droppable(part, filter)]
            labels = inactive.union(*(_settled(part, filter) for part in solid))
            each = [_implied(part, labels, filter) for part in solid or parts]
            return frozenset.union(*each) if solid else frozenset.intersection(*each)
        case Or(parts):
            return frozenset.intersection(*(_implied(part, inactive, filter) for part in parts))
        case _:
            assert_never(guard)


def _settled(guard: Guard, filter: _Filter) -> frozenset[str]:
    """The label that a negated literal rules out, if nothing in or around it is ever switched off."""
    if not isinstance(guard, Not) or not isinstance(guard.part, Is):
        return frozenset()
    place = filter.places[guard.part.label]
    touched = any(inner.under & filter.switched for inner in place.all())
    return frozenset() if touched else frozenset({guard.part.label})


def _certain(place: Place, inactive: frozenset[str], filter: _Filter) -> frozenset[str]:
    """The events that have arrived whenever a part is complete; the labels around it are alive then."""
    key = id(place), inactive
    if key not in filter.certain:
        switched = filter.switched - place.under
        filter.certain[key] = _needed(place, switched, inactive, filter.everything)
    return filter.certain[key]


def _needed(
    place: Place, switched: frozenset[str], inactive: frozenset[str], everything: frozenset[str]
) -> frozenset[str]:
    each = [_needed(inner, switched, inactive, everything) for inner in place.inner]
    match place.part:
        case Atom(event):
            return frozenset({event})
        case Labelled(label):
            # A label that is not active is not complete; a contradiction implies everything.
            return everything if label in inactive else each[0]
        case Collection():
            return frozenset.intersection(*each)
        case Accumulation() | Sequence():
            solid = [
                needed
                for needed, inner in zip(each, place.inner, strict=True)
                if not aborted(inner, switched)
            ]
            return frozenset.union(*solid) if solid else frozenset.intersection(*each)
        case _:
            assert_never(place.part)
