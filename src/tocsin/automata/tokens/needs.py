"""Requirements of a subscription: event types and their attributes, variables, timers, and memory.

A partial match is kept until it advances, fails, or a timer ends it. So memory is bounded in time if in
every state in which a match can wait a timer is certain to be running; a match can wait forever in any other
state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tocsin.algebra.predicate import Attribute, Compare, Literal, RoleAttribute, comparisons, operands
from tocsin.algebra.tokens.domain import Domain, domain_of
from tocsin.algebra.tokens.pattern import (
    Atom,
    EventSpec,
    Pattern,
    Timed,
    Timer,
    pattern_variables,
    specs,
    walk,
)
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.automaton import Automaton, Move, State
from tocsin.automata.tokens.plan import Graph, composite_detector
from tocsin.errors import PatternError
from tocsin.values import kind

ANY = "any"  # an attribute that is only compared with variables or other attributes


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a partial match can wait in a state of a detector.

    `timers` are certain to end the wait; without any it can last forever. `can_miss`: all of them are ignored
    if the last event came at the very moment they run out. `moments` are timers that end only waits which
    begin before them.
    """

    detector: int
    state: int
    atoms: tuple[Atom, ...]
    timers: tuple[Timer, ...]
    can_miss: bool
    moments: tuple[Timer, ...]

    @property
    def longest(self) -> int | None:
        """The longest wait in microseconds; None if it has no bound."""
        return min((timer.after for timer in self.timers if timer.after is not None), default=None)


@dataclass(frozen=True, slots=True)
class Needs:
    """Event types with the attributes that are used and their kinds, variables, timers, waits.

    `longest` is the largest number of events in a match, or None if an iteration makes it unbounded.
    """

    types: Mapping[str, Mapping[str, str]]
    variables: tuple[str, ...]
    timers: tuple[Timer, ...]
    waits: tuple[Wait, ...]
    longest: int | None


def needs(subscription: Subscription, graph: Graph, automata: Iterable[Automaton]) -> Needs:
    """The requirements of a subscription, given its plan and the automata of the plan."""
    patterns = [*(definition.pattern for definition in subscription.definitions), subscription.pattern]
    built = tuple(automata)
    (output,) = [number for own, number in graph.outputs if own is subscription]
    return Needs(
        _types(subscription, patterns),
        tuple(sorted(frozenset().union(*(pattern_variables(pattern) for pattern in patterns)))),
        tuple(node.timer for pattern in patterns for node in walk(pattern) if isinstance(node, Timed)),
        tuple(wait for number, automaton in enumerate(built) for wait in waits(automaton, number)),
        _longest(built[output]),
    )


def _types(subscription: Subscription, patterns: list[Pattern]) -> dict[str, dict[str, str]]:
    """The primitive event types, each with its attributes and what they are compared with."""
    composites = {definition.name for definition in subscription.definitions}
    found: dict[str, dict[str, str]] = {}
    for pattern in patterns:
        timers = {node.timer.name for node in walk(pattern) if isinstance(node, Timed)}
        for spec in specs(pattern):
            if spec.name not in timers | composites:
                _add(found.setdefault(spec.name, {}), spec)
    for comparison in comparisons(subscription.where):
        for side in (comparison.left, comparison.right):
            if isinstance(side, RoleAttribute) and side.role in found:
                found[side.role].setdefault(side.name, _compared_with(comparison))
    for operand in operands(subscription.where):
        if isinstance(operand, RoleAttribute) and operand.role in found:
            found[operand.role].setdefault(operand.name, ANY)
    return found


def _add(known: dict[str, str], spec: EventSpec) -> None:
    for comparison in comparisons(spec.filter):
        if isinstance(comparison.left, Attribute):
            name, own = comparison.left.name, _compared_with(comparison)
            known[name] = own if known.get(name, ANY) == ANY else known[name]
    for operand in operands(spec.filter):
        known.setdefault(operand.name, ANY)


def _compared_with(comparison: Compare) -> str:
    return kind(comparison.right.value) if isinstance(comparison.right, Literal) else ANY


# How long a partial match can wait


def ending_timers(automaton: Automaton) -> dict[int, frozenset[int]]:
    """The timers that end every wait in a state, for every state that an event leads to."""
    sure, fresh = _sure_timers(automaton), _fresh_timers(automaton)
    return {
        number: timers - _overlooked(automaton, number, timers, fresh.get(number, frozenset()))
        for number, timers in sure.items()
    }


def _overlooked(
    automaton: Automaton, number: int, sure: frozenset[int], fresh: frozenset[int]
) -> frozenset[int]:
    """The timers that are ignored if the last event came when they run out; no limit is."""
    state = automaton.states[number]
    return frozenset(
        timer for timer in sure - automaton.limits if _can_miss(state, timer) and timer not in fresh
    )


def waits(automaton: Automaton, detector: int) -> list[Wait]:
    """The states in which partial matches wait, with the timers that are sure to run there."""
    sure = _sure_timers(automaton)
    fresh = _fresh_timers(automaton)
    found = []
    for number in sorted(sure):
        state = automaton.states[number]
        overlooked = _overlooked(automaton, number, sure[number], fresh.get(number, frozenset()))
        found.append(
            Wait(
                detector,
                number,
                tuple(dict.fromkeys(move.place.atom for move in state.moves)),
                tuple(automaton.timers[timer] for timer in sorted(sure[number])),
                bool(sure[number]) and overlooked == sure[number],
                tuple(t for t in (automaton.timers[n] for n in sorted(state.running)) if t.at is not None),
            )
        )
    return found


def _sure_timers(automaton: Automaton) -> dict[int, frozenset[int]]:
    """The timers that run and end a wait in a state on every path there, for every state that a match can wait in."""
    relative = frozenset(number for number, timer in enumerate(automaton.timers) if timer.after is not None)
    sure: dict[int, frozenset[int]] = {}
    waiting = [(start, frozenset[int]()) for start in automaton.starts]
    while waiting:
        number, running = waiting.pop()
        reached = [
            (step.state, running - _heard(move), step.arms & relative)  # a timer runs out only once
            for move in automaton.states[number].moves
            for step in move.steps
        ]
        if number in sure:
            reached += [
                (left, running - {limit}, frozenset[int]())
                for (state, limit), left in automaton.closes.items()
                if state == number
            ]
        for state, left_running, arms in reached:
            after = (left_running & automaton.states[state].running) | arms
            before = sure.get(state)
            sure[state] = after if before is None else before & after
            if sure[state] != before:
                waiting.append((state, sure[state]))
    # A limit that leaves something to wait for ends no wait.
    return {
        number: timers - {limit for limit in timers if (number, limit) in automaton.closes}
        for number, timers in sure.items()
    }


def _fresh_timers(automaton: Automaton) -> dict[int, frozenset[int]]:
    """The timers that every move into a state starts, and which therefore run out after the last event."""
    later = frozenset(number for number, timer in enumerate(automaton.timers) if timer.after)
    fresh: dict[int, frozenset[int]] = {}
    for state in automaton.states:
        for move in state.moves:
            for step in move.steps:
                fresh[step.state] = fresh.get(step.state, later) & step.arms
    return fresh


def _heard(move: Move) -> frozenset[int]:
    """The timers that a move waits for."""
    return domain_of(move.place.atom, move.place.context.timers).timers


def _can_miss(state: State, timer: int) -> bool:
    """Whether a timer that does not strongly follow the last event is ignored in a state (C.3.9)."""
    hearing = [move for move in state.moves if timer in _heard(move)]
    return state.all_strong or (bool(hearing) and all(move.strong for move in hearing))


def _longest(automaton: Automaton) -> int | None:
    """The most events a match can have: the longest path through the automaton, None if there is a loop."""
    after = {
        number: {step.state for move in state.moves for step in move.steps}
        for number, state in enumerate(automaton.states)
    }
    length: dict[int, int] = {}
    left = dict(after)
    while left:
        ready = [number for number, following in left.items() if following.isdisjoint(left)]
        if not ready:
            return None
        for number in ready:
            length[number] = 1 + max((length[following] for following in after[number]), default=0)
            del left[number]
    return max(length[start] for start in automaton.starts)


def dead_ends(subscription: Subscription, automata: Iterable[Automaton]) -> list[PatternError]:
    """Events that end a detection for good, because they come before its first event (C.3.3)."""
    if subscription.interpretation.restart == "always":
        return []
    found: dict[Atom, PatternError] = {}
    for automaton in automata:
        for start in automaton.starts:
            for move in automaton.states[start].moves:
                atom = move.place.atom
                names = ", ".join(dict.fromkeys(_failing(domain_of(atom))))
                if names:
                    found[atom] = PatternError(
                        "ends-for-good",
                        f"{names} in place of the first event ends the detection for good",
                        atom.span,
                        "this is how the paper means it; the option restart=always lets it go on",
                    )
    return list(found.values())


def _failing(domain: Domain) -> Iterable[str]:
    for spec in domain.failing:
        among = " or ".join(map(_name, domain.only_in(spec)))
        yield f"{_name(spec)} that is also {among}" if among else _name(spec)


def _name(spec: EventSpec) -> str:
    return spec.name if composite_detector(spec.name) is None else "a composite"
