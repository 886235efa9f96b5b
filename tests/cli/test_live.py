"""The live view of a stream, and the record that all views show."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from tocsin.cli.display.live import Live, _span
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.record import Seen
from tocsin.spark.pipeline.report.progress import Lines

SEEN = Seen(
    query="[house]",
    batch=7,
    time="2024-01-01T09:00:00.500Z",
    seconds=1.25,
    until="2024-01-01T08:59:00.000Z",
    sources={"doors": Counters(1_200, 1_000, 150, 40, 0, 10)},
    matches={"Left": 3, "Through": 0},
    reached={"doors": "2024-01-01T09:00:00.000Z", "lamps": "2024-01-01T08:00:00.000Z", "gates": None},
    silent=("lamps",),
    state={"keys": 5, "partial_matches": 6, "waiting": 7, "bytes": 8_000},
    shards=({}, {}),
)


def test_a_record_in_words() -> None:
    assert SEEN.lag == 60.5
    assert SEEN.behind == {"doors": 0.0, "lamps": 3600.0, "gates": None}
    lines = StringIO()
    shown = Lines(lines)
    shown.begin("micro-batch 7")
    shown.batch(SEEN)
    assert lines.getvalue() == (
        "micro-batch 7: 1,200 events, 10 late, 40 dead; 3 Left; lamps is silent and not waited for; "
        "nothing was heard of gates yet (0.0 s)\n"
    )


def test_the_live_view_adds_up() -> None:
    console = Console(file=StringIO(), width=120)
    live = Live(console)
    live.batch(SEEN)
    live.batch(SEEN)
    console.print(live._view())
    shown = [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert shown[0].startswith("[house]: micro-batch 7 in 1.2 s, ")
    assert shown[1:-1] == [
        "decided until 2024-01-01T08:59:00.000Z, lag 1 min 0 s",
        "source   read   used  irrelevant  late  repeated  dead              latest event  behind",
        "doors   2,400  2,000         300    20         0    80  2024-01-01T09:00:00.000Z   0.0 s",
        "lamps                                                   2024-01-01T08:00:00.000Z  silent",
        "gates",
        "subscription  matches  of them new",
        "Left                6            3",
        "Through             0            0",
        "state  keys  partial matches  waiting  bytes  shards",
        "          5                6        7  8,000       2",
    ]
    assert shown[-1] == "… waiting for events (0 s)"
    assert live.rate > 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (0.04, "0.0 s"),
        (59.94, "59.9 s"),
        (61, "1 min 1 s"),
        (3_660, "1 h 1 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_spans_have_at_most_two_units(seconds: float | None, words: str) -> None:
    assert _span(seconds) == words


def test_a_stream_that_goes_on_is_shown_with_its_totals_and_latest_matches() -> None:
    console = Console(file=StringIO(), width=120)
    live = Live(console)
    live.resume({"doors": Counters(10, 10, 0, 0, 0)}, {"Left": 5, "Through": 0, "Came": 2})
    live.batch(replace(SEEN, alerts=[f"Left  at {n}" for n in range(20)]))
    console.print(live._view())
    shown = [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert any(line.startswith("doors   1,210  1,010") for line in shown)
    assert "Left                8            3" in shown
    assert "Came                2            0" in shown
    assert shown[shown.index("latest matches") + 1 : -1] == [f"  Left  at {n}" for n in range(12, 20)]


def test_many_subscriptions_are_counted_in_the_live_view() -> None:
    console = Console(file=StringIO(), width=120)
    live = Live(console)
    live.resume({}, {f"Rule{n}": n for n in range(300)})
    live.batch(SEEN)
    console.print(live._view())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert len(shown.splitlines()) < 40
    assert "282 others" in shown
