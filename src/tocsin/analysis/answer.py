"""Answers, each with the shortest trace that shows it; and the search that finds such traces."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from tocsin.algebra.completion.fields import Fields

N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether it holds, and a trace that shows why; None where no single trace can show it."""

    holds: bool
    witness: tuple[Fields, ...] | None = None

    def __bool__(self) -> bool:
        return self.holds


def shortest(
    start: N, step: Callable[[N, int], N], symbols: int, found: Callable[[N], bool]
) -> tuple[int, ...] | None:
    """The shortest sequence of symbols that leads from `start` to what is looked for, or None.

    >>> shortest(0, lambda n, symbol: (2 * n + symbol) % 7, 2, lambda n: n == 5)
    (1, 0, 1)
    """
    came: dict[N, tuple[N, int] | None] = {start: None}
    queue = [start]
    for node in queue:
        if found(node):
            return _path(came, node)
        for symbol in range(symbols):
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
    """An event as a person would name it.

    >>> show_event({"type": "a"}), show_event({"type": "DATA", "altitude": 499}), show_event({})
    ('a', 'DATA(altitude = 499)', 'any other event')
    """
    rest = ", ".join(f"{name} = {value}" for name, value in event.items() if name != "type")
    kind = event.get("type")
    if isinstance(kind, frozenset):
        kind = "+".join(sorted(kind))
    if kind is None:
        return f"an event with {rest}" if rest else "any other event"
    return f"{kind}({rest})" if rest else str(kind)


def show_trace(events: Iterable[Fields]) -> str:
    """A trace in one line."""
    return " ".join(show_event(event) for event in events) or "no event at all"
