"""A stream gives the answer of the table: whatever the pieces, the order of arrival within the delay, and restarts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tocsin
from strategies import SECOND, subscriptions, traces
from tocsin.algebra.check import check
from tocsin.algebra.pattern import specs
from tocsin.algebra.predicate import attributes
from tocsin.algebra.subscription import Subscription
from tocsin.automata.compile import Compiled, compile
from tocsin.automata.execute import holds
from tocsin.errors import InputError
from tocsin.events import Catalog, Event, Interval
from tocsin.runtime.feed import FOREVER, MAX_TOKENS
from tocsin.runtime.matches import match_schema
from tocsin.runtime.pack import from_ipc, pack
from tocsin.runtime.partition import Job, detect_partition
from tocsin.runtime.program import to_bytes
from tocsin.runtime.shard import ShardJob, advance
from tocsin.spark.failures import explain_failure
from tocsin.spark.job import taken_fields

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {"k": "int", "v": "float", "s": "string", "f": "bool"}
ARROW = {"k": pa.int64(), "v": pa.float64(), "s": pa.string(), "f": pa.bool_()}
ABSENCE = "([A], [T1 in {T1, B}])_{T1=5s}"


# A shard, without Spark


def job_of(compiled: Compiled, late: str = "fail", shards: int = 1) -> ShardJob:
    schema = match_schema(pa.string(), None)
    return ShardJob(
        Job(to_bytes(compiled.plan), schema.serialize().to_pybytes(), 1, MAX_TOKENS), shards, late
    )


def prepared(compiled: Compiled, events: Sequence[Event]) -> pa.Table:
    """Events as the rows that Spark prepares."""
    words = [0] * len(events)
    for bit, test in compiled.tests:
        words = [word | holds(test, event) << bit for word, event in zip(words, events, strict=True)]
    columns = {
        "start": pa.array([e.interval.start for e in events], pa.int64()),
        "end": pa.array([e.interval.end for e in events], pa.int64()),
        "key0": pa.array([e.key for e in events], pa.string()),
        "id": pa.array([e.id for e in events], pa.int64()),
        "type": pa.array([min(e.types) for e in events], pa.string()),
    }
    for number in range(compiled.plan.words):
        own = [word >> 64 * number & (1 << 64) - 1 for word in words]
        columns[f"bits{number}"] = pa.array(own, pa.uint64()).view(pa.int64())
    for prefix, names in (("value", compiled.plan.columns), ("field", sorted(taken_fields(compiled)))):
        for name in names:
            values = pa.array([e.attributes.get(name) for e in events], ARROW.get(name, pa.string()))
            columns[f"{prefix}:{name}"] = values
    return pa.table(columns)


def of_columns(subscription: Subscription) -> bool:
    """Whether a pattern looks only at attributes that a table can hold, each of one kind."""
    patterns = [subscription.pattern, *(d.pattern for d in subscription.definitions)]
    named = {name for pattern in patterns for spec in specs(pattern) for name in attributes(spec.filter)}
    in_table = "m" not in named and "m." not in f"{subscription.where!r}"
    return in_table and not check(subscription, Catalog(common=COLUMNS))


def rows(found: pa.Table) -> list[str]:
    return sorted(map(repr, found.to_pylist()))


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=120)
@given(
    st.lists(subscriptions().filter(of_columns), min_size=4, max_size=4),
    traces(max_size=16, keys=("p", "p", "p", "q")),
    st.data(),
)
def test_any_arrival_within_the_delay_gives_what_the_table_gives(
    many: list[Subscription], events: list[Event], data: st.DataObject
) -> None:
    compiled = compile(many)
    job = job_of(compiled)
    delay = data.draw(st.integers(0, 5)) * SECOND
    # An event that is at most `delay` late arrives before every event that ends more than `delay` after it.
    lag = {event.id: data.draw(st.sampled_from([0, delay // 2, delay])) for event in events}
    arrivals = sorted(events, key=lambda event: (event.interval.end + lag[event.id], event.id))
    size = data.draw(st.integers(1, 4))
    memory, watermark, seen, found = None, -FOREVER, -FOREVER, []
    for first in range(0, len(events), size):
        piece = arrivals[first : first + size]
        memory, matches, _ = advance(job, memory, prepared(compiled, piece), watermark)
        found.append(matches)
        seen = max([seen, *(event.interval.end for event in piece)])
        watermark = max(watermark, seen - delay - 1)
    memory, matches, wakeup = advance(job, memory, None, FOREVER)
    everything = list(detect_partition(job.batch, prepared(compiled, events).to_batches()))
    schema = pa.ipc.read_schema(pa.py_buffer(job.batch.schema))
    assert rows(pa.concat_tables([*found, matches])) == rows(pa.Table.from_batches(everything, schema))
    assert wakeup is None


def test_a_shard_wakes_for_what_waits_and_then_for_its_timers() -> None:
    compiled = compile([tocsin.parse(ABSENCE)])
    events = [Event(n, frozenset({"A"}), Interval(n * SECOND, n * SECOND), {}, "k") for n in (3, 1)]
    job = job_of(compiled)
    wakeups, found, memory = [], [], None
    arrived: pa.Table | None = prepared(compiled, events)
    for watermark in (0, 1, 3, 5, 6, 7, 8):
        memory, matches, wakeup = advance(job, memory, arrived, watermark * SECOND)
        arrived = None
        wakeups.append(wakeup and wakeup // SECOND)
        found.append(matches.num_rows)
    assert (wakeups, found) == ([1, 3, 6, 6, 8, 8, None], [0, 0, 0, 0, 1, 0, 1])


def test_equal_rows_are_told_apart_also_in_a_later_batch() -> None:
    compiled = compile([tocsin.parse("[A];[B]")])
    one, two, end = (
        Event(n, frozenset({type}), Interval(n * SECOND, n * SECOND), {}, "k")
        for n, type in ((1, "A"), (2, "A"), (3, "B"))
    )
    job = job_of(compiled)
    memory, _, _ = advance(job, None, prepared(compiled, [one]), SECOND)
    _, found, _ = advance(job, memory, prepared(compiled, [two, two, end]), 3 * SECOND)
    whole = detect_partition(job.batch, prepared(compiled, [one, two, two, end]).to_batches())
    assert found.num_rows == 3
    assert rows(found) == rows(pa.Table.from_batches(whole))


def test_a_late_event_stops_detection_or_is_left_out() -> None:
    compiled = compile([tocsin.parse("[A];[B]")])
    early = Event(7, frozenset({"A"}), Interval(SECOND, SECOND), {}, "k")
    later = Event(8, frozenset({"B"}), Interval(3 * SECOND, 3 * SECOND), {}, "k")
    job = job_of(compiled)
    memory, _, _ = advance(job, None, prepared(compiled, []), 2 * SECOND)
    arrived = prepared(compiled, [early, later])
    with pytest.raises(InputError, match=r"event 7 of type A ended at 1970-01-01T00:00:01\S* and came"):
        advance(job, memory, arrived, 4 * SECOND)
    _, found, wakeup = advance(job_of(compiled, late="drop"), memory, arrived, 4 * SECOND)
    assert (found.num_rows, wakeup) == (0, None)


def test_a_memory_is_of_no_use_to_other_patterns_or_shards() -> None:
    one, other = (compile([tocsin.parse(text)]) for text in ("[A];[B]", "[A];[C]"))
    memory, _, _ = advance(job_of(one), None, prepared(one, []), SECOND)
    for job in (job_of(other), job_of(one, shards=2)):
        with pytest.raises(InputError, match="this checkpoint is of other patterns"):
            advance(job, memory, None, 2 * SECOND)


def test_rows_are_packed_by_shard() -> None:
    batch = pa.record_batch({"shard": pa.array([1, 0, 1], pa.int32()), "v": ["a", "b", "c"]})
    (packed,) = pack([batch])
    found = {row["shard"]: from_ipc(row["packed"]).to_pydict() for row in packed.to_pylist()}
    assert found == {1: {"v": ["a", "c"]}, 0: {"v": ["b"]}}


def test_a_worker_of_a_stream_loads_no_compiler() -> None:
    code = (
        "import sys, tocsin.spark.stream; print(*sorted(m for m in sys.modules if m.startswith('tocsin.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {module.split(".")[1] for module in loaded} == {"errors", "events", "runtime", "spark", "values"}
    assert [m for m in loaded if m.startswith("tocsin.spark.")] == ["tocsin.spark.stream"]


# Structured Streaming

SCHEMA = "id long, type string, t long, room string, floor int, v int"
EVENTS = [
    [(1, "A", 1, "x", 1, 5), (4, "B", 4, "x", 1, 6), (2, "A", 2, "y", 1, None), (0, "A", 0, "z", 1, 5)],
    [(3, "A", 3, "x", 2, 7), (9, "B", 9, "y", 1, 5), (6, "A", 6, "x", 1, 8)],
    [(7, "B", 7, "x", 2, 7), (14, "A", 14, "y", 1, 9), (12, "C", 12, "x", 1, 5)],
    # No pattern looks at the last event, and yet it says that time has passed.
    [(99, "Z", 99, "z", 0, 0)],
]
PATTERNS = {
    "sequence": "[A];[B]",
    "same": "[A(v = $v)][C(v = $v)]",
    "absence": ABSENCE,
    "parts": "[A];[B] || [C]",
}
BY_ROOM = {"time": "t", "time_unit": "s", "id": "id", "key": ["room", "floor"]}


def write(folder: Path, pieces: Sequence[Sequence[tuple[Any, ...]]], first: int = 0) -> None:
    """A file a piece; the file source takes them by the time they were changed."""
    folder.mkdir(exist_ok=True)
    names = [column.split()[0] for column in SCHEMA.split(", ")]
    for number, piece in enumerate(pieces, first):
        file = folder / f"{number}.json"
        file.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in piece))
        os.utime(file, (1_000 + number, 1_000 + number))


@pytest.fixture
def few_partitions(spark: SparkSession) -> Iterator[None]:
    """Each partition of the state costs time in every micro-batch."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "in"))


def table(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.schema(SCHEMA).json(str(folder / "in"))


def run(matches: DataFrame, folder: Path) -> None:
    """Run a query from its checkpoint until it has used every file."""
    query = (
        matches.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "out"), format="parquet")
    )
    query.awaitTermination()


def told(matches: DataFrame) -> list[str]:
    return sorted(repr(row) for row in matches.collect())


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_a_stream_gives_the_answer_of_the_table_across_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "in", EVENTS[:2])
    found = tocsin.detect(stream(spark, tmp_path), PATTERNS, delay="5s", **BY_ROOM)
    run(found, tmp_path)
    early = spark.read.parquet(str(tmp_path / "out")).count()
    write(tmp_path / "in", EVENTS[2:], first=2)
    run(tocsin.detect(stream(spark, tmp_path), PATTERNS, delay="5s", **BY_ROOM), tmp_path)
    expected = tocsin.detect(table(spark, tmp_path), PATTERNS, **BY_ROOM)
    streamed = spark.read.parquet(str(tmp_path / "out"))
    assert found.schema == expected.schema
    assert told(streamed) == told(expected)
    assert 0 < early < expected.count()
    assert {row.pattern for row in streamed.collect()} == set(PATTERNS)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ecl", "repeat {push(Made {v = event.v}) {A}}"),
        ("ksu", "N correlation C (A a, B b) l:(a|b) || m:(a+b) { case l|m: push a; push new N {v = b.v} }"),
    ],
)
def test_languages_that_send_events_send_the_same_in_a_stream(
    spark: SparkSession, tmp_path: Path, language: str, text: str
) -> None:
    write(tmp_path / "in", [EVENTS[0], EVENTS[1] + EVENTS[2], EVENTS[3]])
    columns = {"time": "t", "time_unit": "s", "id": "id", "language": language}
    run(tocsin.detect(stream(spark, tmp_path), text, delay="6s", **columns), tmp_path)
    expected = told(tocsin.detect(table(spark, tmp_path), text, **columns))
    assert told(spark.read.parquet(str(tmp_path / "out"))) == expected
    assert expected


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("few_partitions")
def test_a_late_event_stops_the_query_and_is_named(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    late = (50, "B", 5, "x", 1, 0)
    write(tmp_path / "in", [EVENTS[0], [(98, "A", 98, "x", 1, 0)], [(97, "A", 97, "x", 1, 0)], [late]])
    found = tocsin.detect(stream(spark, tmp_path), "[A];[B]", delay="6s", **BY_ROOM)
    with pytest.raises(StreamingQueryException) as stopped:
        run(found, tmp_path)
    told = explain_failure(stopped.value)
    assert told.startswith("late-event: event 50 of type B ended at 1970-01-01T00:00:05")
    assert "hint: allow a longer delay" in told


@pytest.mark.spark
@pytest.mark.slow
def test_options_are_checked(spark: SparkSession) -> None:
    events = spark.readStream.format("rate").load().selectExpr("timestamp as time", "'A' as type")
    for option, value in (("delay", "soon"), ("late", "keep"), ("shards", 0)):
        with pytest.raises(InputError, match=f"{option} cannot be {value!r}"):
            tocsin.detect(events, "[A]", **{option: value})
