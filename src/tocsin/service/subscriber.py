"""A running subscription: a policy decides when events are used, a matcher what results from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple, Protocol

from tocsin.algebra.predicate import evaluate
from tocsin.algebra.tokens.pattern import EventSpec, Timed, Within, walk
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import BitTest
from tocsin.automata.execute import Session
from tocsin.events import Composite, Event, EventType, total_order
from tocsin.events.stability import Policy
from tocsin.service.inputs import Input, as_input, composite_order, disguised, keyed, opened
from tocsin.service.limit import Limit, passes
from tocsin.service.names import patterns

Callback = Callable[[Any], object]
KEPT = 10_000  # how many of the events that a subscription could not use are kept
Found = Event | Composite


class Unused(NamedTuple):
    """An event that a subscription asked for and could not use, and why."""

    subscription: str
    event: Found
    reason: str


class Publication(NamedTuple):
    """A publication of a subscription: composites just found, those that nothing earlier can follow, and until when."""

    fresh: Sequence[Input]
    stable: Sequence[Input]
    watermark: int


class Matcher(Protocol):
    """Processes events: passes single ones on, or detects patterns."""

    def wants(self, event: Event) -> bool:
        """Whether the event can make a difference."""

    def take(self, events: Sequence[Input], until: int) -> Sequence[Found]:
        """The results of the next events, as time advances to `until`."""


class SingleEvents:
    """Passes on the events of one type that satisfy a filter."""

    def __init__(self, spec: EventSpec) -> None:
        self._spec = spec

    def wants(self, event: Event) -> bool:
        if self._spec.name not in event.types:
            return False
        return self._spec.filter is None or evaluate(self._spec.filter, event.attributes, {}) is True

    def take(self, events: Sequence[Input], until: int) -> Sequence[Found]:
        return [event.original for event in events]


class Detection:
    """Detects a pattern, for each key on its own."""

    def __init__(self, subscription: Subscription, key: Sequence[str]) -> None:
        self._session = Session((subscription,), in_order=False)
        self._key = key
        compiled = self._session.compiled
        self._types = frozenset(
            test.type for _, test in compiled.tests if isinstance(test, BitTest) and test.type
        )
        # Events in between matter where two events must be adjacent.
        self._all = subscription.selection.matches == "adjacent"
        # A limit that runs out can decide which of two matches is the first.
        self._timers = any(isinstance(n, Timed | Within) for p in patterns(subscription) for n in walk(p))

    def wants(self, event: Event) -> bool:
        return self._all or not self._types.isdisjoint(event.types)

    def take(self, events: Sequence[Input], until: int) -> Sequence[Found]:
        found: list[Composite] = []
        if events:
            for run in _runs(events):
                found += self._session.feed(run, until)[0]
        elif self._timers and self._session.state.partial_matches:
            found += self._session.feed((), until)[0]
        return sorted((opened(composite, self._key) for composite in found), key=composite_order)


def _runs(events: Sequence[Input]) -> Iterator[list[Input]]:
    """The events in their order, cut wherever one is earlier than the one before it: a session would sort them."""
    run: list[Input] = []
    for event in events:
        if run and total_order(event) < total_order(run[-1]):
            yield run
            run = []
        run.append(event)
    yield run


@dataclass
class Subscriber:
    """One subscription and its state."""

    number: int
    name: str
    callback: Callback | None  # None once unsubscribed, while others still use its composites
    matcher: Matcher
    policy: Policy[Input]
    waits: bool  # whether the policy holds events back
    since: int  # number of deliveries when the subscription was made
    sources: frozenset[str] | None  # the sources it listens to; None for all
    key: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    uses: frozenset[str] = frozenset()
    upstream: tuple[str, ...] = ()  # subscriptions whose composites it uses
    composite: EventType | None = None  # what its composites are to others, as far as that is known
    publishes: bool = False
    unused: deque[Unused] = field(default_factory=lambda: deque(maxlen=KEPT))
    _held: list[Composite] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def step(
        self, act: Callable[[Subscriber], list[Found]], others: Mapping[str, Publication]
    ) -> tuple[list[Found], Publication]:
        """Use what other subscriptions have just published, then apply `act`."""
        found: list[Found] = []
        published = [others[name] for name in self.upstream if name in others]
        incoming = [event for one in published for event in (one.stable if self.waits else one.fresh)]
        for event in sorted(incoming, key=total_order):
            found += self.arrive(event.source, event, event.interval.end)
        if self.waits:
            for name in self.upstream:
                if name in others:
                    found += self.arrive(origin(name), None, others[name].watermark + 1)
        found += act(self)
        return found, self._publication([one for one in found if isinstance(one, Composite)])

    def arrive(self, source: str | None, event: Event | None, end: int) -> list[Found]:
        """Take a published event, or a heartbeat."""
        if self.sources is not None and source not in self.sources:
            return []
        seen = None if event is None else as_input(event)
        item = self._with_key(seen) if seen is not None and self.matcher.wants(seen) else None
        released = self.policy.arrive(source, item, end, () if item is None else total_order(item))
        return self._use(released)

    def advance(self, end: int) -> list[Found]:
        """Advance time."""
        return self._use(self.policy.advance(end))

    def leave_out(self, source: str) -> list[Found]:
        """Stop waiting for a source."""
        waited_for = self.waits and (self.sources is None or source in self.sources)
        return self._use(self.policy.leave_out(source)) if waited_for else []

    def _with_key(self, event: Input) -> Input | None:
        with_key = keyed(event, self.key)
        if with_key is None:
            lacking = ", ".join(name for name in self.key if event.attributes.get(name) is None)
            self.unused.append(Unused(self.name, event.original, f"it has no key: {lacking}"))
        return with_key

    def _use(self, released: Iterable[Input]) -> list[Found]:
        self.unused += [Unused(self.name, late.item.original, late.reason) for late in self.policy.late]
        self.policy.late.clear()
        passed = [event for event in released if passes(self.limits, event)]
        return list(self.matcher.take(passed, self.policy.watermark))

    def _publication(self, found: list[Composite]) -> Publication:
        """The publication for others: all composites at once for those that do not wait, stable ones in the total order."""
        if not self.publishes:
            return Publication((), (), self.policy.watermark)
        self._held += found
        stable = [one for one in self._held if one.interval.end <= self.policy.watermark]
        self._held = [one for one in self._held if one.interval.end > self.policy.watermark]
        return Publication(
            self._disguised(found),
            self._disguised(sorted(stable, key=composite_order)),
            self.policy.watermark,
        )

    def _disguised(self, composites: Iterable[Composite]) -> list[Input]:
        source = origin(self.name)
        return [disguised(one, source, (self.number, next(self._numbers)), self.key) for one in composites]


def origin(name: str) -> str:
    """The name of the source of a subscription's composites; no other source has it."""
    return f"[{name}]"
