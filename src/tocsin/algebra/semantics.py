"""The meaning of patterns, in slow and plain Python; everything faster must agree with it.

A detector is a list of tokens, each waiting at one place of the pattern with the events it has taken (the paper's triples
of state, timestamp and event list). There is no automaton here: what a token can take next is read off the syntax tree
whenever it is needed, as a list of *alternatives*. The rules, with their numbers in the project's list of decisions:

- an alternation forks the token, one alternative an option (C.3.5);
- the start of an iteration and what follows it are one place with the union of both domains (C.3.4);
- a path between two events is strong if any link on it is (C.3.10);
- every event of the right side of `;` follows the end of the left side strongly (C.3.8);
- an event that only weakly follows is ignored where only strong ways lead on (C.3.9).

Which matches are wanted (`selection`) is decided moment by moment: a moment is an event, or all timers that run out at one
time.

Paper: 003, "Composite Event Detectors", "Core Composite Event Language", Appendix B.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import count
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
    pattern_variables,
)
from tocsin.algebra.predicate import And, Unify, evaluate
from tocsin.algebra.selection import COUNT, END, Selection
from tocsin.algebra.subscription import Reading, Subscription
from tocsin.algebra.where import keeps
from tocsin.events import Composite, Constituent, Event, Interval, TimerEvent, Value, trace
from tocsin.values import kind

FOREVER = 1 << 62
_INNER = 1 << 20  # composites of parallel parts come after those of named definitions of equal time
Symbol = Event | Composite


# --- the syntax tree, with an identity for each place -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Place:
    """An atom at its place: the strong links it lies behind, and the timers that can be seen there."""

    atom: Atom
    behind: frozenset[int]
    timers: Mapping[str, int]
    running: frozenset[int]


@dataclass(frozen=True, eq=False)
class _Parts:
    """A sequence. `links[i]` joins what comes before `parts[i]` to it; None for a weak link."""

    parts: tuple[_Node, ...]
    links: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class _Loop:
    body: _Node


@dataclass(frozen=True, eq=False)
class _Fork:
    options: tuple[_Node, ...]


@dataclass(frozen=True, eq=False)
class _Clocked:
    first: _Node
    second: _Node
    timer: int


_Node = _Place | _Parts | _Loop | _Fork | _Clocked


@dataclass
class _Tree:
    """The tree of one detector, its timers, and the detectors for the parallel patterns inside it."""

    root: _Node | None = None
    timers: list[Timer] = field(default_factory=list)
    inner: list[tuple[str, AllOf]] = field(default_factory=list)
    links: int = 0


def _tree(pattern: Pattern, prefix: str) -> _Tree:
    tree = _Tree()

    def place(
        node: Pattern, behind: frozenset[int], seen: Mapping[str, int], running: frozenset[int]
    ) -> _Node:
        match node:
            case Atom():
                return _Place(node, behind, seen, running)
            case AllOf():
                # Equal parts are one detector: its composite is one event, which a token cannot take twice.
                name = next(
                    (known for known, part in tree.inner if part == node), f"{prefix}#{len(tree.inner)}"
                )
                if all(known != name for known, _ in tree.inner):
                    tree.inner.append((name, node))
                return _Place(_composite(name, node), behind, {}, running)
            case Sequence(parts, order):
                links: list[int | None] = [None]
                placed = [place(parts[0], behind, seen, running)]
                for part in parts[1:]:
                    link = None
                    if order is Order.STRONG:
                        link, tree.links = tree.links, tree.links + 1
                    links.append(link)
                    placed.append(place(part, behind | ({link} - {None}), seen, running))  # type: ignore[operator]
                return _Parts(tuple(placed), tuple(links))
            case Repeat(body):
                return _Loop(place(body, behind, seen, running))
            case AnyOf(options):
                return _Fork(tuple(place(option, behind, seen, running) for option in options))
            case Timed(first, second, timer):
                placed_first = place(first, behind, seen, running)
                number = len(tree.timers)
                tree.timers.append(timer)
                return _Clocked(
                    placed_first,
                    place(second, behind, {**seen, timer.name: number}, running | {number}),
                    number,
                )
            case _:
                assert_never(node)

    tree.root = place(pattern, frozenset(), {}, frozenset())
    return tree


def _composite(name: str, pattern: Pattern) -> Atom:
    """The composites of another detector as a symbol; variables that both sides use must agree (C.3.7)."""
    shared = tuple(Unify(variable) for variable in sorted(pattern_variables(pattern)))
    return Atom((EventSpec(name, And(shared) if shared else None),))


# --- what can come next --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Skip:
    """A way past something without an event: whether it crosses a strong link, and which strong links it enters."""

    strong: bool = False
    enters: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Entry:
    """An atom that may take the next event, how it must follow the last one, and what comes after it."""

    place: _Place
    then: _Then | None
    way: _Skip = _Skip()


@dataclass(frozen=True)
class _Alternative:
    """One place to wait at. `empty`: how the whole can be passed without an event. `arms`: timers that start here."""

    entries: tuple[_Entry, ...]
    empty: _Skip | None
    arms: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Then:
    """What remains after the part of `node` before `index`; then `then`."""

    node: _Parts | _Loop | _Clocked
    index: int
    then: _Then | None


def _link(link: int | None) -> _Skip:
    return _Skip() if link is None else _Skip(True, frozenset({link}))


def _along(first: _Skip, second: _Skip) -> _Skip:
    return _Skip(first.strong or second.strong, first.enters | second.enters)


def _behind(way: _Skip, alternatives: Iterable[_Alternative]) -> list[_Alternative]:
    return [
        _Alternative(
            tuple(replace(entry, way=_along(way, entry.way)) for entry in alternative.entries),
            None if alternative.empty is None else _along(way, alternative.empty),
            alternative.arms,
        )
        for alternative in alternatives
    ]


def _join(left: Iterable[_Alternative], right: list[_Alternative]) -> list[_Alternative]:
    """`left` and, where it can be empty, `right` merged into the same place."""
    joined = []
    for a in left:
        if a.empty is None:
            joined.append(a)
            continue
        for b in _behind(a.empty, right):
            joined.append(_Alternative(a.entries + b.entries, b.empty, a.arms | b.arms))
    return joined


def _first(node: _Node, then: _Then | None) -> list[_Alternative]:
    """Where a token that starts on `node` can wait; `then` is what follows the node."""
    match node:
        case _Place():
            return [_Alternative((_Entry(node, then),), None)]
        case _Parts():
            return _rest(node, 0, then)
        case _Loop(body):
            return [replace(a, empty=_Skip()) for a in _first(body, _Then(node, 0, then))]
        case _Fork(options):
            return [a for option in options for a in _first(option, then)]
        case _Clocked(first, _, _):
            return _first(first, _Then(node, 1, then))
        case _:
            assert_never(node)


def _rest(node: _Parts, index: int, then: _Then | None) -> list[_Alternative]:
    """Where a token that starts on the parts from `index` on can wait: on the first that cannot be empty, or before it."""
    waits = _part(node, index, then)
    for later in range(index + 1, len(node.parts)):
        if all(alternative.empty is None for alternative in waits):
            break
        waits = _join(waits, _behind(_link(node.links[later]), _part(node, later, then)))
    return waits


def _part(node: _Parts, index: int, then: _Then | None) -> list[_Alternative]:
    last = index == len(node.parts) - 1
    return _first(node.parts[index], then if last else _Then(node, index + 1, then))


@lru_cache(maxsize=100_000)
def _next(then: _Then | None) -> list[_Alternative]:
    """Where a token goes when what came before `then` is complete. An alternative that can be empty is a match."""
    if then is None:
        return [_Alternative((), _Skip())]
    after = _next(then.then)
    match then.node:
        case _Loop():
            return _join(_first(then.node, then.then), after)
        case _Parts():
            rest = _rest(then.node, then.index, then.then)
            return _join(_behind(_link(then.node.links[then.index]), rest), after)
        case _Clocked():
            second = _join(_first(then.node.second, then.then), after)
            return [replace(a, arms=a.arms | {then.node.timer}) for a in second]
        case _:
            assert_never(then.node)


# --- tokens --------------------------------------------------------------------------------------------------------

Position = tuple[int, int, int, bool, int | str]  # end, start, composite before primitive, then the id
_AFTER_ALL: Position = (2 * FOREVER, 0, 0, False, 0)


@dataclass(frozen=True)
class _Token:
    at: _Alternative
    taken: tuple[Constituent, ...] = ()
    places: tuple[Position, ...] = ()  # where in the order each of them is
    last: Interval | None = None
    bound: tuple[tuple[str, Value], ...] = ()
    ends: tuple[tuple[int, int], ...] = ()  # strong link -> end of what came before it
    timers: tuple[tuple[int, int], ...] = ()  # timer -> when it runs out


class Detector:
    """One pattern over one ordered stream, event by event; the detectors of its parallel parts are inside it."""

    def __init__(
        self,
        name: str,
        pattern: Pattern,
        reading: Reading,
        key: Value = None,
        selection: Selection = Selection(),
    ) -> None:
        self.name, self.key, self.reading, self.selection = name, key, reading, selection
        if isinstance(pattern, AllOf):
            pattern = _either_order(pattern, name, self)
        else:
            self.inner: list[Detector] = []
        tree = _tree(pattern, name)
        assert tree.root is not None
        self.inner += [Detector(inner, part, reading, key) for inner, part in tree.inner]
        self._timers = tree.timers
        self._starts = [_Token(a) for a in _join(_first(tree.root, None), _next(None)) if a.entries]
        self._tokens: list[_Token] = []
        self._variables = sorted(pattern_variables(pattern))
        self._emitted: set[tuple[object, ...]] = set()
        self._ways: dict[tuple[object, ...], _Token] = {}
        self._held: list[_Token] = []  # complete, but a match that begins earlier may yet be complete, too
        self._chosen: list[Composite] = []
        self.numbers = count()  # of its composites, so that a later one comes later

    def take(self, symbol: Symbol, position: Position) -> None:
        """Give the next event, or a composite event of another detector."""
        before, self._tokens = self._tokens, []
        for token in before:
            self._step(token, symbol, position)
        starts = []
        for start in self._starts:
            outcome = self._step(start, symbol, position)
            if outcome != "failed" or self.reading.restart == "always" or self._adjacent:
                starts.append(start)
        self._starts = starts
        # Forks that met again are one token, or an alternation inside an iteration would double them at every event.
        self._tokens = list(dict.fromkeys(self._tokens))
        self._choose()

    def advance(self, time: int) -> None:
        """Let every timer up to `time` run out. Timers come after the events of the same moment (C.3.11)."""
        while (moment := min((when for t in self._tokens for _, when in t.timers), default=time + 1)) <= time:
            while any(when == moment for t in self._tokens for _, when in t.timers):
                waiting, self._tokens = self._tokens, []
                for token in waiting:
                    self._ring(token, moment)
            self._choose()
        if time >= FOREVER:
            self._choose(ended=True)

    def _ring(self, token: _Token, moment: int) -> None:
        """Let the first of a token's timers that run out now do so."""
        due = min(((self._timers[n].name, n) for n, when in token.timers if when == moment), default=None)
        if due is None:
            self._tokens.append(token)
            return
        name, number = due
        token = replace(token, timers=tuple(t for t in token.timers if t[0] != number))
        self._step(token, TimerEvent(name, moment), (moment, moment, 2, True, name), number)

    def found(self) -> list[Composite]:
        """The composites detected since the last call."""
        chosen, self._chosen = self._chosen, []
        return chosen

    def _choose(self, *, ended: bool = False) -> None:
        """Report those of the matches of this moment that are wanted. `ended`: no partial match goes on any more."""
        ways, self._ways = self._ways, {}
        self._emitted |= ways.keys()
        completed = sorted(ways.values(), key=_event_order)
        if self.selection.matches in ("next", "leftmost"):
            first: dict[Position, _Token] = {}
            for token in completed:
                first.setdefault(token.places[0], token)
            completed = list(first.values())
            self._tokens = [token for token in self._tokens if token.places[0] not in first]
        if self.selection.matches == "leftmost":
            self._held = sorted([*self._held, *completed], key=_event_order)
            for token in self._leftmost(ended):  # no two of them are complete at one moment
                self._report([token])
        elif completed:
            self._report(completed)

    def _report(self, completed: list[_Token]) -> None:
        """Report what is taken of the matches of one moment."""
        if self.selection.take == "count":
            last = completed[-1].taken[-1]
            if not isinstance(last.event, TimerEvent):
                last = Constituent(END, last.event)
            self._chosen.append(Composite(self.name, (last,), ((COUNT, len(completed)),), self.key))
            return
        wanted = self.selection.some(completed)
        self._chosen += [Composite(self.name, one.taken, one.bound, self.key) for one in wanted]

    def _leftmost(self, ended: bool) -> list[_Token]:
        """Matches that no match can precede any more; what overlaps them is given up."""
        chosen = []
        while self._held:
            earliest, *others = self._held
            if not ended and any(token.places[0] < earliest.places[0] for token in self._tokens):
                break
            chosen.append(earliest)
            over = earliest.places[-1]
            self._held = [token for token in others if token.places[0] > over]
            self._tokens = [token for token in self._tokens if token.places[0] > over]
        return chosen

    @property
    def _adjacent(self) -> bool:
        return self.selection.matches == "adjacent"

    def _step(
        self, token: _Token, symbol: Symbol | TimerEvent, position: Position, timer: int | None = None
    ) -> str:
        """Give one event to one token; what becomes of the token is added to the tokens. Returns what it did."""
        interval = symbol.interval
        start = token.last is None
        if not start and timer is None and position < token.places[-1]:
            return self._stay(token)
        strongly = token.last is None or token.last.strongly_before(interval)
        taken = [
            (e, m)
            for e in token.at.entries
            if (m := _accepts(e.place, symbol, token.bound, timer)) is not None
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
        if not taken and (strongly or not all_strong) and _in_domain(token.at, symbol, token.bound, timer):
            return "failed"
        return self._stay(token)

    def _stay(self, token: _Token) -> str:
        if token.last is not None:
            self._tokens.append(token)
        return "ignored"

    def _go(
        self,
        token: _Token,
        entry: _Entry,
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
        if self.reading.strong_scope == "whole-operand":
            for link in entry.place.behind - entered:
                if link in ends and symbol.interval.start <= ends[link]:
                    return
        moved = replace(
            token,
            taken=(*token.taken, Constituent(role, symbol)),
            places=(*token.places, position),
            last=symbol.interval,
            bound=tuple(sorted(bound.items())),
        )
        for alternative in _next(entry.then):
            if alternative.empty is not None:
                self._emit(moved)
            if alternative.entries:
                self._tokens.append(self._arrive(moved, alternative, ends))

    def _arrive(self, token: _Token, at: _Alternative, ends: Mapping[int, int]) -> _Token:
        assert token.last is not None
        behind = frozenset[int]().union(*(e.place.behind for e in at.entries))
        running = frozenset[int]().union(*(e.place.running for e in at.entries))
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

    def _emit(self, token: _Token) -> None:
        """A match, unless the same events were reported already (C.3.6). The least way to it stays."""
        identity = tuple(_identity(c.event) for c in token.taken)
        known = self._ways.get(identity)
        if identity not in self._emitted and (known is None or self._rank(token) < self._rank(known)):
            self._ways[identity] = token

    def _rank(self, token: _Token) -> tuple[object, ...]:
        """Ways to one match in order: by the names of its events, then by the variables, unset ones first."""
        bound = dict(token.bound)
        values = [bound.get(name) for name in self._variables]
        return [c.role for c in token.taken], [
            (False, "", 0) if value is None else (True, kind(value), value) for value in values
        ]


def _either_order(pattern: AllOf, name: str, detector: Detector) -> Pattern:
    """`C1 || C2` as a pattern over the composites of its two sides: each takes the first later one of the other."""
    detector.inner = []
    symbols = []
    for side, part in (("<", pattern.left), (">", pattern.right)):
        inner = f"{name}{side}"
        detector.inner.append(Detector(inner, part, detector.reading, detector.key))
        symbols.append(_composite(inner, part))
    left, right = symbols
    return AnyOf((Sequence((left, right), Order.WEAK), Sequence((right, left), Order.WEAK)))


def _event_order(token: _Token) -> tuple[Position, ...]:
    """The order of matches: by their events, and one that goes on before one that ends there."""
    return (*token.places, _AFTER_ALL)


def _identity(event: Event | TimerEvent | Composite) -> object:
    if isinstance(event, Composite):
        return (event.type, tuple(_identity(c.event) for c in event.constituents))
    return (event.name, event.at) if isinstance(event, TimerEvent) else event.id


def _accepts(
    place: _Place, symbol: Symbol | TimerEvent, bound: tuple[tuple[str, Value], ...], timer: int | None
) -> tuple[str, Mapping[str, Value]] | None:
    """The role and the bindings with which an atom takes an event, or None."""
    atom = place.atom
    if not atom.negated:
        return _matching(atom.accept, place, symbol, bound, timer)
    found = _matching(atom.domain, place, symbol, bound, timer)
    return None if found is None or _matching(atom.accept, place, symbol, bound, timer) is not None else found


def _in_domain(
    at: _Alternative, symbol: Symbol | TimerEvent, bound: tuple[tuple[str, Value], ...], timer: int | None
) -> bool:
    """Whether an event is in the domain of a place. A running timer is in it everywhere (C.3.11)."""
    return any(
        (timer is not None and timer in entry.place.running)
        or _matching(entry.place.atom.accept + entry.place.atom.domain, entry.place, symbol, bound, timer)
        is not None
        for entry in at.entries
    )


def _matching(
    specs: tuple[EventSpec, ...],
    place: _Place,
    symbol: Symbol | TimerEvent,
    bound: tuple[tuple[str, Value], ...],
    timer: int | None,
) -> tuple[str, Mapping[str, Value]] | None:
    for spec in specs:
        if isinstance(symbol, TimerEvent):
            if timer is not None and place.timers.get(spec.name) == timer:
                return spec.name, dict(bound)
        elif spec.name not in place.timers and spec.name in symbol.types:
            gained = dict(bound)
            if spec.filter is None or evaluate(spec.filter, symbol.attributes, gained) is True:
                return spec.name, gained
    return None


# --- whole traces --------------------------------------------------------------------------------------------------


def detect(subscription: Subscription, events: Iterable[Event], until: int = FOREVER) -> list[Composite]:
    """Every composite event of a subscription over a finite set of events, key by key.

    `until` is how far time goes on after the last event; by default every timer runs out.
    """
    by_key: dict[Value, list[Event]] = {}
    for event in trace(events):
        by_key.setdefault(event.key, []).append(event)
    return [c for key, own in by_key.items() for c in Detection(subscription, key).feed(own, until)]


class Detection:
    """A subscription over the events of one key, given bit by bit, each in the order in which it is to be used.

    >>> from tocsin.languages.core import parse
    >>> detection = Detection(parse("([A], [T1])_{T1=5s}"))
    >>> detection.feed([Event(1, frozenset({"A"}), Interval(0, 0))], until=4_999_999)
    []
    >>> [composite.ids for composite in detection.feed([], until=5_000_000)]
    [[1, 'T1']]

    To get what `detect` gets, keep to the total order. If the subscription names composites or has parallel parts, also give
    the events of one moment at once: the last of them may complete a composite that comes before the others.
    """

    def __init__(self, subscription: Subscription, key: Value = None) -> None:
        patterns = [(definition.name, definition.pattern) for definition in subscription.definitions]
        patterns.append((subscription.name, subscription.pattern))
        *named, (name, pattern) = patterns
        self._named = [Detector(*one, subscription.reading, key) for one in named]
        self._last = Detector(name, pattern, subscription.reading, key, subscription.selection)
        self._where = subscription.where

    def feed(self, events: Iterable[Event], until: int) -> list[Composite]:
        """What is found in the next events, and by timers as time goes on until `until`."""
        symbols: list[tuple[Position, Symbol]] = [(_position(event), event) for event in events]
        for number, detector in enumerate(self._named):
            symbols = _with_composites(symbols, detector, number, until)
        return [c for c in _run(self._last, symbols, until) if keeps(self._where, c)]


def _run(detector: Detector, symbols: list[tuple[Position, Symbol]], until: int) -> list[Composite]:
    """Everything one detector finds: first the detectors inside it, whose composites join its input."""
    for number, inner in enumerate(detector.inner, start=_INNER):
        symbols = _with_composites(symbols, inner, number, until)
    found: list[Composite] = []
    for position, symbol in symbols:
        detector.advance(position[0] - 1)
        detector.take(symbol, position)
        found += detector.found()
    detector.advance(until)
    return found + detector.found()


def _with_composites(
    symbols: list[tuple[Position, Symbol]], detector: Detector, number: int, until: int
) -> list[tuple[Position, Symbol]]:
    """A detector's input and what it finds in it; a composite comes before a primitive event of equal time (C.3.13).

    Composites of one detector with equal times are told apart by the order of their events.
    """
    ordered = sorted(_run(detector, symbols, until), key=_leaf_positions)
    new = [
        ((c.interval.end, c.interval.start, 0, False, number * FOREVER + next(detector.numbers)), c)
        for c in ordered
    ]
    return sorted([*symbols, *new], key=lambda item: item[0])


def _leaf_positions(composite: Composite) -> tuple[list[tuple[object, ...]], list[tuple[int, ...]]]:
    """Where the events of a composite are in the total order, and then where they stand in the composite."""
    leaves = list(_leaves(composite, ()))
    return [position for position, _ in leaves], [path for _, path in leaves]


def _leaves(
    composite: Composite, inside: tuple[int, ...]
) -> Iterator[tuple[tuple[object, ...], tuple[int, ...]]]:
    for place, constituent in enumerate(composite.constituents):
        event, path = constituent.event, (*inside, place)
        match event:
            case Composite():
                yield from _leaves(event, path)
            case TimerEvent():
                yield (event.at, event.at, 2, True, event.name), path
            case Event():
                yield _position(event), path


def _position(event: Event) -> Position:
    return event.interval.end, event.interval.start, 1, isinstance(event.id, str), event.id
