"""What is to be seen of a stream, and what it says when it is fed with rubbish or its disk is full."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from rich.console import Console

import tocsin
from tocsin.cli import main
from tocsin.cli.display.live import Live
from tocsin.errors import InputError, PipelineError, StreamError
from tocsin.spark.observe.metrics import Metrics
from tocsin.spark.observe.record import Seen
from tocsin.spark.pipeline import Counters, Report, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

YEAR = 365 * 86_400
MALFORMED = 10_000
PIPELINE = """
[pipeline]
name = "house"

[event.Open]
room = "string"

[event.Close]
room = "string"

[event.Other]
room = "string"

[[source]]
name = "doors"
format = "jsonl"
path = "doors"
time_unit = "s"
id = "id"
stream = true
max_files = 1

[[source]]
name = "lamps"
format = "jsonl"
path = "lamps"
time_unit = "s"
id = "id"
stream = true
max_files = 1

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open];[Close]"

[[subscription]]
name = "Opened"
pattern = "[Open]"

[[sink]]
format = "jsonl"
path = "out"

[dead_letters]
path = "dead"

[late]
path = "late"

[stream]
checkpoint = "checkpoint"
detection = "guaranteed"
sources = ["doors", "lamps"]
silent_after = "1min"
shards = 1
"""


def put(folder: Path, number: int, *events: tuple[int, str, float], more: str = "") -> None:
    """A file that comes to a folder, of events with id, type and moment."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{number}.jsonl"
    names = ("id", "type", "time")
    lines = [json.dumps({"room": "a", **dict(zip(names, one, strict=True))}) + "\n" for one in events]
    file.write_text("".join(lines) + more)
    os.utime(file, (1_000 + number, 1_000 + number))


def rows(folder: Path) -> list[dict[str, Any]]:
    files = folder.glob("**/part-*.json")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@dataclass(frozen=True)
class Ran:
    folder: Path
    report: Report
    seen: list[Seen]
    scraped: dict[str, float]
    view: str


@pytest.fixture(scope="module")
def ran(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A stream with a lamp that falls silent, ten thousand malformed lines, a clock a year ahead and one set back."""
    folder = tmp_path_factory.mktemp("seen")
    (folder / "pipeline.toml").write_text(PIPELINE)
    put(folder / "doors", 0, (1, "Open", 1), more="{no event\n" * MALFORMED)
    put(folder / "lamps", 0, (100, "Other", 2))
    put(folder / "doors", 1, (2, "Close", 3))
    put(folder / "doors", 2, (3, "Other", 63))
    put(folder / "doors", 3, (4, "Open", int(time.time()) + YEAR), (5, "Close", 2), (6, "Other", 64))
    seen: list[Seen] = []
    metrics, terminal = Metrics(), StringIO()
    port = metrics.serve(0)
    with Live(Console(file=terminal, force_terminal=True, width=120, height=40)) as live:
        report = run_pipeline(
            folder / "pipeline.toml",
            session=spark,
            once=True,
            progress=live,
            log=folder / "log",
            watchers=[seen.append, metrics],
        )
    scraped = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    metrics.close()
    return Ran(folder, report, seen, _values(scraped), terminal.getvalue())


def _values(text: str) -> dict[str, float]:
    """Metrics in the text format of Prometheus, by name and labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_ten_thousand_malformed_lines_are_dead_letters_and_the_stream_goes_on(ran: Ran) -> None:
    assert ran.report.sources == {
        "doors": Counters(read=10_006, used=2, irrelevant=2, dead=10_001, limited=0, late=1),
        "lamps": Counters(read=1, used=0, irrelevant=1, dead=0, limited=0),
    }
    assert ran.report.matches == {"Through": 1, "Opened": 1}
    assert ran.report.reasons == {
        "it is more than 1d ahead of wall-clock time": 1,
        "it is not one JSON object": MALFORMED,
    }
    letters = rows(ran.folder / "dead")
    assert len(letters) == MALFORMED + 1
    assert {row["line"] for row in letters if row["reason"] == "it is not one JSON object"} == set(
        range(2, MALFORMED + 2)
    )


def test_an_event_a_year_ahead_is_a_dead_letter_and_one_set_back_is_late(ran: Ran) -> None:
    (ahead,) = [row for row in rows(ran.folder / "dead") if "ahead" in row["reason"]]
    assert (Path(ahead["file"]).name, ahead["line"], json.loads(ahead["text"])["id"]) == ("3.jsonl", 1, 4)
    (late,) = rows(ran.folder / "late")
    assert (late["id"], late["subscriptions"]) == ("5", ["Through"])
    assert late["reason"] == "everything up to 1970-01-01T00:01:02.999999Z was decided"


def test_a_silent_source_is_named_and_then_left_out(ran: Ran) -> None:
    second = "1970-01-01T00:00:{:02d}.000Z".format
    assert [dict(one.reached) for one in ran.seen] == [
        {"doors": second(1), "lamps": second(2)},
        {"doors": second(3), "lamps": second(2)},
        {"doors": "1970-01-01T00:01:03.000Z", "lamps": second(2)},
        {"doors": "1970-01-01T00:01:04.000Z", "lamps": second(2)},
    ]
    assert [tuple(one.silent) for one in ran.seen] == [(), (), ("lamps",), ("lamps",)]
    assert [one.until for one in ran.seen] == [
        "1970-01-01T00:00:00.999Z",
        "1970-01-01T00:00:01.999Z",
        "1970-01-01T00:01:02.999Z",
        "1970-01-01T00:01:03.999Z",
    ]
    assert ran.seen[2].behind == {"doors": 0.0, "lamps": 61.0}
    assert str(ran.seen[2]) == "1 event; 1 Through; lamps is silent and not waited for"


def test_the_log_the_metrics_and_the_view_tell_the_same(ran: Ran) -> None:
    log = [json.loads(line) for line in (ran.folder / "log").read_text().splitlines()]
    assert [line["batch"] for line in log] == [one.batch for one in ran.seen] == [0, 1, 2, 3]
    assert log == [json.loads(one.line()) for one in ran.seen]
    assert log[3]["state"]["late"] == 1

    of = 'query="house"'
    told = {
        use: ran.scraped[f'tocsin_events_total{{{of},source="doors",use="{use}"}}']
        for use in ("used", "irrelevant", "late", "dead")
    }
    assert told == {"used": 2, "irrelevant": 2, "late": 1, "dead": 10_001}
    assert ran.scraped[f'tocsin_matches_total{{{of},subscription="Through"}}'] == 1
    assert ran.scraped[f"tocsin_batch_seconds_count{{{of}}}"] == 4
    assert ran.scraped[f"tocsin_decided_timestamp_seconds{{{of}}}"] == 63.999
    assert ran.scraped[f"tocsin_lag_seconds{{{of}}}"] == ran.seen[3].lag
    assert ran.scraped[f'tocsin_source_timestamp_seconds{{{of},source="lamps"}}'] == 2
    assert ran.scraped[f'tocsin_source_silent{{{of},source="lamps"}}'] == 1
    states = {(one["job"], one["shard"]): one["bytes"] for one in ran.seen[3].shards}
    assert len(states) == 2
    for (job, shard), size in states.items():
        assert ran.scraped[f'tocsin_state_bytes{{job="{job}",{of},shard="{shard}"}}'] == size

    shown = [line.split() for line in ran.view.splitlines()]
    assert ["doors", "10,006", "2", "2", "1", "0", "10,001", "1970-01-01T00:01:04.000Z", "0.0", "s"] in shown
    assert ["lamps", "1", "0", "1", "0", "0", "0", "1970-01-01T00:00:02.000Z", "silent"] in shown
    assert ["Through", "1", "0"] in shown


def test_the_state_of_all_jobs_is_shown_from_the_checkpoint(
    ran: Ran, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["state", str(ran.folder / "checkpoint"), "--json"]) == 0
    by_job = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["job"], one["shard"], one["until"]) for one in by_job] == [
        (0, 0, "1970-01-01T00:01:03.999999+00:00"),
        (1, 0, "1970-01-01T00:01:03.999999+00:00"),
    ]
    assert [one["left_out"] for one in by_job] == [["lamps"], ["lamps"]]
    assert {(one["job"], one["bytes"]) for one in by_job} == {
        (int(one["job"]), one["bytes"]) for one in ran.seen[3].shards
    }
    assert main(["state", str(ran.folder / "checkpoint")]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(" all")


def test_a_checkpoint_of_another_version_is_refused(
    ran: Ran, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    description = ran.folder / "checkpoint" / "tocsin" / "pipeline.json"
    before = description.read_text()
    description.write_text(json.dumps(json.loads(before) | {"format": 99}))
    with pytest.raises(PipelineError) as raised:
        run_pipeline(ran.folder / "pipeline.toml", session=spark, once=True)
    description.write_text(before)
    assert (raised.value.code, raised.value.hint) == (
        "checkpoint-version",
        "go on with the version of tocsin that wrote it, or start with a new checkpoint folder",
    )


@pytest.mark.parametrize(
    "file", ["tocsin/pipeline.json", "tocsin/ledger/000000003.json", "offsets/3", "metadata"]
)
def test_a_damaged_file_of_a_checkpoint_is_named(ran: Ran, spark: SparkSession, file: str) -> None:
    path = ran.folder / "checkpoint" / file
    before = path.read_text()
    hidden = path.with_name(f".{path.name}.crc")
    checksum = hidden.read_bytes() if hidden.exists() else None
    hidden.unlink(missing_ok=True)
    for damaged in (before[: len(before) // 2], before.replace("1", "2", 1) if "tocsin" in file else "{}"):
        path.write_text(damaged)
        with pytest.raises(PipelineError, match=file) as raised:
            run_pipeline(ran.folder / "pipeline.toml", session=spark, once=True)
        assert raised.value.code == "checkpoint-damaged"
    path.write_text(before)
    if checksum is not None:
        hidden.write_bytes(checksum)


SMALL = """
[event.A]
n = "int"

[[source]]
name = "s"
format = "jsonl"
path = "in"
time_unit = "s"
id = "id"
stream = true
max_files = 1

[[subscription]]
name = "Single"
pattern = "[A]"

[[sink]]
format = "jsonl"
path = "{disk}/out"

[stream]
checkpoint = "{disk}/checkpoint"
delay = "0s"
shards = 1
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk needs the right to mount: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_full_disk_is_told_and_the_stream_goes_on_when_there_is_room(
    spark: SparkSession, tmp_path: Path, small_disk: Path
) -> None:
    (tmp_path / "pipeline.toml").write_text(SMALL.format(disk=small_disk))
    put(tmp_path / "in", 0, (1, "A", 1))
    run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    filler = small_disk / "filler"
    left = os.statvfs(small_disk)
    filler.write_bytes(b"x" * left.f_bavail * left.f_frsize)
    put(tmp_path / "in", 1, (2, "A", 2))
    with pytest.raises(StreamError) as raised:
        run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert str(raised.value).splitlines() == [
        "disk-full: no space left on device",
        "hint: make room and start again; a stream goes on from its checkpoint",
    ]
    filler.unlink()
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert report.matches == {"Single": 2}
    assert sorted(row["constituents"][0]["id"] for row in rows(small_disk / "out")) == ["1", "2"]


def test_a_port_that_is_taken_is_told(ran: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    taken = Metrics()
    port = taken.serve(0)
    try:
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1:{port}"):
            Metrics().serve(port)
    finally:
        taken.close()
    assert main(["run", str(ran.folder / "pipeline.toml"), "--metrics", "here"]) == 2
    assert capsys.readouterr().err.startswith("bad-option: --metrics cannot be 'here'")


def test_a_query_of_detect_is_watched_through_a_listener(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, (1, "A", 1), (2, "Z", 2), (3, "B", 3))
    put(
        tmp_path / "in", 1, (4, "A", 40), (5, "Z", int(time.time()) + YEAR), (6, "A", int(time.time()) + YEAR)
    )
    put(tmp_path / "in", 2, (7, "A", 5), (8, "Z", 60))
    schema = "id long, type string, time long, room string"
    events = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    found = tocsin.detect(
        events,
        {"pair": "[A];[B]", "a": "[A]"},
        tocsin.Columns(time_unit="s", id="id"),
        tocsin.Stream(delay="1s", late="keep", shards=2),
        key="room",
    )
    seen: list[Seen] = []
    with tocsin.watch(spark, seen.append, metrics=0) as watching:
        query = (
            found.writeStream.queryName("rooms")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "out"), format="parquet")
        )
        query.awaitTermination()
        until = time.monotonic() + 60
        while len(seen) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        scraped = _values(urlopen(f"http://127.0.0.1:{watching.port}/metrics").read().decode())
    assert [one.total for one in seen] == [
        Counters(3, 2, 1, 0, 0),
        Counters(3, 1, 0, 0, 0, 2),  # those ahead are told, whether any pattern looks at them or not
        Counters(2, 0, 1, 0, 0, 1),
    ]
    assert [dict(one.matches) for one in seen] == [{"a": 1}, {"pair": 1}, {"a": 1}]
    assert [one.until for one in seen] == [
        "1970-01-01T00:00:02.000Z",
        "1970-01-01T00:00:39.000Z",
        "1970-01-01T00:00:59.000Z",
    ]
    assert [len(one.shards) for one in seen] == [2, 2, 2]
    assert [sum(shard["waiting"] for shard in one.shards) for one in seen] == [1, 1, 0]
    assert scraped['tocsin_matches_total{query="rooms",subscription="a"}'] == 2
    assert watching.last == {"rooms": seen[2]}
