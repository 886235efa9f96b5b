"""Results of analyses, each with its witness, the shortest trace that shows it; and the search for witnesses."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tocsin.algebra.completion.fields import Fields
from tocsin.analysis.budget import Budget
from tocsin.errors import PatternError, Span

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a property holds, and a trace that shows why; None where no single trace can show it."""

    holds: bool
    witness: tuple[Fields, ...] | None = None

    def __bool__(self) -> bool:
        return self.holds


class WitnessedError(PatternError):
    """A warning with the shortest trace that shows it."""

    def __init__(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        hint: str | None = None,
        witness: tuple[Fields, ...] | None = None,
    ) -> None:
        super().__init__(code, message, span, hint)
        self.witness = witness


def shortest(
    start: N,
    step: Callable[[N, int], N],
    symbols: Sequence[int],
    found: Callable[[N], bool],
    budget: Budget | None = None,
) -> tuple[int, ...] | None:
    """The shortest sequence of symbols that leads from `start` to a state for which `found` holds, or None.

    >>> shortest(0, lambda n, symbol: (2 * n + symbol) % 7, [0, 1], lambda n: n == 5)
    (1, 0, 1)
    """
    budget = budget or Budget()
    came: dict[N, tuple[N, int] | None] = {start: None}
    queue = [start]
    for node in queue:
        if found(node):
            return _path(came, node)
        budget.spend(len(symbols))
        for symbol in symbols:
            after = step(node, symbol)
            if after not in came:
                came[after] = (node, symbol)
                queue.append(after)
    return None


def _path(came: dict[N, tuple[N, int] | None], node: N) -> tuple[int, ...]:
    symbols: list[int] = []
    while (before := came[node]) is not None:
        node, symbol = before
        symbols.append(symbol)
    return tuple(reversed(symbols))


def show_event(event: Fields) -> str:
    """An event in words.

    >>> show_event({"type": "a"}), show_event({"type": "DATA", "altitude": 499}), show_event({"altitude": 5})
    ('a', 'DATA(altitude = 499)', 'an event with altitude = 5')
    """
    kind, rest = _parts(event)
    if kind is None:
        return f"an event with {rest}" if rest else "any other event"
    return f"{kind}({rest})" if rest else kind


def show_briefly(event: Fields) -> str:
    """An event in short form, for lists of events.

    >>> show_briefly({"type": "DATA", "altitude": 499}), show_briefly({"altitude": 5}), show_briefly({})
    ('DATA(altitude = 499)', '(altitude = 5)', '(other)')
    """
    kind, rest = _parts(event)
    return show_event(event) if kind is not None else f"({rest or 'other'})"


def _parts(event: Fields) -> tuple[str | None, str]:
    """The type of an event, if it has one, and its other fields."""
    rest = ", ".join(f"{name} = {value}" for name, value in event.items() if name != "type")
    kind = event.get("type")
    if isinstance(kind, frozenset):
        kind = "+".join(sorted(kind))
    return None if kind is None else str(kind), rest


def show_trace(events: Iterable[Fields]) -> str:
    """A trace in one line.

    >>> show_trace([{}]), show_trace([{"type": "a"}, {}]), show_trace([])
    ('any other event', 'a (other)', 'no event at all')
    """
    listed = list(events)
    if len(listed) == 1:
        return show_event(listed[0])
    return " ".join(map(show_briefly, listed)) or "no event at all"
