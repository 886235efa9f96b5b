"""Accounts of partial matches as values: what each took, what it waited for, and what ended it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tocsin.events import Catalog, Event, format_timestamp
from tocsin.languages.language import Language
from tocsin.values import Value

Outcome = Literal["matched", "ended", "waiting"]


@dataclass(frozen=True, slots=True)
class Happened:
    """An event, a composite or a timer; times are microseconds."""

    type: str
    start: int
    end: int
    id: int | str | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        said = " ".join(f"{name}={value}" for name, value in self.attributes.items() if value is not None)
        return f"{self.type} {shown_time(self.start, self.end)} {said}".rstrip()


@dataclass(frozen=True, slots=True)
class Taken:
    """An event of a partial match, with the name the pattern has for it."""

    role: str
    event: Happened


@dataclass(frozen=True, slots=True)
class PassedOver:
    """An event that a partial match might have taken, and why it did not."""

    event: Happened
    why: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A partial match.

    Args:
        of: the subscription, named composite, or branch that it belongs to.
        waits_for: what it waited for last, in the words of the language.
        outcome: whether it became a match, ended without one, or still waits.
        at: when it became a match or ended; None while it waits.
        ended_by: the event or timer that ended it.
        reason: why it ended, in words.
        due: timers that run while it waits, and when each runs out.
    """

    of: str
    taken: tuple[Taken, ...]
    waits_for: tuple[str, ...]
    outcome: Outcome
    at: int | None = None
    ended_by: Happened | None = None
    reason: str = ""
    due: Mapping[str, int] = field(default_factory=dict)
    passed_over: tuple[PassedOver, ...] = ()

    @property
    def began(self) -> int | None:
        """When its first event began."""
        return min((one.event.start for one in self.taken), default=None)


@dataclass(frozen=True, slots=True)
class Asked:
    """The input of a family: a parsed text, and the events of one key in order, up to a moment."""

    language: Language
    value: Any
    options: Any
    events: Sequence[Event]
    until: int
    catalog: Catalog | None = None
    name: str = "pattern"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a family. `waits_for`: the possible first events of a new match; empty if none can begin.

    `notes` say what concerns no single partial match.
    """

    attempts: tuple[Attempt, ...]
    waits_for: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WhyNot:
    """How far the partial matches of a pattern got among the events of a key.

    It prints as text, a notebook shows it as a timeline, and `to_dict` is the same for programs. Attempts are in the order of
    how far they got, the furthest first.
    """

    text: str
    language: str
    key: Mapping[str, Value]
    events: tuple[Happened, ...]
    until: int
    answer: Answer

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The partial matches, those that got furthest first."""
        return self.answer.attempts

    def having(self, outcome: Outcome) -> tuple[Attempt, ...]:
        """The partial matches with this outcome."""
        return tuple(one for one in self.attempts if one.outcome == outcome)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; times are ISO 8601, in UTC."""
        return {
            "text": self.text,
            "language": self.language,
            "key": dict(self.key),
            "until": format_timestamp(self.until),
            "events": [_plain(asdict(one)) for one in self.events],
            "attempts": [_plain(asdict(one)) for one in self.attempts],
            "waits_for": list(self.answer.waits_for),
            "notes": list(self.answer.notes),
        }

    def __str__(self) -> str:
        from tocsin.why_not.words import in_words

        return in_words(self)

    def _repr_html_(self) -> str:
        # Imported here, because only a notebook needs the drawing.
        from tocsin.why_not.timeline import timeline_html

        return timeline_html(self)


_TIMES = {"start", "end", "at"}


def _plain(value: Any, name: str = "") -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one, "at" if name == "due" else key) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return format_timestamp(value) if name in _TIMES and isinstance(value, int) else value


def shown_time(start: int, end: int | None = None) -> str:
    """A time, or an interval, as text; the date is left out where it is the first of 1970, as in test cases.

    >>> shown_time(90_000_000), shown_time(0, 1_500_000)
    ('00:01:30', '00:00:00..00:00:01.500000')
    """

    def one(moment: int) -> str:
        text = format_timestamp(moment).replace("T", " ")
        return text.removeprefix("1970-01-01 ")

    return one(start) if end is None or end == start else f"{one(start)}..{one(end)}"


def in_order(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Those that got furthest first; of equal ones those that did not become matches, then the latest."""
    return tuple(
        sorted(attempts, key=lambda one: (-len(one.taken), one.outcome == "matched", -(one.began or 0)))
    )
