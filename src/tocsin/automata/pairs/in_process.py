"""Detect a profile in this process, on the kernel that Spark's workers run.

>>> events = [Event(id, frozenset({id[0]}), Interval(t, t)) for id, t in (("a.1", 1), ("a.2", 2), ("b.1", 3))]
>>> [[part.id for part in match.parts] for match in detect(Wanted("p", sequence("a", "b", within=1)), events)]
[['a.2', 'b.1']]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tocsin.algebra.pairs.operators import sequence
from tocsin.automata.execute import batch_of
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.events import Event, Interval
from tocsin.runtime import feed as runtime
from tocsin.runtime import state as states
from tocsin.runtime.moments import FOREVER


class Part(NamedTuple):
    """An event in a match, or a time event, which has no id."""

    name: str  # of the event in the expression, or of the timer
    time: int
    id: int | str | None = None


class Match(NamedTuple):
    """An instance, with everything in it in the order of the operands; how they are nested is not told."""

    time: int
    start: int
    parts: tuple[Part, ...]


def detect(wanted: Wanted, events: Iterable[Event], until: int = FOREVER) -> list[Match]:
    """The instances of an expression in events of one key, in the order in which they are decided."""
    return Session(wanted).feed(events, until)


def warm() -> None:
    """Compile the kernels of the family, or load them from the cache."""
    events = [Event(n, frozenset({"ab"[n]}), Interval(n, n)) for n in range(2)]
    for how in ({"consumption": "delete"}, {}):
        detect(Wanted("", sequence("a", "b", within=9, **how)), events)  # type: ignore[arg-type]  # the words of its parameters


class Session:
    """An ongoing detection; between batches nothing is kept but the bytes of its state, and the ids it refers to."""

    def __init__(self, wanted: Wanted, *, in_order: bool = True, limit: int = runtime.MAX_TOKENS) -> None:
        self.compiled = compile_profiles([wanted])
        self.state = states.to_bytes(states.initial(self.compiled.plan, in_order=in_order))
        self.limit = limit
        self._events: dict[int, Event] = {}
        self._handles = 0

    def feed(self, events: Iterable[Event], until: int) -> list[Match]:
        """The instances that the next events decide, and those that time decides up to `until`."""
        batch = {self._handles + i: event for i, event in enumerate(events)}
        self._handles += len(batch)
        self._events |= batch
        plan = self.compiled.plan
        result = runtime.feed(
            plan, states.from_bytes(self.state), batch_of(self.compiled, batch), until, limit=self.limit
        )
        assert result.state is not None
        self.state = states.to_bytes(result.state)
        found = self._matches(result)
        held = () if result.state.events is None else result.state.events.column("handle").to_pylist()
        self._events = {handle: self._events[handle] for handle in held}
        return found

    @property
    def kept(self) -> int:
        """How many instances are kept."""
        return states.from_bytes(self.state).partial_matches

    def _matches(self, result: runtime.Result) -> list[Match]:
        matches, detector = result.matches[0], self.compiled.plan.detectors[0]
        handles = result.events.column("handle").to_pylist()
        found = []
        for number in range(len(matches.key)):
            parts = []
            for at in range(int(matches.offsets[number]), int(matches.offsets[number + 1])):
                ref, role, time = int(matches.refs[at]), int(matches.roles[at]), int(matches.times[at])
                if role < 0:
                    parts.append(Part(detector.timer_names[-1 - role], time))
                else:
                    parts.append(Part(detector.roles[role], time, self._events[handles[ref]].id))
            found.append(Match(int(matches.end[number]), int(matches.start[number]), tuple(parts)))
        return found
