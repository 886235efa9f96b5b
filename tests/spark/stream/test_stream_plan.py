"""Clocks that are wrong, and sources that fall silent, on Structured Streaming."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tocsin
from support.calls import detect
from tocsin.spark.session.failures import explain_failure
from tocsin.spark.stream.inspect import read_state
from tocsin.spark.stream.shard_head import VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("one_shard")]

SCHEMA = "id long, type string, time double, room string, device string"
YEAR = 365 * 86_400


@pytest.fixture
def one_shard(spark: SparkSession) -> Iterator[None]:
    """Each partition of the state costs time in every micro-batch."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield
    spark.conf.set("spark.sql.shuffle.partitions", str(before))


def put(folder: Path, pieces: Sequence[Sequence[tuple[Any, ...]]], first: int = 0) -> None:
    """A file a piece, which is a micro-batch; an event is its id, type, moment and device."""
    (folder / "in").mkdir(exist_ok=True)
    for number, piece in enumerate(pieces, first):
        file = folder / "in" / f"{number}.json"
        names = ("id", "type", "time", "device")
        rows = [{"room": "x", **dict(zip(names, row, strict=False))} for row in piece]
        file.write_text("\n".join(map(json.dumps, rows)))
        os.utime(file, (1_000 + number, 1_000 + number))


def detected(spark: SparkSession, folder: Path, pattern: Any, **options: Any) -> DataFrame:
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    events = rows.selectExpr(
        "id", "type", "timestamp_micros(cast(time * 1e6 as bigint)) as time", "room", "device"
    )
    return detect(events, pattern, key="room", id="id", source="device", **options)


def run(found: DataFrame, folder: Path) -> dict[int, list[Row]]:
    """What each micro-batch told, until all files are used."""
    told: dict[int, list[Row]] = {}
    query = (
        found.writeStream.foreachBatch(lambda rows, batch: told.update({batch: rows.collect()}))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return told


def short(rows: Sequence[Row]) -> list[str]:
    """Each row in words: the ids of its events, and why they are late if they are."""
    return [
        " ".join(one.id or one.role for one in row.constituents) + (f" ({row.late})" if row.late else "")
        for row in sorted(rows, key=lambda row: (row.late or "", row.end))
    ]


def shown(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_one_wrong_clock_does_not_make_all_other_events_late(spark: SparkSession, tmp_path: Path) -> None:
    now = float(int(time.time())) - 100
    put(
        tmp_path,
        [
            [(1, "A", now)],
            [(2, "B", now + YEAR), (3, "Z", now + YEAR + 1)],
            [(4, "B", now + 5), (5, "Z", now + 10)],
            # And one that was set back by an hour: what it says is over.
            [(6, "A", now + 11 - 3_600), (7, "B", now + 12)],
            [(8, "A", now + 13)],
        ],
    )
    told = run(detected(spark, tmp_path, "[A];[B]", delay="2s", late="keep"), tmp_path)
    assert {batch: short(rows) for batch, rows in told.items() if rows} == {
        1: [f"{id} (it is more than 1d ahead of wall-clock time)" for id in (2, 3)],
        2: ["1 4"],
        3: [f"6 (everything up to {shown(now + 8)} was decided)"],
    }


def test_a_micro_batch_that_is_run_again_goes_by_the_clock_of_its_first_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    event = time.time() - 50
    put(tmp_path, [[(1, "A", event)], [(2, "Z", event + 1)]])
    found = detected(spark, tmp_path, "[A]", delay="0s", late="keep", ahead="0s")
    first = {batch: short(rows) for batch, rows in run(found, tmp_path).items()}
    # As if it had been planned a minute before the event, and the machine had gone down before it was committed.
    offsets = tmp_path / "checkpoint" / "offsets" / "0"
    version, settings, *rest = offsets.read_text().split("\n")
    earlier = json.loads(settings) | {"batchTimestampMs": int((event - 60) * 1000)}
    offsets.write_text("\n".join([version, json.dumps(earlier), *rest]))
    undone = [path for number in (0, 1) for path in (tmp_path / "checkpoint" / "commits").glob(f"*{number}*")]
    for path in (offsets.with_name(".0.crc"), *undone, *offsets.parent.glob("*1*")):
        path.unlink()
    again = {batch: short(rows) for batch, rows in run(found, tmp_path).items()}
    assert first == {0: ["1"], 1: []}
    assert again == {0: ["1 (it is more than 0s ahead of wall-clock time)"], 1: []}


def test_an_event_ahead_stops_a_query_that_keeps_no_late_ones(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    put(tmp_path, [[(1, "A", 4_102_444_800.0)]])  # 2100
    with pytest.raises(StreamingQueryException) as stopped:
        run(detected(spark, tmp_path, "[A]", ahead="30d"), tmp_path)
    assert explain_failure(stopped.value).splitlines() == [
        "event-ahead: event 1 of type A ends at 2100-01-01T00:00:00.000000Z, which is more than 30d ahead of wall-clock time",
        "hint: check the clock of its source, allow more with ahead='30d' or ahead='any', "
        "or say what becomes of such events: late='keep' or late='drop'",
    ]
    (told,) = run(
        detected(spark, tmp_path, "[A] with detection = best-effort", ahead="any"), tmp_path
    ).values()
    assert [row.constituents[0].id for row in told] == ["1"]


POLICIES = {
    "sure": "[A];[B] with detection = guaranteed",
    "likely": "[A];[B] with detection = probabilistic(0.4)",
    "now": "[A];[B] with detection = best-effort",
}


def test_a_silent_source_holds_guaranteed_detection_up_until_it_is_left_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(
        tmp_path,
        [
            [(1, "A", 1.0, "door"), (2, "Z", 2.0, "lamp")],
            [(3, "B", 3.0, "door")],  # nothing more is heard of the lamp
            [(4, "Z", 40.0, "door")],
            [(5, "Z", 62.1, "door")],  # now it lags more than a minute behind
            [(6, "Z", 63.0, "lamp"), (7, "A", 64.0, "lamp"), (8, "B", 65.0, "door")],
            [(9, "Z", 66.0, "lamp"), (10, "Z", 66.0, "door")],
        ],
    )
    options = {"sources": ["door", "lamp"], "silent_after": "1min"}
    told = run(detected(spark, tmp_path, POLICIES, **options), tmp_path)
    found = {name: {batch: [] for batch in told} for name in POLICIES}
    for batch, rows in told.items():
        for row in rows:
            found[row.pattern][batch].append(" ".join(one.id for one in row.constituents))
    assert found["now"] == {0: [], 1: ["1 3"], 2: [], 3: [], 4: ["7 8"], 5: []}
    assert found["sure"] == {0: [], 1: [], 2: [], 3: ["1 3"], 4: [], 5: ["7 8"]}
    # The lamp was never late in two arrivals, so it is on time with 2/3, and so is the door: (2/3)² is more than 0.4.
    assert found["likely"] == {0: [], 1: [], 2: ["1 3"], 3: [], 4: [], 5: ["7 8"]}


def test_events_of_a_source_that_is_not_declared_stop_the_query(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    put(tmp_path, [[(1, "A", 1.0, "door"), (2, "A", 1.0, "dor")]])
    with pytest.raises(StreamingQueryException) as stopped:
        run(detected(spark, tmp_path, "[A]", detection="guaranteed", sources=["door", "lamp"]), tmp_path)
    assert explain_failure(stopped.value).startswith("unknown-source: events came of the source 'dor'")


def test_in_a_quiet_stream_absence_is_told_by_the_clock(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, [[(1, "A", time.time())]])
    absence = "([A], [T1 in {T1, B}])_{T1=2s}"
    found = detected(spark, tmp_path, absence, delay="0s", idle="1s")
    told: list[Row] = []
    query = (
        found.writeStream.foreachBatch(lambda rows, batch: told.extend(rows.collect()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    try:
        until = time.monotonic() + 120
        while not told and query.isActive and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        query.stop()
    assert [[one.role for one in row.constituents] for row in told] == [["A", "T1"]]
    assert (told[0].end - told[0].start).total_seconds() == 2


def test_a_checkpoint_tells_its_state_and_its_version(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, [[(1, "A", 1.0, "door"), (2, "A", 2.0, "door"), (3, "A", 9.0, "door")]])
    options: dict[str, Any] = {"detection": "guaranteed", "sources": ["door", "lamp"], "silent_after": "5s"}
    run(detected(spark, tmp_path, "([A], [B])_{T1=1h}", **options), tmp_path)
    (row,) = read_state(spark, tmp_path / "checkpoint").to_pylist()
    assert (row["keys"], row["partial_matches"], row["waiting"]) == (1, 2, 1)
    assert (row["until"], row["oldest"]) == (
        datetime.fromtimestamp(8.999999, UTC),
        datetime.fromtimestamp(1, UTC),
    )
    assert row["left_out"] == ["lamp"]
    assert row["reached"] == [("door", datetime.fromtimestamp(9, UTC)), ("lamp", None)]

    # A later Tocsin, which remembers in another way: a copy of this one that says so, in a process of its own.
    other = Path(shutil.copytree(Path(tocsin.__file__).parent, tmp_path / "other" / "tocsin"))
    module = other / "spark" / "stream" / "shard_head.py"
    text = module.read_text()
    later = text.replace(f"\nVERSION = {VERSION}  #", f"\nVERSION = {VERSION + 1}  #")
    assert later != text
    module.write_text(later)
    code = "import sys; from tocsin.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "state", str(tmp_path / "checkpoint")],
        env=os.environ | {"PYTHONPATH": str(other.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        f"checkpoint-version: this head was written by version {VERSION}; this build of tocsin reads version {VERSION + 1}",
        "hint: go on with the version of tocsin that wrote it, or start with a new checkpoint folder",
    ]
