"""Complete matches: equal ones are reported once, and of the matches of a moment only the selected ones."""

from __future__ import annotations

from tocsin.algebra.tokens.selection import COUNT, END, Selection
from tocsin.algebra.tokens.semantics.partial_match import Position, Token, event_order, identity_of
from tocsin.events import Composite, Constituent, TimerEvent, Value
from tocsin.values import sort_key


class Completed:
    """The matches of one detector. A moment is an event, or all timers that run out at one time."""

    def __init__(self, name: str, selection: Selection, variables: tuple[str, ...], key: Value) -> None:
        self._name, self._selection, self._variables, self._key = name, selection, variables, key
        self._emitted: set[tuple[object, ...]] = set()
        self._ways: dict[tuple[object, ...], Token] = {}
        self._held: list[Token] = []  # complete, but a match that begins earlier may still complete
        self._chosen: list[Composite] = []

    def found(self) -> list[Composite]:
        """The composites reported since the last call."""
        chosen, self._chosen = self._chosen, []
        return chosen

    def add(self, token: Token) -> None:
        """Record a match, unless the same events were reported already (C.3.6). The least way to it is kept."""
        identity = tuple(identity_of(c.event) for c in token.taken)
        known = self._ways.get(identity)
        if identity not in self._emitted and (known is None or self._rank(token) < self._rank(known)):
            self._ways[identity] = token

    def choose(self, tokens: list[Token], *, ended: bool = False) -> list[Token]:
        """Report the selected matches of this moment, and return the tokens that continue.

        `ended`: no partial match continues.
        """
        ways, self._ways = self._ways, {}
        self._emitted |= ways.keys()
        completed = sorted(ways.values(), key=event_order)
        if self._selection.matches in ("next", "leftmost"):
            first: dict[Position, Token] = {}
            for token in completed:
                first.setdefault(token.places[0], token)
            completed = list(first.values())
            tokens = [token for token in tokens if token.places[0] not in first]
        if self._selection.matches == "leftmost":
            self._held = sorted([*self._held, *completed], key=event_order)
            return self._leftmost(tokens, ended)
        if completed:
            self._report(completed)
        return tokens

    def _leftmost(self, tokens: list[Token], ended: bool) -> list[Token]:
        """Report matches that no other match can precede any more; matches that overlap them are dropped."""
        while self._held:
            earliest, *others = self._held
            if not ended and any(token.places[0] < earliest.places[0] for token in tokens):
                break
            self._report([earliest])  # no two of them are complete at one moment
            over = earliest.places[-1]
            self._held = [token for token in others if token.places[0] > over]
            tokens = [token for token in tokens if token.places[0] > over]
        return tokens

    def _report(self, completed: list[Token]) -> None:
        """Report the matches of one moment that `take` selects."""
        if self._selection.take == "count":
            last = completed[-1].taken[-1]
            if not isinstance(last.event, TimerEvent):
                last = Constituent(END, last.event)
            self._chosen.append(Composite(self._name, (last,), ((COUNT, len(completed)),), self._key))
            return
        wanted = self._selection.some(completed)
        self._chosen += [Composite(self._name, one.taken, one.bound, self._key) for one in wanted]

    def _rank(self, token: Token) -> tuple[object, ...]:
        """Sort key for the ways to one match: the names of its events, then the variables, unset ones first."""
        bound = dict(token.bound)
        values = [bound.get(name) for name in self._variables]
        return [c.role for c in token.taken], [sort_key(value) for value in values]
