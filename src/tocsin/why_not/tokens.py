"""Partial matches of the token family, from the token lists of its reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tocsin.algebra.predicate import evaluate
from tocsin.algebra.tokens.pattern import EventSpec, Pattern
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.semantics.completed import Completed
from tocsin.algebra.tokens.semantics.next_events import Alternative
from tocsin.algebra.tokens.semantics.partial_match import Position, Symbol, Token, taken_as
from tocsin.algebra.tokens.semantics.token_list import Detector
from tocsin.algebra.tokens.semantics.whole_trace import Detection
from tocsin.algebra.tokens.subscription import Interpretation, Subscription
from tocsin.algebra.tokens.where import keeps
from tocsin.errors import LimitError
from tocsin.events import Composite, Event, TimerEvent, Value
from tocsin.explain.tokens.wording import Printers, printers_of
from tocsin.why_not.account import Answer, Asked, Attempt, Happened, PassedOver, Taken

MOST = 20_000  # partial matches at once
_ROOM = 50  # events passed over that a partial match remembers


@dataclass
class _Log:
    """A record of the tokens of a detector."""

    ended: list[tuple[Token, Symbol | TimerEvent | None, str]] = field(default_factory=list)
    complete: list[Token] = field(default_factory=list)
    passed: dict[Token, list[tuple[Symbol, str]]] = field(default_factory=dict)
    starts_ended: list[tuple[Alternative, Symbol]] = field(default_factory=list)


class _WatchedCompleted(Completed):
    """Notes complete matches, and tokens that the selection gives up."""

    def __init__(self, name: str, selection: Selection, variables: tuple[str, ...], key: Value) -> None:
        super().__init__(name, selection, variables, key)
        self.log = _Log()

    def add(self, token: Token) -> None:
        self.log.complete.append(token)
        super().add(token)

    def choose(self, tokens: list[Token], *, ended: bool = False) -> list[Token]:
        left = super().choose(tokens, ended=ended)
        kept = set(left)
        for token in tokens:
            if token not in kept:
                reason = "a match that begins at the same event, or overlaps it, is reported instead"
                self.log.ended.append((token, None, f"{reason} (matches = {self._selection.matches})"))
        return left


class WatchedDetector(Detector):
    """A detector of the reference that also records its tokens; it finds the same matches."""

    keeper = _WatchedCompleted

    def __init__(
        self,
        name: str,
        pattern: Pattern,
        interpretation: Interpretation,
        key: Value = None,
        selection: Selection = Selection(),
    ) -> None:
        super().__init__(name, pattern, interpretation, key, selection)
        self.name = name
        assert isinstance(self._completed, _WatchedCompleted)
        self.log = self._completed.log

    @property
    def waiting(self) -> list[Token]:
        """The tokens that wait now."""
        return self._tokens

    @property
    def starts(self) -> list[Token]:
        """The places where a match can begin."""
        return self._starts

    def timer_name(self, number: int) -> str:
        """The name of a timer."""
        return self._timers[number].name

    def _step(
        self, token: Token, symbol: Symbol | TimerEvent, position: Position, timer: int | None = None
    ) -> str:
        if len(self._tokens) > MOST:
            message = f"more than {MOST:,} partial matches wait at once"
            raise LimitError("too-many-partial-matches", message, None, "give a shorter span of time")
        outcome = super()._step(token, symbol, position, timer)
        if outcome == "failed":
            self._note_failed(token, symbol)
        elif outcome == "ignored" and token.last is not None and not isinstance(symbol, TimerEvent):
            why = _nearly(token, symbol)
            noted = self.log.passed.setdefault(token, [])
            if why is not None and len(noted) < _ROOM:
                noted.append((symbol, why))
        return outcome

    def _close(self, token: Token, limit: int, moment: int) -> None:
        before = len(self._tokens)
        super()._close(token, limit, moment)
        if len(self._tokens) == before:
            over = TimerEvent(self.timer_name(limit), moment)
            self.log.ended.append((token, over, f"{over.name} is over"))

    def _note_failed(self, token: Token, symbol: Symbol | TimerEvent) -> None:
        if token.last is None:
            if self.interpretation.restart != "always" and not self._adjacent:
                assert not isinstance(symbol, TimerEvent)
                self.log.starts_ended.append((token.at, symbol))
            return
        if isinstance(symbol, TimerEvent):
            reason = f"{symbol.name} ran out"
        elif self._adjacent:
            reason = "the events of a match must be adjacent, and this one does not fit"
        else:
            reason = "the pattern looks at this event here, and does not take it"
        self.log.ended.append((token, symbol, reason))


def _nearly(token: Token, symbol: Symbol) -> str | None:
    """Why an event of an awaited type was not taken; None if none was awaited."""
    assert token.last is not None
    for entry in token.at.entries:
        if taken_as(entry.place, symbol, token.bound, None) is not None:
            return "it begins before the event before it has ended"
        for spec in entry.place.domain.taken:
            if spec.name in symbol.types and spec.filter is not None:
                bound = dict(token.bound)
                if evaluate(spec.filter, symbol.attributes, bound) is not True:
                    return "its attributes do not fit"
    return None


def account_for(asked: Asked) -> Answer:
    """The partial matches of a subscription."""
    subscription: Subscription = asked.value
    detection = Detection(subscription, detectors=WatchedDetector)
    found = detection.feed(asked.events, asked.until)
    printers = printers_of(asked.language)
    detectors = list(_all([one for one in detection.detectors if isinstance(one, WatchedDetector)]))
    attempts: list[Attempt] = []
    notes: list[str] = []
    for detector in detectors:
        attempts += _attempts(detector, subscription, printers, asked)
        for at, symbol in detector.log.starts_ended:
            waited = " or ".join(_awaited(at, detector, printers))
            notes.append(
                f"{_named(detector.name, subscription)}: no match can begin with {waited} any more, since "
                f"{_happened(symbol)}: the pattern looks at it there (restart = always tries again)"
            )
    own = detectors[-1]
    assert len(found) <= len(own.log.complete) or subscription.selection.take == "count"
    starts = [name for start in own.starts for name in _awaited(start.at, own, printers)]
    return Answer(tuple(attempts), tuple(dict.fromkeys(starts)), tuple(notes))


def _all(detectors: list[WatchedDetector]) -> Iterator[WatchedDetector]:
    """The detectors, each after those inside it."""
    for one in detectors:
        yield from _all([inner for inner in one.inner if isinstance(inner, WatchedDetector)])
        yield one


def _attempts(
    detector: WatchedDetector, subscription: Subscription, printers: Printers, asked: Asked
) -> Iterator[Attempt]:
    name, log = _named(detector.name, subscription), detector.log
    where = subscription.where if detector.name == subscription.name else None

    def common(token: Token) -> tuple[str, tuple[Taken, ...], tuple[str, ...]]:
        taken = tuple(Taken(_role(one.role), _happened(one.event)) for one in token.taken)
        return name, taken, _awaited(token.at, detector, printers)

    def passed(token: Token) -> tuple[PassedOver, ...]:
        return tuple(PassedOver(_happened(symbol), why) for symbol, why in log.passed.get(token, ()))

    for token in dict.fromkeys(log.complete):
        composite = Composite(detector.name, token.taken, token.bound)
        last = token.taken[-1].event.interval.end
        own, taken, _ = common(token)
        if keeps(where, composite):
            yield Attempt(own, taken, (), "matched", last)
        else:
            reason = f"it is complete, but the condition does not hold: {printers.filter(where)}"  # type: ignore[arg-type]
            yield Attempt(own, taken, (), "ended", last, None, reason)
    for token, symbol, reason in log.ended:
        by = None if symbol is None else _happened(symbol)
        at = None if by is None else by.end
        yield Attempt(*common(token), "ended", at, by, reason, {}, passed(token))
    for token in detector.waiting:
        due = {detector.timer_name(number): when for number, when in token.timers}
        yield Attempt(*common(token), "waiting", None, None, "", due, passed(token))


def _awaited(at: Alternative, detector: WatchedDetector, printers: Printers) -> tuple[str, ...]:
    """Describe what a place waits for, in terms of the language."""
    found: dict[str, None] = {}
    for entry in at.entries:
        for spec in entry.place.domain.taken:
            found[_spec_text(spec, printers)] = None
        for number in sorted(entry.place.domain.timers):
            found[detector.timer_name(number)] = None
    return tuple(found)


def _spec_text(spec: EventSpec, printers: Printers) -> str:
    return _role(spec.name) if not spec.name.isidentifier() else printers.spec(spec)


def _role(name: str) -> str:
    """Return the name of a detector; one inside another has a generated name."""
    return "a part of ||" if any(sign in name for sign in "#<>") else name


def _named(name: str, subscription: Subscription) -> str:
    return f"a part of {subscription.name}" if any(sign in name for sign in "#<>") else name


def _happened(symbol: Event | Composite | TimerEvent) -> Happened:
    interval = symbol.interval
    match symbol:
        case TimerEvent(name):
            return Happened(name, interval.start, interval.end)
        case Composite(type):
            return Happened(_role(type), interval.start, interval.end, None, symbol.attributes)
        case Event(id, types):
            name = ", ".join(sorted(types))
            return Happened(name, interval.start, interval.end, id, dict(symbol.attributes))
