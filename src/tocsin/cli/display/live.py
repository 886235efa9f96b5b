"""The live view of a stream on a terminal: what it reads, finds and keeps."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live as Shown
from rich.table import Table
from rich.text import Text

from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.record import Seen

_SPAN = 10.0  # seconds over which the rate of events is taken
_ALERTS = 8  # latest matches
_LISTED = 20  # subscriptions


class Live:
    """Shows a stream on standard error, with the totals that its report would have.

    A context manager: whatever happens, the terminal is left as it was.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._step = "starting"
        self._began = time.monotonic()
        self._last: Seen | None = None
        self._sources: dict[str, Counters] = {}
        self._matches: dict[str, int] = {}
        self._alerts: deque[str] = deque(maxlen=_ALERTS)
        self._read: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])  # when, and how many so far
        self._shown = Shown(console=self._console, get_renderable=self._view, refresh_per_second=2)

    def __enter__(self) -> Live:
        self._shown.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._shown.stop()

    @property
    def alerts(self) -> int:
        """How many of the latest matches are shown."""
        return _ALERTS

    def resume(self, sources: Mapping[str, Counters], matches: Mapping[str, int]) -> None:
        """Begin with the totals of the runs before."""
        self._sources, self._matches = dict(sources), dict(matches)

    def begin(self, step: str) -> None:
        self._step, self._began = step, time.monotonic()

    def done(self, result: str) -> None:
        seconds = f"{time.monotonic() - self._began:.1f} s"
        self._console.print(f"✓ {self._step}: {result} ({seconds})", markup=False, highlight=False)

    def batch(self, seen: Seen) -> None:
        nothing = Counters(0, 0, 0, 0, 0)
        for name, counters in seen.sources.items():
            self._sources[name] = self._sources.get(name, nothing) + counters
        for name, count in seen.matches.items():
            self._matches[name] = self._matches.get(name, 0) + count
        self._read.append((time.monotonic(), self._read[-1][1] + seen.total.read))
        while len(self._read) > 2 and self._read[1][0] < self._read[-1][0] - _SPAN:
            self._read.popleft()
        self._alerts.extend(seen.alerts)
        self._last = seen
        self._step, self._began = "waiting for events", time.monotonic()

    @property
    def rate(self) -> float:
        """The recent rate of events a second; it falls while no events arrive."""
        (first, before), (_, now) = self._read[0], self._read[-1]
        return (now - before) / max(time.monotonic() - first, 1e-3)

    def _view(self) -> Group:
        running = Text(f"… {self._step} ({time.monotonic() - self._began:.0f} s)", style="dim")
        if self._last is None:
            return Group(running)
        tables = _tables(self._last, self._sources, self._matches, self.rate)
        return Group(*tables, *_latest(self._alerts), running)


def _tables(
    seen: Seen, sources: dict[str, Counters], matches: dict[str, int], rate: float
) -> list[Table | Text]:
    """The display of a stream: a line for the whole, and tables of sources, subscriptions and state."""
    until = seen.until or "nothing yet"
    lag = "" if seen.lag is None else f", lag {_span(seen.lag)}"
    head = Text(
        f"{seen.query}: micro-batch {seen.batch} in {seen.seconds:.1f} s, {rate:,.0f} events/s", style="bold"
    )
    decided = Text(f"decided until {until}{lag}")
    uses = ("read", "used", "irrelevant", "late", "repeated", "dead")
    of_sources = _table("source", *uses, "latest event", "behind")
    behind = seen.behind
    for name in dict.fromkeys((*sources, *seen.reached)):
        one = sources.get(name)
        counts = [getattr(one, use, "") for use in uses]  # empty for one that detection waits for
        of_sources.add_row(
            Text(name),
            *(_number(count) for count in counts),
            seen.reached.get(name) or "",
            "silent" if name in seen.silent else _span(behind.get(name)),
        )
    found = _table("subscription", "matches", "of them new")
    for name in _shown(matches, seen):
        found.add_row(Text(name), _number(matches[name]), _number(seen.matches.get(name, 0)))
    if len(matches) > found.row_count:
        left = len(matches) - found.row_count
        rest = sum(matches.values()) - sum(matches[name] for name in _shown(matches, seen))
        found.add_row(Text(f"{left:,} others"), _number(rest), "")
    state = _table("state", "keys", "partial matches", "waiting", "bytes", "shards")
    figures = (seen.state.get(name, 0) for name in ("keys", "partial_matches", "waiting", "bytes"))
    state.add_row("", *(_number(figure) for figure in figures), _number(len(seen.shards)))
    return [head, decided, of_sources, found, state]


def _latest(alerts: Iterable[str]) -> list[Text]:
    """The latest matches, the last one at the bottom."""
    lines = [Text(f"  {alert}", no_wrap=True, overflow="ellipsis") for alert in alerts]
    return [Text("latest matches", style="dim"), *lines] if lines else []


def _table(*head: str) -> Table:
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for number, name in enumerate(head):
        table.add_column(name, justify="right" if number else "left", no_wrap=True)
    return table


def _shown(matches: Mapping[str, int], seen: Seen) -> list[str]:
    """The subscriptions to list: all of few; of many those that found something last, then those that found most."""
    if len(matches) <= _LISTED:
        return list(matches)
    return sorted(matches, key=lambda name: (-seen.matches.get(name, 0), -matches[name]))[:_LISTED]


def _number(count: int | str) -> str:
    return count if isinstance(count, str) else f"{count:,}"


def _span(seconds: float | None) -> str:
    """A span of time in words, in at most two units."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    for size, name, part, smaller in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min")):
        if whole >= size:
            return f"{whole // size} {name} {whole % size // part} {smaller}"
    return f"{whole // 60} min {whole % 60} s"
