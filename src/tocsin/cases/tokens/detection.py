"""The matches that an engine finds in the events of a case and those it expects, in a comparable form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tocsin.algebra.tokens import semantics
from tocsin.algebra.tokens.selection import COUNT
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata import execute
from tocsin.cases.model import Case, Skip, only_keys
from tocsin.cases.tokens import trace
from tocsin.errors import CaseError
from tocsin.events import Catalog, Composite, Event, Interval
from tocsin.events.event import Nested
from tocsin.runtime.moments import FOREVER

if TYPE_CHECKING:
    from tocsin.cases.parts import Part

MATCH_KEYS = ("at", "events", "t", COUNT)


@dataclass(frozen=True, slots=True)
class Found:
    """A match: its events, the end of the last, the interval of all, and the arrival that completed it.

    `count` is how many matches it stands for, where only their number was wanted.
    """

    events: Nested
    at: int
    interval: Interval
    after: int | None = None
    count: int | None = None

    def part(self, key: str) -> Any:
        """The value of a match under a key of the case."""
        match key:
            case "events":
                return self.events
            case "at":
                return trace.seconds(self.at)
            case "t":
                return [trace.seconds(self.interval.start), trace.seconds(self.interval.end)]
            case "detected_after_arrival":
                return self.after
            case "count":
                return self.count
            case _:
                raise KeyError(key)


@dataclass(frozen=True, slots=True)
class Matches:
    """A request for the matches of a subscription in these events; the result is a list of `Found`."""

    subscription: Subscription
    events: Sequence[Event]
    key: tuple[str, ...]
    catalog: Catalog

    def part(self, number: int) -> Part:
        """The request as a part of a query."""
        # Imported here, because it loads Spark.
        from tocsin.cases.tokens.tables import matches_part

        return matches_part(self, number)


def found(subscription: Subscription, composite: Composite, after: int | None = None) -> Found:
    """A composite event of a subscription as a match."""
    last = composite.constituents[-1].event.interval.end
    count = composite.attributes[COUNT] if subscription.selection.take == "count" else None
    assert count is None or isinstance(count, int)
    return Found(composite.ids, last, composite.interval, after, count)


def detect(subscription: Subscription, case: Case, engine: str) -> list[Found]:
    """The matches that an engine in this process finds in the trace of a case."""
    events = trace.events(case)
    match engine:
        case "reference":
            return [found(subscription, composite) for composite in semantics.detect(subscription, events)]
        case "local":
            return [found(subscription, composite) for composite in execute.detect(subscription, events)]
        case _:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")


def asked(subscription: Subscription, case: Case, engine: str) -> Matches:
    """The request to Spark for the matches in the trace of a case."""
    events = trace.events(case)
    if engine == "stream" and _waits_for_the_end(subscription, events):
        raise Skip("a stream never ends, and what is asked is decided only at the end")
    types = [name for event in events for name in sorted(event.types)]
    return Matches(subscription, events, trace.key_names(case), trace.catalog(case, types))


def _waits_for_the_end(subscription: Subscription, events: Sequence[Event]) -> bool:
    """Whether some matches are found only because no further event can come."""
    so_far, in_the_end = (
        len(execute.Session([subscription]).feed(events, until)[0]) for until in (FOREVER - 1, FOREVER)
    )
    return so_far < in_the_end


def compared(
    expected: object, got: Sequence[Found], known: Sequence[str] = MATCH_KEYS
) -> tuple[object, object]:
    """Expected and found matches, each a sorted list with the keys that the case uses.

    All matches of a case must have the same keys; otherwise one with fewer keys could be taken for another.
    """
    if not isinstance(expected, list):
        raise CaseError("bad-case", "matches must be a list", hint="matches: [] if nothing is found")
    written = [only_keys(match, known, f"match {number}") for number, match in enumerate(expected, 1)]
    keys = [key for key in known if key in written[0]] if written else list(known)
    if not keys or any(set(match) != set(keys) for match in written):
        hint = "say the same of each: " + ", ".join(known)
        raise CaseError("bad-case", "the matches do not say the same things", hint=hint)
    # Matches that were not counted have no number to show.
    keys = [key for key in keys if key != COUNT or written or any(match.count is not None for match in got)]
    wanted = [{key: _expected_part(key, match[key]) for key in keys} for match in written]
    return _sorted(wanted), _sorted({key: match.part(key) for key in keys} for match in got)


def _expected_part(key: str, value: object) -> Any:
    match key:
        case "at":
            return trace.seconds(trace.moment(value))
        case "t":
            own = trace.interval(value)
            return [trace.seconds(own.start), trace.seconds(own.end)]
        case _:
            return value


def _sorted(matches: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(matches, key=lambda match: [str(value) for value in match.values()])
