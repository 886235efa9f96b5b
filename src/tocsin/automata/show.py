"""Patterns and automata as text: a tree with one line a node, and a list of states with their moves.

`──▶` is a weak move, `══▶` a strong one, whose event must lie wholly after the one before. How an event
specification is written is for a language to say, so whoever calls hands in a function for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from tocsin.algebra.pattern import (
    AllOf,
    AnyOf,
    Atom,
    EventSpec,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Timer,
    children,
)
from tocsin.automata.automaton import Automaton, Move, State
from tocsin.events import format_duration, format_timestamp

WEAK, STRONG = "──▶", "══▶"
MATCH = "match"
SpecText = Callable[[EventSpec], str]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move as it is drawn: from a state to another, or to a match (None), with the timers it starts."""

    source: int
    target: int | None
    text: str
    strong: bool
    starts: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What is written beside it."""
        return self.text + "".join(f", starts {timer}" for timer in self.starts)


def show_tree(pattern: Pattern, spec_text: SpecText) -> str:
    """A pattern as a tree.

    >>> a, b = (Atom((EventSpec(name),)) for name in "AB")
    >>> print(show_tree(Sequence((a, Repeat(b)), Order.STRONG), lambda spec: spec.name))
    one strictly after the other  ;
    ├─ [A]
    └─ any number of times  *
       └─ [B]
    """
    below = [show_tree(child, spec_text).splitlines() for child in children(pattern)]
    lines = [_node(pattern, spec_text)]
    for number, child in enumerate(below):
        last = number == len(below) - 1
        lines.append(("└─ " if last else "├─ ") + child[0])
        lines += [("   " if last else "│  ") + line for line in child[1:]]
    return "\n".join(lines)


def _node(pattern: Pattern, spec_text: SpecText) -> str:
    match pattern:
        case Atom():
            return f"[{atom_text(pattern, spec_text)}{_domain(pattern, spec_text)}]"
        case Sequence(_, Order.WEAK):
            return "one after the other"
        case Sequence():
            return "one strictly after the other  ;"
        case Repeat():
            return "any number of times  *"
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
    """What an atom takes."""
    named = ", ".join(spec_text(spec) for spec in atom.accept)
    return f"not {named}" if atom.negated else named


def _domain(atom: Atom, spec_text: SpecText) -> str:
    return " in {" + ", ".join(spec_text(spec) for spec in atom.domain) + "}" if atom.domain else ""


def arrows(automaton: Automaton, spec_text: SpecText) -> list[Arrow]:
    """Every move of an automaton, one arrow for each place it leads to."""
    found = []
    for number, state in enumerate(automaton.states):
        for move in state.moves:
            text = _move_text(move, spec_text)
            if move.emits:
                found.append(Arrow(number, None, text, move.strong))
            for step in move.steps:
                starts = tuple(timer_text(automaton.timers[timer]) for timer in sorted(step.arms))
                found.append(Arrow(number, step.state, text, move.strong, starts))
    return found


def _move_text(move: Move, spec_text: SpecText) -> str:
    atom = move.place.atom
    taken_from = ", ".join(spec_text(spec) for spec in atom.domain)
    return f"{taken_from}, {atom_text(atom, spec_text)}" if atom.negated else atom_text(atom, spec_text)


def fails_on(state: State, spec_text: SpecText) -> list[str]:
    """The events that end a partial match in a state: those of its domain that no move takes."""
    taken = {spec for move in state.moves if not move.place.atom.negated for spec in move.place.atom.accept}
    failing: dict[EventSpec, None] = {}
    for move in state.moves:
        atom = move.place.atom
        failing |= dict.fromkeys(
            spec for spec in (atom.accept if atom.negated else atom.domain) if spec not in taken
        )
    return [spec_text(spec) for spec in failing]


def ended_by(automaton: Automaton, state: State) -> list[str]:
    """The timers that end a partial match in a state: those that run there and that no move waits for."""
    heard = {
        move.place.context.timers[spec.name]
        for move in state.moves
        for spec in (*move.place.atom.accept, *move.place.atom.domain)
        if spec.name in move.place.context.timers
    }
    return [automaton.timers[number].name for number in sorted(state.running - heard)]


def show_automaton(automaton: Automaton, spec_text: SpecText) -> str:
    """An automaton as text.

    >>> from tocsin.automata.automaton import build
    >>> a, b, c = (EventSpec(name) for name in "ABC")
    >>> pattern = Sequence((Atom((a,)), Atom((b,), (b, c))), Order.STRONG)
    >>> print(show_automaton(build(pattern), lambda spec: spec.name))
    S0  start
        A ──▶ S1
    S1  fails on C
        B ══▶ match
    """
    drawn = arrows(automaton, spec_text)
    lines = []
    for number, state in enumerate(automaton.states):
        notes = ["start"] if number in automaton.starts else []
        failing = [*fails_on(state, spec_text), *ended_by(automaton, state)]
        if failing:
            notes.append("fails on " + ", ".join(failing))
        lines.append(f"S{number}  {', '.join(notes)}".rstrip())
        for arrow in drawn:
            if arrow.source == number:
                target = MATCH if arrow.target is None else f"S{arrow.target}"
                starts = "".join(f", starts {timer}" for timer in arrow.starts)
                lines.append(f"    {arrow.text} {STRONG if arrow.strong else WEAK} {target}{starts}")
    return "\n".join(lines)
