"""Run subscriptions over events in this process, on the kernels that Spark's workers run."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from tocsin.algebra.completion import fields
from tocsin.algebra.completion.expression import TRUE, Predicate, Program, Push
from tocsin.algebra.completion.expression import Subscription as Expression
from tocsin.algebra.completion.output import Constant
from tocsin.algebra.predicate import evaluate
from tocsin.algebra.tokens.pattern import Atom, EventSpec, Order, Sequence
from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.completion.draft import compile_ecl
from tocsin.automata.detection_plan import BitTest, Compiled, FieldTest
from tocsin.automata.tokens.compile import compile
from tocsin.automata.tokens.plan import composite_type
from tocsin.events import Composite, Constituent, Event, Interval, TimerEvent
from tocsin.runtime import feed as runtime
from tocsin.runtime.composites import Composite as Record
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.predicates.conditions import Lookup, truth
from tocsin.runtime.program import Output
from tocsin.runtime.read.json_values import events_of
from tocsin.runtime.state import State, initial
from tocsin.values import Value


def detect(subscription: Subscription, events: Iterable[Event], until: int = FOREVER) -> list[Composite]:
    """Every composite event of a subscription in a finite set of events; agrees with `semantics.detect`."""
    return Session((subscription,)).feed(events, until, last=True)[0]


def warm() -> None:
    """Compile the kernels, or load them from the cache, so that the first detection does not have to wait."""
    atom = Atom((EventSpec("A"),))
    events = [Event(n, frozenset({"A"}), Interval(n, n)) for n in range(3)]
    plain = Subscription(Sequence((atom, atom), Order.WEAK))
    for wanted in (
        plain,
        replace(plain, selection=Selection("any", "count")),
        replace(plain, selection=Selection("any", "last")),
        replace(plain, selection=Selection("leftmost")),
        replace(plain, pattern=Sequence((atom, atom), Order.STRONG), selection=Selection("leftmost")),
    ):
        detect(wanted, events)
        Session((wanted,)).feed(events, FOREVER)
    every = Program((Expression(None, Push(Constant("x"), Predicate(TRUE))),))
    compiled = compile_ecl({"": every})
    batch = batch_of(compiled, {0: Event(0, frozenset({"A"}), Interval(0, 0))})
    runtime.feed(compiled.plan, initial(compiled.plan), batch, 0)
    events_of(pa.array([b'{"a": "x"}']), (("a", pa.string()),))


class Session:
    """An ongoing detection: events come in batches, and `state` is all that detection keeps between them."""

    def __init__(
        self,
        subscriptions: abc.Sequence[Subscription],
        state: State | None = None,
        *,
        in_order: bool = True,
        points: bool = False,
        limit: int = runtime.MAX_TOKENS,
    ) -> None:
        self.compiled = compile(subscriptions, points=points)
        self.state = state or initial(self.compiled.plan, in_order=in_order)
        self._events: dict[int, Event] = {}  # by the handle under which the state holds them
        self._handles = 0
        self._limit = limit  # of the partial matches of a key

    def feed(self, events: Iterable[Event], until: int, *, last: bool = False) -> list[list[Composite]]:
        """The composites of each subscription in the next events, which all lie after those fed before.

        Time advances to `until`: timers up to then run out. After the `last` events nothing is kept.
        """
        batch = {self._handles + i: event for i, event in enumerate(events)}
        self._handles += len(batch)
        self._events |= batch
        batched = batch_of(self.compiled, batch)
        plan = self.compiled.plan
        result = runtime.feed(plan, self.state, batched, until, keep=not last, limit=self._limit)
        self.state = result.state or initial(plan)
        found = [
            [c for c in self._composites(result, output, names) if truth(output.where, _lookup(c)) is True]
            for output, names in zip(self.compiled.plan.outputs, self.compiled.graph.names, strict=True)
        ]
        held = () if self.state.events is None else self.state.events.column("handle").to_pylist()
        self._events = {handle: self._events[handle] for handle in held}
        return found

    def _composites(
        self, result: runtime.Result, output: Output, names: Mapping[int, str]
    ) -> list[Composite]:
        (number,) = output.detectors
        matches = result.matches[number]
        composites = []
        for i in range(len(matches.key)):
            part = slice(int(matches.offsets[i]), int(matches.offsets[i + 1]))
            record = Record(
                number,
                tuple(matches.refs[part].tolist()),
                tuple(matches.roles[part].tolist()),
                tuple(matches.times[part].tolist()),
                tuple(matches.variables[i].tolist()),
                int(matches.start[i]),
                int(matches.end[i]),
            )
            (key,) = result.keys.value(matches.key[i])
            composites.append(self._composite(result, record, output.name, names, key))
        return composites

    def _composite(
        self, result: runtime.Result, record: Record, name: str, names: Mapping[int, str], key: Value
    ) -> Composite:
        """A record as a composite event; `names` are those of the composites inside it that have one."""
        detector = self.compiled.plan.detectors[record.detector]
        handles = result.events.column("handle")
        constituents = []
        for ref, role, time in zip(record.refs, record.roles, record.times, strict=True):
            event: Event | TimerEvent | Composite
            if role < 0:
                called = detector.timer_names[-1 - role]
                event = TimerEvent(called, time)
            elif ref >= 0:
                called = detector.roles[role]
                event = self._events[handles[ref].as_py()]
            else:
                inner = result.composites[-2 - ref]
                called = names.get(inner.detector, composite_type(inner.detector))
                event = self._composite(result, inner, called, names, key)
            constituents.append(Constituent(called, event))
        bound = zip(detector.variable_names, record.variables, strict=True)
        variables = tuple((name, result.values[number]) for name, number in bound if number >= 0)
        return Composite(name, tuple(constituents), variables, key)


def _lookup(composite: Composite) -> Lookup:
    def values(operand: tuple[str, ...]) -> list[Value]:
        _, role, name = operand
        events = [c.event for c in composite.leaves() if c.role == role]
        return [event.attributes.get(name) for event in events if isinstance(event, Event)]

    return values


def batch_of(compiled: Compiled, batch: Mapping[int, Event]) -> runtime.Batch:
    """Events as a batch, each by the handle under which a state holds it."""
    events = list(batch.values())
    bits = np.zeros((len(events), compiled.plan.words), np.uint64)
    for bit, test in compiled.tests:
        for row, event in enumerate(events):
            if holds(test, event):
                bits[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    by_id = sorted(range(len(events)), key=lambda row: (isinstance(events[row].id, str), events[row].id))
    ranks = np.empty(len(events), np.int64)
    ranks[by_id] = np.arange(len(events))
    return runtime.Batch(
        pa.table({"handle": pa.array(batch, pa.int64())}),
        [[event.key for event in events]],
        np.array([event.interval.start for event in events], np.int64),
        np.array([event.interval.end for event in events], np.int64),
        ranks,
        bits,
        [[event.attributes.get(name) for event in events] for name in compiled.plan.columns],
    )


def holds(test: BitTest | FieldTest, event: Event) -> bool:
    """Whether an event satisfies a predicate."""
    if isinstance(test, FieldTest):
        return fields.holds(test.filter, fields.fields_of(event))
    if test.type is not None and test.type not in event.types:
        return False
    return test.filter is None or evaluate(test.filter, event.attributes, {}) is test.truth
