"""Which states of an automaton are active while it reads the names of event types, one after the other.

This is how the paper explains its automata, so it is how a person checks one. A name satisfies every filter
on its type, each event lies strongly after the one before, and a timer runs out when its name is read.

Paper: 003, "Structure of Automata" and the text to Fig. 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tocsin.algebra.tokens.domain import domain_of
from tocsin.algebra.tokens.pattern import EventSpec
from tocsin.automata.tokens.automaton import Automaton, Move, State

Symbol = frozenset[str]  # the names of all types of an event


@dataclass(frozen=True, slots=True)
class Activity:
    """The active states before the first event and after each event, and the number of composites generated."""

    states: tuple[tuple[int, ...], ...]
    generated: int


@dataclass(frozen=True, slots=True)
class _Token:
    state: int
    taken: tuple[int, ...]  # the places of its events in the input


def active_states(
    automaton: Automaton, symbols: Iterable[Sequence[str]], *, restart_always: bool
) -> Activity:
    """Run an automaton over events of which only the types are known.

    >>> from tocsin.algebra.tokens.pattern import Atom, EventSpec, Order, Sequence
    >>> from tocsin.automata.tokens.automaton import build
    >>> pattern = Sequence((Atom((EventSpec("A"),)), Atom((EventSpec("B"),))), Order.WEAK)
    >>> active_states(build(pattern), [["A"], ["B"]], restart_always=False)
    Activity(states=((0,), (0, 1), (0,)), generated=1)
    """
    starts = list(automaton.starts)
    tokens: list[_Token] = []
    emitted: set[tuple[int, ...]] = set()
    history = [_active(starts, tokens)]
    for place, names in enumerate(symbols):
        symbol = frozenset(names)
        before, tokens, started = tokens, [], starts
        starts = []
        for token in [*before, *(_Token(start, ()) for start in started)]:
            state = automaton.states[token.state]
            taken = (*token.taken, place)
            moves = [move for move in state.moves if _takes(move, symbol)]
            for move in moves:
                tokens += [_Token(step.state, taken) for step in move.steps]
                emitted |= {taken} if move.emits else set()
            failed = not moves and _in_domain(automaton, state, symbol)
            if not token.taken and (restart_always or not failed):
                starts.append(token.state)
            elif token.taken and not moves and not failed:
                tokens.append(token)
        tokens = list(dict.fromkeys(tokens))
        history.append(_active(starts, tokens))
    return Activity(tuple(history), len(emitted))


def _active(starts: Sequence[int], tokens: Sequence[_Token]) -> tuple[int, ...]:
    return tuple(sorted({*starts, *(token.state for token in tokens)}))


def _takes(move: Move, symbol: Symbol) -> bool:
    domain = domain_of(
        move.place.atom
    )  # a timer runs out when its name is read, so it is a name like any other
    return _names(domain.taken, symbol) and not _names(domain.excepted, symbol)


def _in_domain(automaton: Automaton, state: State, symbol: Symbol) -> bool:
    running = {automaton.timers[number].name for number in state.running}
    return not symbol.isdisjoint(running) or any(
        _names(domain_of(move.place.atom).relevant, symbol) for move in state.moves
    )


def _names(specs: Iterable[EventSpec], symbol: Symbol) -> bool:
    return any(spec.name in symbol for spec in specs)
