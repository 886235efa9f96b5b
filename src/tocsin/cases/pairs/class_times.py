"""The trace of a case: `[class, time]` with the time in seconds; ids are `class.occurrence`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tocsin.algebra.pairs.expression import Expression, primitives
from tocsin.cases.model import Case
from tocsin.errors import CaseError
from tocsin.events import Event, Interval, Value

SECOND = 1_000_000
TICK = "time event"  # a type that no expression can name without backquotes
Attributes = Mapping[str, Sequence[Mapping[str, Value]]]


def events_of(case: Case, expression: Expression, attributes: Attributes | None = None) -> list[Event]:
    """The events of a case. The expression may call the class `e1` also E1, as Unland and Zimmer do.

    `attributes`: by class, those of its first event, its second, and so on; the last ones are those of all that follow.
    """
    spelled = {primitive.name.lower(): primitive.name for primitive in primitives(expression)}
    seen: Counter[str] = Counter()
    found = []
    for written in case.get("trace") or ():
        if not isinstance(written, list) or len(written) != 2 or not isinstance(written[1], int):
            raise CaseError("bad-case", f"{written!r} is no event", hint="[class, time]")
        name, time = str(written[0]), written[1] * SECOND
        seen[name] += 1
        given = (attributes or {}).get(name, ())
        own = given[min(seen[name], len(given)) - 1] if given else {}
        types = frozenset({spelled.get(name, name)})
        found.append(Event(f"{name}.{seen[name]}", types, Interval(time, time), own))
    return found


def ticks_of(case: Case) -> list[int] | None:
    """The times at which the clock of a case ticks; None if it says nothing about a clock."""
    ticks = (case.get("params") or {}).get("ticks")
    if ticks is None:
        return None
    if not isinstance(ticks, list) or not all(isinstance(tick, int) for tick in ticks):
        raise CaseError("bad-case", f"ticks cannot be {ticks!r}", hint="a list of times")
    return [tick * SECOND for tick in ticks]


def seconds(time: int) -> int:
    """A time as the cases write it."""
    return time // SECOND
