"""Delivery on Spark: ticks, the attributes that transformers set, keys, and nothing lost without a word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.calls import detect
from tocsin.algebra.correlation.delivery import Queue, offer
from tocsin.algebra.correlation.delivery import deliver as take
from tocsin.algebra.correlation.outcome import Output
from tocsin.errors import InputError
from tocsin.spark.deliver import deliver

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# Every event makes it send one, which is to be delivered as the event says.
SEND = """Notify correlation Send (Alarmed a, Noted b) l1:a | l2:b {
  case l1: push new Alarm { n = a.n, priority = a.level, expiry = a.wait, overwrite = a.replaces, drop = a.gives };
  case l2: push new Note { n = b.n, priority = b.level, expiry = b.wait, overwrite = b.replaces, drop = b.gives } }"""


class Event(NamedTuple):
    """An event at so many milliseconds, with what is to be sent for it."""

    n: int
    at: int
    type: str = "Alarmed"
    key: str = "x"
    level: int | None = None
    wait: int | None = None
    replaces: str | None = None
    gives: str | None = None


SCHEMA = "n int, at long, type string, key string, level int, wait int, replaces string, gives string"


def table(spark: SparkSession, events: list[Event]) -> DataFrame:
    return spark.createDataFrame(events, SCHEMA)


def matches(events: DataFrame, text: str | dict[str, str] = SEND, **more: Any) -> DataFrame:
    columns = {"language": "ksu", "time": "at", "time_unit": "ms", "id": "n", "key": "key"}
    return detect(events, text, **(columns | more))


def fates(delivered: DataFrame) -> dict[int, int | str]:
    """For each event the millisecond in which what it made was delivered, or why it was lost."""
    tables = delivered.schema["output"].dataType.names
    number = f"coalesce({', '.join(f'output.{table}.n' for table in tables)}) as n"
    rows = delivered.selectExpr(number, "unix_millis(delivered_at) as at", "lost").collect()
    assert all((row.at is None) != (row.lost is None) for row in rows)
    return {row.n: row.lost or row.at for row in rows}


def test_without_an_interval_everything_is_delivered_as_it_is_sent(spark: SparkSession) -> None:
    events = [
        Event(n, 10 * (n // 3), level=n % 2, wait=0, replaces="recent", gives="oldest") for n in range(9)
    ]
    assert fates(deliver(matches(table(spark, events)))) == {event.n: event.at for event in events}


def test_ticks_are_multiples_of_the_interval_and_what_is_sent_at_one_is_there(spark: SparkSession) -> None:
    events = [Event(n, at) for n, at in enumerate((-150, -100, 0, 1, 99, 100, 101, 1000))]
    found = fates(deliver(matches(table(spark, events)), every="100ms"))
    assert list(dict(sorted(found.items())).values()) == [-100, -100, 0, 100, 100, 100, 200, 1000]


def test_after_the_last_event_the_queue_is_emptied_tick_by_tick(spark: SparkSession) -> None:
    found = fates(deliver(matches(table(spark, [Event(n, 5) for n in range(5)])), every="1s", most=2))
    assert found == {0: 1000, 1: 1000, 2: 2000, 3: 2000, 4: 3000}


def test_the_urgent_come_first_and_equals_as_they_were_sent(spark: SparkSession) -> None:
    events = [Event(1, 1), Event(2, 2, level=5), Event(3, 3, "Noted", level=5), Event(4, 150, level=1)]
    found = fates(deliver(matches(table(spark, events)), every="100ms", most=1))
    assert found == {2: 100, 3: 200, 4: 300, 1: 400}


def test_what_one_event_makes_a_transformer_send_stays_in_order(spark: SparkSession) -> None:
    pushes = "".join(f"push new Alarm {{ n = {n} }};" for n in range(8))
    text = f"Alarm correlation Send (Alarmed a) l:a {{ case l: {pushes} }}"
    found = fates(deliver(matches(table(spark, [Event(0, 5)]), text), every="1s", most=1))
    assert found == {n: 1000 * (n + 1) for n in range(8)}


def test_what_expires_is_not_delivered_and_takes_no_room(spark: SparkSession) -> None:
    events = [Event(1, 50, wait=49), Event(2, 50, wait=50), Event(3, 60)]
    assert fates(deliver(matches(table(spark, events)), every="100ms")) == {1: "expired", 2: 100, 3: 100}
    events = [Event(1, 1, wait=10), Event(2, 20), Event(3, 30)]
    found = fates(deliver(matches(table(spark, events)), every="100ms", capacity=1))
    assert found == {1: "expired", 2: 100, 3: "dropped"}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("recent", {1: "overwritten", 2: 100, 3: 100, 4: 200}),
        ("earliest", {1: 100, 2: 100, 3: "overwritten", 4: 200}),
    ],
)
def test_events_of_one_type_overwrite_each_other_while_they_wait(
    spark: SparkSession, strategy: str, expected: dict[int, int | str]
) -> None:
    events = [
        Event(1, 1),
        Event(2, 2, "Noted"),
        Event(3, 3, replaces=strategy),
        Event(4, 101, replaces=strategy),
    ]
    assert fates(deliver(matches(table(spark, events)), every="100ms")) == expected


def test_events_that_are_sent_on_overwrite_those_of_their_own_port(spark: SparkSession) -> None:
    rows = [(1, 1, "left"), (2, 2, "right"), (3, 3, "left")]
    events = spark.createDataFrame(rows, "n int, at long, source string").selectExpr(
        "*", "'E' as type", "'x' as key", "'recent' as overwrite"
    )
    text = "E correlation On (E a, E b) l1:a | l2:b { case l1: push a; case l2: push b; }"
    ports = {"On": {"a": "left", "b": "right"}}
    found = deliver(matches(events, text, ports=ports), every="100ms").selectExpr(
        "unix_millis(end) n", "lost"
    )
    assert {row.n: row.lost for row in found.collect()} == {1: "overwritten", 2: None, 3: None}


@pytest.mark.parametrize(
    ("strategy", "lost"), [(None, 3), ("newest", 3), ("oldest", 1), ("lowest", 2), ("at random", 3)]
)
def test_a_full_queue_drops_what_the_newest_event_says(
    spark: SparkSession, strategy: str | None, lost: int
) -> None:
    events = [Event(1, 1, level=2), Event(2, 2, level=1), Event(3, 3, level=3, gives=strategy)]
    found = fates(deliver(matches(table(spark, events)), every="100ms", capacity=2))
    assert found == {1: 100, 2: 100, 3: 100} | {lost: "dropped"}


def test_payload_that_only_has_the_name_is_not_obeyed(spark: SparkSession) -> None:
    text = """Alarm correlation Send (Alarmed a, Noted b) l1:a | l2:b {
        case l1: push new Alarm { n = a.n, priority = a.key }; case l2: push new Note { n = b.n, priority = 1 } }"""
    found = deliver(matches(table(spark, [Event(1, 1), Event(2, 2, "Noted")]), text), every="100ms", most=1)
    assert fates(found) == {2: 100, 1: 200}


def test_each_subscription_and_key_has_a_queue_of_its_own(spark: SparkSession) -> None:
    events = [Event(n, n, key="xyz"[n % 3]) for n in range(6)]
    found = deliver(matches(table(spark, events), {"one": SEND, "two": SEND}), every="100ms", most=1)
    rows = found.selectExpr("pattern", "key", "unix_millis(delivered_at) at").collect()
    assert sorted(map(tuple, rows)) == [
        (pattern, key, at)
        for pattern in ("one", "two")
        for key in "xyz"
        for at in ((0, 100), (100, 200))[key > "x"]
    ]


def test_keys_of_several_columns_and_no_key_at_all(spark: SparkSession) -> None:
    events = table(spark, [Event(1, 1), Event(2, 2, "Noted"), Event(3, 3)])
    assert fates(deliver(matches(events, key=["key", "type"]), every="100ms", most=1)) == {
        1: 100,
        2: 100,
        3: 200,
    }
    assert fates(deliver(matches(events, key=None), every="100ms", most=1)) == {1: 100, 2: 200, 3: 300}


def test_keys_that_are_no_numbers_are_one_key(spark: SparkSession) -> None:
    events = table(spark, [Event(1, 1), Event(2, 2)]).selectExpr("*", "double('NaN') as number")
    assert fates(deliver(matches(events, key="number"), every="100ms", most=1)) == {1: 100, 2: 200}


def test_rows_keep_their_columns_and_those_that_send_nothing_are_left_out(spark: SparkSession) -> None:
    found = matches(table(spark, [Event(1, 1), Event(2, 2)]), options={"triggers": True}).selectExpr(
        "*", "7 as more"
    )
    assert {row.what for row in found.collect()} == {"push", "trigger"}
    delivered = deliver(found)
    assert delivered.columns == [*found.columns, "delivered_at", "lost"]
    pushed = found.where("what = 'push'")
    assert sorted(map(str, delivered.drop("delivered_at", "lost").collect())) == sorted(
        map(str, pushed.collect())
    )


def test_events_without_attributes_are_delivered(spark: SparkSession) -> None:
    text = "Alarm correlation Send (Alarmed a) l:a { case l: push new Alarm { } }"
    found = matches(table(spark, [Event(1, 1)]), text)
    assert "output" not in found.columns
    assert [row.lost for row in deliver(found, every="1s").collect()] == [None]


def test_of_nothing_nothing_is_delivered(spark: SparkSession) -> None:
    assert deliver(matches(table(spark, [])), every="1s", capacity=1, most=1).collect() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": "soon"}, "bad-duration: every cannot be 'soon'"),
        ({"every": "0s"}, "bad-duration: every cannot be '0s'"),
        ({"every": 5}, "bad-duration: every cannot be 5"),
        ({"every": "1s", "capacity": 0}, "bad-option: capacity cannot be 0"),
        ({"every": "1s", "most": True}, "bad-option: most cannot be True"),
        ({"most": 1}, "bad-option: most does not apply where no event waits"),
        ({"capacity": 1}, "bad-option: capacity does not apply where no event waits"),
    ],
)
def test_mistakes_are_told_at_once(spark: SparkSession, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        deliver(matches(table(spark, [])), **options)
    assert caught.value.hint


def test_tables_that_hold_nothing_to_deliver(spark: SparkSession) -> None:
    events = table(spark, [])
    with pytest.raises(InputError, match="unknown-column: the matches have no column 'what'"):
        deliver(matches(events, "[Alarmed]", language="core"))
    with pytest.raises(InputError, match="duplicate-name: the matches have a column 'delivered_at'"):
        deliver(deliver(matches(events)))
    with pytest.raises(InputError, match="streaming"):
        deliver(spark.readStream.format("rate").load())


events = st.lists(
    st.builds(
        Event,
        n=st.just(0),
        at=st.integers(0, 300),
        type=st.sampled_from(["Alarmed", "Noted"]),
        key=st.sampled_from([f"k{number}" for number in range(12)]),
        level=st.sampled_from([None, 1, 2]),
        wait=st.sampled_from([None, None, 0, 20, 100]),
        replaces=st.sampled_from([None, None, None, "recent", "earliest"]),
        gives=st.sampled_from([None, "oldest", "newest", "lowest"]),
    ),
    min_size=40,
    max_size=200,
).map(lambda drawn: [event._replace(n=n) for n, event in enumerate(drawn)])


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    events,
    st.sampled_from([None, 1, 3]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([7, 50, 100]),
    st.sampled_from([1, 3, 10_000]),
)
def test_every_event_has_the_fate_that_the_definitions_give_it(
    spark: SparkSession,
    events: list[Event],
    capacity: int | None,
    most: int | None,
    every: int,
    rows_at_once: int,
) -> None:
    expected = {}
    for key in {event.key for event in events}:
        own = sorted((event for event in events if event.key == key), key=lambda event: (event.at, event.n))
        expected |= dict(simulated(own, every, capacity, most))
    size = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(size)
    spark.conf.set(size, rows_at_once)
    try:
        delivered = deliver(matches(table(spark, events)), every=f"{every}ms", capacity=capacity, most=most)
        assert delivered.count() == len(events)
        assert fates(delivered) == expected
    finally:
        spark.conf.set(size, before)


def simulated(
    events: list[Event], every: int, capacity: int | None, most: int | None
) -> Iterator[tuple[int, int | str]]:
    """The fates of the events of one queue, tick after tick; all in milliseconds."""
    queue, tick, left = Queue(capacity), 0, list(events)
    while left or queue.waiting:
        while left and left[0].at <= tick:
            queue = offer(queue, output(left.pop(0)))
        queue, taken = take(queue, tick * 1000, most)
        yield from ((one.at, tick) for one in taken)
        tick += every
    yield from ((lost.output.at, lost.why) for lost in queue.lost)


def output(event: Event) -> Output:
    said = {"priority": event.level, "expiry": event.wait, "overwrite": event.replaces, "drop": event.gives}
    return Output(event.n, event.type, said, time=event.at * 1000)
