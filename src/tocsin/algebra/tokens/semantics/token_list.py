"""A detector of the reference: a list of tokens, and how an event or a timer changes each.

The strong order of events is checked on the way into a place (C.3.8, C.3.9); variables and the ends of strong links travel
with the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from tocsin.algebra.tokens.limits import parallel, written_out
from tocsin.algebra.tokens.pattern import AllOf, AnyOf, Order, Pattern, Sequence, Within, pattern_variables
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.semantics.completed import Completed
from tocsin.algebra.tokens.semantics.next_events import Alternative, Entry, join, waits_after, waits_at
from tocsin.algebra.tokens.semantics.partial_match import (
    FOREVER,
    Position,
    Symbol,
    Token,
    in_domain,
    taken_as,
)
from tocsin.algebra.tokens.semantics.syntax_places import composite_atom, syntax_tree
from tocsin.algebra.tokens.subscription import Interpretation
from tocsin.events import Composite, Constituent, TimerEvent, Value


class Detector:
    """One pattern over one ordered stream, event by event; the detectors of its parallel parts are inside it."""

    keeper = Completed  # the class of what keeps its complete matches

    def __init__(
        self,
        name: str,
        pattern: Pattern,
        interpretation: Interpretation,
        key: Value = None,
        selection: Selection = Selection(),
    ) -> None:
        self.name, self.key, self.interpretation, self.selection = name, key, interpretation, selection
        pattern = written_out(pattern)
        self.inner: list[Detector] = []
        if (both := parallel(pattern)) is not None:
            either = _either_order(both, name, self)
            pattern = replace(pattern, body=either) if isinstance(pattern, Within) else either
        tree = syntax_tree(pattern, name)
        assert tree.root is not None
        self.inner += [type(self)(inner, part, interpretation, key) for inner, part in tree.inner]
        self._timers = tree.timers
        self._parts = {inner.name: inner for inner in self.inner}
        self._starts = [Token(a) for a in join(waits_at(tree.root, None), waits_after(None)) if a.entries]
        self._tokens: list[Token] = []
        self._completed = self.keeper(name, selection, tuple(sorted(pattern_variables(pattern))), key)
        self.numbers = count()  # of its composites, so that a later one comes later

    def take(self, symbol: Symbol, position: Position) -> None:
        """Take the next event, or a composite event of another detector."""
        before, self._tokens = self._tokens, []
        for token in before:
            self._step(token, symbol, position)
        starts = []
        for start in self._starts:
            outcome = self._step(start, symbol, position)
            if outcome != "failed" or self.interpretation.restart == "always" or self._adjacent:
                starts.append(start)
        self._starts = starts
        # Forks that meet again are merged, or an alternation inside an iteration would double them at every event.
        self._tokens = list(dict.fromkeys(self._tokens))
        self._tokens = self._completed.choose(self._tokens)

    def advance(self, time: int) -> None:
        """Let every timer up to `time` run out. Timers come after the events of the same moment (C.3.11)."""
        while (moment := min((when for t in self._tokens for _, when in t.timers), default=time + 1)) <= time:
            while any(when == moment for t in self._tokens for _, when in t.timers):
                waiting, self._tokens = self._tokens, []
                for token in waiting:
                    self._ring(token, moment)
            self._tokens = self._completed.choose(self._tokens)
        if time >= FOREVER:
            self._tokens = self._completed.choose(self._tokens, ended=True)

    def _ring(self, token: Token, moment: int) -> None:
        """Run out the first of a token's timers that are due now; limits include their last moment, so they come last."""
        limits = frozenset[int]().union(*(entry.place.limits for entry in token.at.entries))
        due = min(
            ((n in limits, self._timers[n].name, n) for n, when in token.timers if when == moment),
            default=None,
        )
        if due is None:
            self._tokens.append(token)
            return
        is_limit, name, number = due
        token = replace(token, timers=tuple(t for t in token.timers if t[0] != number))
        if is_limit:
            self._close(token, number, moment)
            return
        self._step(token, TimerEvent(name, moment), (moment, moment, 2, True, name), number)

    def _close(self, token: Token, limit: int, moment: int) -> None:
        """From this moment on the token waits only for what lies outside of the limit; without that, it ends."""
        left = tuple(entry for entry in token.at.entries if limit not in entry.limits)
        if left:
            at = replace(token.at, entries=left)
            running = _running(at)
            timers = tuple(timer for timer in token.timers if timer[0] in running)
            self._tokens.append(replace(token, at=at, timers=timers))

    def clock(self, symbol: Symbol | TimerEvent) -> int:
        """When an event ends; of a parallel part of the pattern, when its first event does."""
        if isinstance(symbol, Composite) and symbol.type in self._parts:
            part = self._parts[symbol.type]
            return min(part.clock(constituent.event) for constituent in symbol.constituents)
        return symbol.interval.end

    def found(self) -> list[Composite]:
        """The composites detected since the last call."""
        return self._completed.found()

    @property
    def _adjacent(self) -> bool:
        return self.selection.matches == "adjacent"

    def _step(
        self, token: Token, symbol: Symbol | TimerEvent, position: Position, timer: int | None = None
    ) -> str:
        """Give one event to one token, and add the resulting tokens; returns what the token did."""
        interval = symbol.interval
        start = token.last is None
        if not start and timer is None and position < token.places[-1]:
            return self._stay(token)
        strongly = token.last is None or token.last.strongly_before(interval)
        taken = [
            (e, m)
            for e in token.at.entries
            if (m := taken_as(e.place, symbol, token.bound, timer)) is not None
        ]
        ways = [(e, m) for e, m in taken if strongly or not e.way.strong]
        if ways:
            for entry, (role, bound) in ways:
                self._go(token, entry, role, bound, symbol, position)
            if self.selection.matches == "any" and timer is None:
                self._stay(token)  # the match that leaves this event out
            return "accepted"
        if self._adjacent and timer is None:
            return "failed"
        all_strong = all(e.way.strong for e in token.at.entries)
        if not taken and (strongly or not all_strong) and in_domain(token.at, symbol, token.bound, timer):
            return "failed"
        return self._stay(token)

    def _stay(self, token: Token) -> str:
        if token.last is not None:
            self._tokens.append(token)
        return "ignored"

    def _go(
        self,
        token: Token,
        entry: Entry,
        role: str,
        bound: Mapping[str, Value],
        symbol: Symbol | TimerEvent,
        position: Position,
    ) -> None:
        ends = dict(token.ends)
        entered = entry.way.enters & entry.place.behind
        for link in entered:
            if token.last is not None:
                ends[link] = token.last.end
        if self.interpretation.strong_scope == "whole-operand":
            for link in entry.place.behind - entered:
                if link in ends and symbol.interval.start <= ends[link]:
                    return
        timers = dict(token.timers)
        for limit in entry.place.limits:
            last_moment = self.clock(symbol) + (self._timers[limit].after or 0)
            timers[limit] = last_moment if limit in entry.begins else min(last_moment, timers[limit])
        moved = replace(
            token,
            timers=tuple(timers.items()),
            taken=(*token.taken, Constituent(role, symbol)),
            places=(*token.places, position),
            last=symbol.interval,
            bound=tuple(sorted(bound.items())),
        )
        for alternative in waits_after(entry.then):
            if alternative.empty is not None:
                self._completed.add(moved)
            if alternative.entries:
                self._tokens.append(self._arrive(moved, alternative, ends))

    def _arrive(self, token: Token, at: Alternative, ends: Mapping[int, int]) -> Token:
        assert token.last is not None
        behind = frozenset[int]().union(*(e.place.behind for e in at.entries))
        running = _running(at)
        timers = {n: when for n, when in token.timers if n in running}
        for number in at.arms:
            timer = self._timers[number]
            timers.pop(number, None)
            when = token.last.end + timer.after if timer.after is not None else timer.at
            assert when is not None
            if when >= token.last.end:
                timers[number] = when
        return replace(
            token,
            at=at,
            ends=tuple(sorted((link, end) for link, end in ends.items() if link in behind)),
            timers=tuple(sorted(timers.items())),
        )


def _running(at: Alternative) -> frozenset[int]:
    """The timers and limits that matter in a place."""
    return frozenset[int]().union(*(entry.place.running | entry.limits for entry in at.entries))


def _either_order(pattern: AllOf, name: str, detector: Detector) -> Pattern:
    """`C1 || C2` as a pattern over the composites of its two sides: each takes the first later one of the other."""
    symbols = []
    for side, part in (("<", pattern.left), (">", pattern.right)):
        inner = f"{name}{side}"
        detector.inner.append(type(detector)(inner, part, detector.interpretation, detector.key))
        symbols.append(composite_atom(inner, part))
    left, right = symbols
    return AnyOf((Sequence((left, right), Order.WEAK), Sequence((right, left), Order.WEAK)))
