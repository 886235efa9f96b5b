"""A replay on Spark finds what the service finds when it is told of the same arrivals, after the same arrivals."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from support.calls import replay
from tocsin.errors import InputError
from tocsin.events import Catalog, Composite, Event, Interval, trace
from tocsin.service import Service, SubscriptionOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECOND = 1_000_000
SOURCES = ("s1", "s2", "s3")
PATTERN = "C1 := ([A][B]); ([C1], [A] | [T1])_{T1=4s}"
SCHEMA = "id long, type string, start long, end long, room string, source string, arrival long"
COLUMNS: dict[str, Any] = {
    "id": "id", "time": ("start", "end"), "time_unit": "us", "source": "source", "arrival": "arrival",
}  # fmt: skip


def log(seed: int, size: int = 150) -> list[Event]:
    """Events in the order they arrive: each source in its own order, the sources in any."""
    chance = random.Random(seed)
    events = []
    for number in range(size):
        end = chance.randrange(60)
        interval = Interval((end - chance.choice((0, 0, 0, 2))) * SECOND, end * SECOND)
        room, source = chance.choice("pq"), chance.choice(SOURCES)
        types = frozenset({chance.choice("ABX")})
        events.append(Event(number, types, interval, {"room": room}, source=source))
    queues = defaultdict(list)
    for event in trace(events):
        queues[event.source].append(event)
    order = [event.source for event in events]
    chance.shuffle(order)
    return [queues[source].pop(0) for source in order]


def rows(arriving: list[Event]) -> list[tuple[Any, ...]]:
    return [
        (e.id, *e.types, e.interval.start, e.interval.end, e.attributes["room"], e.source, number)
        for number, e in enumerate(arriving)
    ]


def served(arriving: list[Event], **options: Any) -> list[tuple[Any, ...]]:
    """What the service calls back with, and after which arrival."""
    found: list[Composite] = []
    told = []
    service = Service(Catalog(), sources=SOURCES)
    service.subscribe(PATTERN, found.append, key="room", **options)
    for number, event in enumerate(arriving):
        service.publish(event)
        told += [(number, one.key, [_name(c.event) for c in one.leaves()]) for one in found]
        found.clear()
    return sorted(told)


def _name(event: Any) -> str:
    return str(event.id) if isinstance(event, Event) else str(event.name)


@pytest.mark.parametrize(
    ("detection", "options"),
    [
        ("best-effort", {"policy": "best-effort"}),
        ("guaranteed", {"policy": "guaranteed"}),
        ("guaranteed", {"policy": "guaranteed", "stability": "same-source"}),
        ("probabilistic(0.6)", {"policy": "probabilistic", "threshold": 0.6}),
    ],
)
def test_a_replay_finds_what_the_service_finds(
    spark: SparkSession, detection: str, options: dict[str, Any]
) -> None:
    arriving = log(seed=3)
    frame = spark.createDataFrame(rows(arriving), SCHEMA)
    found = replay(frame, PATTERN, key="room", sources=SOURCES, **COLUMNS, **options).collect()
    literal = {"stability": options["stability"]} if "stability" in options else {}
    expected = served(arriving, detection=detection, options=SubscriptionOptions(**literal))
    assert len(expected) > 5
    assert expected == sorted(
        (row["detected_at"], row["room"], [c["id"] or c["role"] for c in row["constituents"]])
        for row in found
    )


def test_a_replay_tells_when_by_the_clock_of_the_log(spark: SparkSession) -> None:
    noon = datetime(2004, 1, 30, 12, tzinfo=UTC)
    minutes = [noon + timedelta(minutes=n) for n in range(5)]
    # B is in time; of the door nothing earlier than 12:02 can come once it beats, without a type or a room.
    arrivals = [
        (minutes[1], "thermometer", "B", minutes[1]),
        (minutes[2], "door", "A", minutes[0]),
        (minutes[4], "door", None, minutes[2]),
    ]
    frame = spark.createDataFrame(arrivals, "arrival timestamp, source string, type string, time timestamp")
    (match,) = (
        replay(frame, "[A];[B] with detection = guaranteed", arrival="arrival", source="source", time="time")
        .toArrow()
        .to_pylist()
    )
    assert match["detected_at"] == minutes[4]
    assert match["end"] == minutes[1]


def test_what_is_wrong_is_said_before_anything_runs(spark: SparkSession) -> None:
    frame = spark.createDataFrame(rows(log(seed=1, size=3)), SCHEMA)
    with pytest.raises(InputError, match="did you mean 'arrival'"):
        replay(frame, "[A]", **COLUMNS | {"arrival": "arival"})
    with pytest.raises(InputError, match="did you mean 'guaranteed'"):
        replay(frame, "[A]", policy="garanteed", **COLUMNS)
    with pytest.raises(InputError, match="threshold"):
        replay(frame, "[A]", policy="probabilistic", **COLUMNS)


def test_a_row_that_did_not_arrive_is_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1, "A", 0, 0, "p", "s1", None)], SCHEMA)
    with pytest.raises(Exception, match="no arrival in column 'arrival'"):
        replay(frame, "[A]", **COLUMNS).collect()
