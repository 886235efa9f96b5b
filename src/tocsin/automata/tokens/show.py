"""Descriptions of patterns and automata: nodes, moves, and what ends a partial match.

The spelling of an event specification depends on the language, so callers pass a function for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from tocsin.algebra.tokens.domain import Domain, domain_of
from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
    Within,
)
from tocsin.automata.tokens.automaton import Automaton, Move, State
from tocsin.events import format_duration, format_timestamp

SpecText = Callable[[EventSpec], str]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move as it is drawn: from a state to another, or to a match (None), with the timers it starts."""

    source: int
    target: int | None
    text: str
    strong: bool
    starts: tuple[str, ...] = ()


def node_text(pattern: Pattern, spec_text: SpecText) -> str:
    """A node of a pattern in words: an atom as it is written, an operator by what it requires."""
    match pattern:
        case Atom():
            return f"[{atom_text(pattern, spec_text)}{_domain(pattern, spec_text)}]"
        case Sequence(_, Order.WEAK):
            return "one after the other"
        case Sequence():
            return "one strictly after the other  ;"
        case Repeat():
            return "any number of times  *"
        case Optional(most=1):
            return "once or not at all  ?"
        case Optional(most=most):
            return f"at most {most} times  {{0,{most}}}"
        case Within(limit=limit):
            return f"its last event at most {format_duration(limit)} after its first  within"
        case AnyOf():
            return "one of  |"
        case AllOf():
            return "both, in any order  ||"
        case Timed(timer=timer):
            return f"the first starts {timer_text(timer)}, the second hears it"
        case _:
            assert_never(pattern)


def timer_text(timer: Timer) -> str:
    """A timer with the time it runs, or the moment it runs out."""
    if timer.after is not None:
        return f"{timer.name}={format_duration(timer.after)}"
    return f"{timer.name}@{format_timestamp(timer.at or 0)}"


def atom_text(atom: Atom, spec_text: SpecText) -> str:
    """The events that an atom takes, as text."""
    named = ", ".join(spec_text(spec) for spec in atom.accept)
    return f"not {named}" if atom.negated else named


def _domain(atom: Atom, spec_text: SpecText) -> str:
    return f" in {_set_text(atom.domain, spec_text)}" if atom.domain else ""


def _set_text(specs: tuple[EventSpec, ...], spec_text: SpecText) -> str:
    return "{" + ", ".join(map(spec_text, specs)) + "}"


def arrows(automaton: Automaton, spec_text: SpecText) -> list[Arrow]:
    """Every move of an automaton, one arrow for each place it leads to, and what is left when a limit runs out."""
    found = []
    for number, state in enumerate(automaton.states):
        for move in state.moves:
            text = _move_text(move, spec_text)
            if move.emits:
                found.append(Arrow(number, None, text, move.strong))
            for step in move.steps:
                starts = tuple(_started(automaton, timer) for timer in sorted(step.arms))
                found.append(Arrow(number, step.state, text, move.strong, starts))
        for limit in sorted(state.running & automaton.limits):
            if (left := automaton.closes.get((number, limit))) is not None:
                found.append(Arrow(number, left, f"{automaton.timers[limit].name} is over", False))
    return found


def _started(automaton: Automaton, timer: int) -> str:
    own = automaton.timers[timer]
    return own.name if timer in automaton.limits else timer_text(own)


def _move_text(move: Move, spec_text: SpecText) -> str:
    domain = domain_of(move.place.atom)
    text = ", ".join(map(spec_text, domain.taken))
    return f"{text}, not {', '.join(map(spec_text, domain.excepted))}" if domain.excepted else text


def fails_on(state: State, spec_text: SpecText) -> list[str]:
    """The events that end a partial match in a state: those of its domain that no move takes."""
    domains = [domain_of(move.place.atom, move.place.context.timers) for move in state.moves]
    taken = {spec for domain in domains if not domain.excepted for spec in domain.taken}
    failing: dict[str, None] = {}
    for domain in domains:
        failing |= dict.fromkeys(
            _failing(spec, domain, spec_text) for spec in domain.failing if spec not in taken
        )
    return list(failing)


def _failing(spec: EventSpec, domain: Domain, spec_text: SpecText) -> str:
    """A failing specification in words; of what a negation excludes, only the events of its set count."""
    among = domain.only_in(spec)
    return spec_text(spec) + (f" in {_set_text(among, spec_text)}" if among else "")


def ended_by(automaton: Automaton, state: State) -> list[str]:
    """The timers that end a partial match in a state: those that run there and that no move waits for."""
    places = (move.place for move in state.moves)
    taken = frozenset[int]().union(*(domain_of(place.atom, place.context.timers).timers for place in places))
    number = automaton.states.index(state)
    ending = {timer for timer in state.running - taken if (number, timer) not in automaton.closes}
    return [automaton.timers[timer].name for timer in sorted(ending)]
