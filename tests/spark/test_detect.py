"""Detection on Spark: columns, keys, times, ids, rows that are not events, and inputs at the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tocsin
from tocsin.errors import InputError, PatternErrors
from tocsin.spark.detect import detect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = [
    (1, "A", 1, "x", 5),
    (2, "B", 2, "x", 6),
    (3, "A", 3, "y", 7),
    (4, "B", 9, "y", 8),
    (5, "C", 4, "y", 1),
]
SCHEMA = "id long, type string, t long, key string, v int"


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


def ids(found: DataFrame) -> list[list[str]]:
    return sorted([c.id for c in row.constituents] for row in found.collect())


def test_events_of_a_key_are_matched_among_themselves(events: DataFrame) -> None:
    assert ids(detect(events, "[A];[B]", tocsin.Columns(time_unit="s", id="id"), time="t", key="key")) == [
        ["1", "2"],
        ["3", "4"],
    ]
    assert ids(detect(events, "[A];[B]", tocsin.Columns(time_unit="s", id="id"), time="t")) == [
        ["1", "2"],
        ["3", "4"],
    ]
    assert ids(detect(events, "[A];[C]", tocsin.Columns(time_unit="s", id="id"), time="t", key="key")) == [
        ["3", "5"]
    ]


def test_several_key_columns_keep_their_names(events: DataFrame) -> None:
    found = detect(events, "[A]", tocsin.Columns(time_unit="s"), time="t", key=["key", "v"]).collect()
    assert sorted((row.key, row.v) for row in found) == [("x", 5), ("y", 7)]


def test_match_ids_stay_the_same_whatever_the_partitions_and_the_name(
    spark: SparkSession, events: DataFrame
) -> None:
    def match_ids(frame: DataFrame, name: str) -> list[str]:
        return sorted(
            r.match_id
            for r in detect(
                frame, {name: "[A];[B]"}, tocsin.Columns(time_unit="s"), time="t", key="key"
            ).collect()
        )

    first = match_ids(events, "one")
    assert first == match_ids(events.repartition(5).orderBy("v"), "two")
    assert len(set(first)) == 2


def test_equal_rows_are_two_events(spark: SparkSession) -> None:
    rows = [("A", 1), ("A", 1), ("B", 2)]
    found = detect(
        spark.createDataFrame(rows, "type string, t long"), "[A];[B]", tocsin.Columns(time_unit="s"), time="t"
    ).collect()
    assert len(found) == 2
    assert len({row.match_id for row in found}) == 2


def test_a_table_without_a_type_column_holds_one_type(spark: SparkSession) -> None:
    frame = spark.sql(
        "select timestamp'2024-01-01 00:00:00' + make_dt_interval(0, 0, 0, id) at, id v from range(5)"
    )
    assert detect(frame, "[Event(v = 1)];[Event(v = 3)]").count() == 1
    assert detect(frame, "[Reading(v = 1)]", tocsin.Columns(event_type="Reading")).count() == 1


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("cast(t as double)", "s"),
        ("t * 1000", "ms"),
        ("t * 1000000", "us"),
        ("t * 1000000000", "ns"),
        ("timestamp_seconds(t)", None),
        ("cast(timestamp_seconds(t) as timestamp_ntz)", None),
    ],
)
def test_times_of_every_kind_mean_the_same(events: DataFrame, column: str, unit: str | None) -> None:
    frame = events.selectExpr("id", "type", f"{column} as when")
    found = detect(frame, "([A], [B])_{T1=3s}", tocsin.Columns(time_unit=unit, id="id"), time="when")
    assert ids(found) == [["1", "2"]]
    assert found.selectExpr("unix_seconds(start) s", "unix_seconds(end) e").first() == (1, 2)


def test_the_time_zone_of_the_session_makes_no_difference(spark: SparkSession, events: DataFrame) -> None:
    frame = events.selectExpr("id", "type", "timestamp_seconds(t) as time")
    pattern = "([A], [T1 in {T1, B}])_{T1@1970-01-01T00:00:05}"
    utc = [
        (r.match_id, [c.id for c in r.constituents])
        for r in detect(frame, pattern, tocsin.Columns(id="id")).collect()
    ]
    spark.conf.set("spark.sql.session.timeZone", "Pacific/Auckland")
    try:
        there = [
            (r.match_id, [c.id for c in r.constituents])
            for r in detect(frame, pattern, tocsin.Columns(id="id")).collect()
        ]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert utc == there == [(utc[0][0], ["3", None])]


def test_attributes_that_are_carried_can_be_chosen(events: DataFrame) -> None:
    row = detect(events, "[C]", tocsin.Columns(time_unit="s"), time="t").first()
    assert row.constituents[0].attributes.asDict() == {"id": 5, "key": "y", "v": 1}
    row = detect(events, "[C]", tocsin.Columns(time_unit="s", attributes=["v"]), time="t").first()
    assert row.constituents[0].attributes.asDict() == {"v": 1}
    assert (
        "attributes"
        not in detect(events, "[C]", tocsin.Columns(time_unit="s", attributes=[]), time="t")
        .first()
        .constituents[0]
    )


def test_columns_of_matches_can_be_chosen(events: DataFrame) -> None:
    def reporting(*names: str) -> DataFrame:
        columns = tocsin.Columns(time_unit="s", id="id", report=names)
        return detect(events, "[A];[B]", columns, time="t", key="key")

    found = reporting("end", "key")
    assert found.columns == ["end", "key"]
    assert sorted(row.key for row in found.collect()) == ["x", "y"]
    with pytest.raises(InputError, match="no column 'ends'") as caught:
        reporting("ends")
    assert caught.value.hint == "did you mean 'end'?"
    with pytest.raises(InputError, match="no column of the matches"):
        reporting()


def test_fields_of_structs_are_attributes(spark: SparkSession) -> None:
    frame = spark.sql("select 'A' type, timestamp'2024-01-01' time, named_struct('name', 'jean') user")
    assert detect(frame, "[A(user.name = 'jean')]").count() == 1
    assert detect(frame, "[A(user.name = 'brian')]").count() == 0


def test_irrelevant_events_do_not_travel(events: DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    detect(events, "[A(v > 5)]", tocsin.Columns(time_unit="s"), time="t", key="key").explain()
    plan = capsys.readouterr().out
    before_exchange = plan[plan.index("Exchange") :]
    assert "Filter" in before_exchange
    assert "MapInArrow" in plan[: plan.index("Exchange")]


def test_an_empty_table_has_no_matches(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], SCHEMA)
    assert detect(frame, "[A];[B]", tocsin.Columns(time_unit="s"), time="t", key="key").count() == 0


def test_a_pattern_that_can_never_match_finds_nothing(events: DataFrame) -> None:
    assert detect(events, "[!A in {A}]", tocsin.Columns(time_unit="s"), time="t").count() == 0
    assert detect(events, "[A(v > 5 AND v < 2)]", tocsin.Columns(time_unit="s"), time="t").count() == 0


def test_a_key_that_is_null_fails_or_is_dropped(spark: SparkSession) -> None:
    frame = spark.createDataFrame([*ROWS, (6, "A", 5, None, 1), (7, "B", 6, None, 1)], SCHEMA)
    with pytest.raises(Exception, match="no key in column 'key'"):
        detect(frame, "[A];[B]", tocsin.Columns(time_unit="s"), time="t", key="key").collect()
    found = detect(
        frame,
        "[A];[B]",
        tocsin.Columns(time_unit="s", id="id"),
        tocsin.Run(unreadable="drop"),
        time="t",
        key="key",
    )
    assert ids(found) == [["1", "2"], ["3", "4"]]


def test_a_time_that_is_null_or_backwards_fails(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("A", None, 1), ("A", 5, 4)], "type string, a long, b long")
    with pytest.raises(Exception, match="no time in column 'a'"):
        detect(frame.limit(1), "[A]", tocsin.Columns(time_unit="s"), time=("a", "b")).collect()
    with pytest.raises(Exception, match="it ends before it starts"):
        detect(frame.where("a = 5"), "[A]", tocsin.Columns(time_unit="s"), time=("a", "b")).collect()
    assert (
        detect(
            frame, "[A]", tocsin.Columns(time_unit="s"), tocsin.Run(unreadable="drop"), time=("a", "b")
        ).count()
        == 0
    )


def test_a_million_events_of_one_key(spark: SparkSession) -> None:
    """Half of the events wait for one that comes once, at the end: tokens pile up, but do not slow each other down."""
    frame = spark.range(1_000_000).selectExpr(
        "id", "if(id = 999999, 'C', if(id % 2 = 0, 'A', 'B')) type", "timestamp_millis(id) time", "'one' key"
    )
    found = detect(frame, "[A][C]", tocsin.Columns(id="id", attributes=[]), key="key")
    assert found.count() == 500_000
    near = detect(frame, "([A], [C])_{T1=10s}", tocsin.Columns(id="id", attributes=[]), key="key")
    assert near.count() == 5_000


def test_too_many_partial_matches_are_a_clear_error(events: DataFrame) -> None:
    many = events.sparkSession.range(1000).selectExpr("'A' type", "timestamp_seconds(id) time", "'x' key")
    with pytest.raises(Exception, match=r"more than 100 partial matches wait at once \(key: 'x'\)"):
        detect(many, "[A(key = $x)][B(key = $x)]", tocsin.Run(max_partial_matches=100), key="key").collect()


def test_too_many_matches_are_a_clear_error(events: DataFrame) -> None:
    many = events.sparkSession.range(40).selectExpr("'A' type", "timestamp_seconds(id) time", "'x' key")
    with pytest.raises(Exception, match=r"one event completes more than 1,000 matches, .* \(key: 'x'\)"):
        detect(many, "[A][A]* with matches = any", tocsin.Run(max_partial_matches=1000), key="key").collect()


def test_mistakes_in_names_of_columns_have_hints(events: DataFrame) -> None:
    with pytest.raises(InputError, match="did you mean 'key'"):
        detect(events, "[A]", tocsin.Columns(time_unit="s"), time="t", key="kay")
    with pytest.raises(InputError, match="say time_unit"):
        detect(events, "[A]", time="t")
    with pytest.raises(InputError, match="which column is the time"):
        detect(events, "[A]")
    with pytest.raises(InputError, match="is a string"):
        detect(events, "[A]", time="key")
    with pytest.raises(PatternErrors, match="known: id, key") as caught:
        detect(events, "[A(w = 1)][B(v = 'x')]", tocsin.Columns(time_unit="s"), time="t")
    assert [error.code for error in caught.value.errors] == ["unknown-attribute", "type-mismatch"]


def test_fields_of_a_struct_are_attributes(spark: SparkSession) -> None:
    rows = [(1, "A", (5, "x")), (2, "B", (5, "y")), (3, "B", (6, "y"))]
    frame = spark.createDataFrame(rows, "t long, type string, at struct<floor: int, room: string>")
    for text in ("[A(at.floor=$f)];[B(at.floor=$f)]", "[A];[B(at.room='y')] where A.at.floor = B.at.floor"):
        (row,) = detect(frame, text, tocsin.Columns(time_unit="s", id="t"), time="t").collect()
        assert [c.id for c in row.constituents] == ["1", "2"], text
    found = detect(
        frame,
        "repeat {push(Up {to = event.at.floor}) {B}}",
        tocsin.Columns(time_unit="s"),
        language="ecl",
        time="t",
    )
    assert sorted(row.output.Up.to for row in found.collect()) == [5, 6]
