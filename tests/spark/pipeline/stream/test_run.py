"""Pipelines as streams: what a table gives, each match once, whatever happens in between."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.pipeline_files import put, rows
from tocsin.cli import main
from tocsin.errors import PipelineError, StreamError
from tocsin.spark.pipeline import Counters, Report, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECOND = 1_000_000
PIPELINE = """
[[source]]
name = "doors"
format = "jsonl"
path = "doors"
time_unit = "s"
id = "id"
stream = true
max_files = 1

[[source]]
name = "windows"
format = "csv"
path = "windows"
time_unit = "s"
id = "id"
stream = true
max_files = 1

[[source]]
name = "gates"
format = "parquet"
path = "gates"
id = "id"
stream = true
max_files = 1

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open(level > 1)];[Close]"

[[subscription]]
name = "Left"
key = "room"
pattern = "([Open], [T1 in {T1, Close}])_{T1=20s}"
attributes = ["who"]

[[subscription]]
name = "Told"
language = "ecl"
key = "who"
pattern = "repeat {push(Cold {level = event.level}) {sequential {Open, <level < 2>}}}"

[[sink]]
format = "jsonl"
path = "out"

[[sink]]
format = "console"
rows = 2
subscriptions = ["Through"]

[dead_letters]
path = "dead"

[late]
path = "late"

[stream]
checkpoint = "checkpoint"
delay = "2s"
shards = 2
"""
SUBSCRIPTIONS = ("Through", "Left", "Told", "Told.Cold")


def put_piece(folder: Path, number: int) -> None:
    """Events from ten seconds, a file in each source, and some that cannot be read."""
    at = 10 * number

    def door(id: int, type: str, time: int, room: object, level: float = 3.5) -> str:
        event = {"id": id, "type": type, "time": time, "room": room, "who": f"p{id % 3}", "level": level}
        return json.dumps(event) + "\n"

    doors = door(at, "Open", at + 1, "a") + door(at + 1, "Close", at + 8, "b", 1.5)
    doors += "\n{no event\n" + door(at + 2, "Open", at, "b", 0.5) + door(at + 3, "Other", at + 2, "a")
    doors += door(at + 4, "Open", at + 3, None) + door(at + 5, "Open", at + 3, number)
    doors += door(at + 6, "Open", at + 4, f"d{number}")
    if number == 2:
        doors += one_door(900, 1000, "Other")
    put(folder / "doors", number, doors)
    windows = f"id,time,type,room,who\n{at + 100},{at + 5},Close,a,p1\n{at + 101},soon,Close,a,p1\n"
    put(folder / "windows", number, windows + f"{at + 102},{at + 6},Open,c,p2\n", "csv")
    gates = {
        "id": pa.array([at + 200, at + 201]),
        "time": pa.array([(at + 9) * SECOND, None], pa.timestamp("us", tz="UTC")),
        "type": ["Close", "Close"],
        "room": ["c", "c"],
        "who": ["p0", "p0"],
    }
    (folder / "gates").mkdir(exist_ok=True)
    pq.write_table(pa.table(gates), folder / "gates" / f"{number}.parquet")
    os.utime(folder / "gates" / f"{number}.parquet", (1_000 + number, 1_000 + number))


def one_door(id: int, time: int, type: str) -> str:
    event = {"id": id, "type": type, "time": time, "room": "a", "who": "p1", "level": 9.5}
    return json.dumps(event) + "\n"


@dataclass(frozen=True)
class Ran:
    folder: Path
    reports: list[Report]

    def rows(self, output: str) -> list[dict[str, Any]]:
        return rows(self.folder / output)

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]


@pytest.fixture(scope="module")
def streamed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A stream that was stopped and went on twice; what came last is late."""
    folder = tmp_path_factory.mktemp("stream")
    (folder / "pipeline.toml").write_text(PIPELINE)
    reports = []
    for pieces in ((0,), (1, 2), ()):
        for number in pieces:
            put_piece(folder, number)
        if not pieces:
            put(folder / "doors", 91, one_door(901, 20, "Open") + one_door(902, 999, "Other"))
        reports.append(run_pipeline(folder / "pipeline.toml", session=spark, once=True, log=folder / "log"))
    return Ran(folder, reports)


@pytest.fixture(scope="module")
def tabled(spark: SparkSession, streamed: Ran, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The same pipeline over the same files, as tables, but for the file that is late."""
    folder = tmp_path_factory.mktemp("table")
    for source in ("doors", "windows", "gates"):
        shutil.copytree(streamed.folder / source, folder / source)
    (folder / "doors" / "91.jsonl").unlink()
    text = PIPELINE.replace("stream = true\nmax_files = 1\n", "")
    text = text[: text.index("[late]")]
    (folder / "pipeline.toml").write_text(text)
    return Ran(folder, [run_pipeline(folder / "pipeline.toml", session=spark)])


def test_a_stream_finds_what_the_table_has_and_each_match_once(streamed: Ran, tabled: Ran) -> None:
    for name in SUBSCRIPTIONS:
        found = [{k: v for k, v in row.items() if k != "batch"} for row in streamed.rows(f"out/{name}")]
        assert found == tabled.rows(f"out/{name}")
        assert found
        ids = [row.get("match_id", row.get("id")) for row in found]
        assert len(set(ids)) == len(ids)
    assert streamed.reports[-1].matches == tabled.reports[0].matches
    early, later, last = (sum(report.matches.values()) for report in streamed.reports)
    assert 0 < early < later == last


def test_the_counters_of_all_runs_add_up(streamed: Ran, tabled: Ran) -> None:
    late = Counters(read=2, used=0, irrelevant=1, dead=0, limited=0, late=1)
    expected = dict(tabled.reports[0].sources)
    assert expected["doors"] == Counters(read=25, used=15, irrelevant=4, dead=6, limited=0)
    assert streamed.reports[-1].sources == expected | {"doors": expected["doors"] + late}
    assert streamed.reports[-1].reasons == tabled.reports[0].reasons


def test_dead_letters_are_those_of_the_table(streamed: Ran, tabled: Ran) -> None:
    def letters(ran: Ran) -> list[dict[str, Any]]:
        return [row | {"file": str(Path(row["file"]).relative_to(ran.folder))} for row in ran.rows("dead")]

    def by_text(letters: Iterable[dict[str, Any]]) -> list[str]:
        return sorted(json.dumps(letter, sort_keys=True) for letter in letters)

    assert by_text(letters(streamed)) == by_text(letters(tabled))
    assert Counter(letter["source"] for letter in letters(streamed)) == {"doors": 6, "windows": 3, "gates": 3}


def test_late_events_are_kept_with_their_reason(streamed: Ran) -> None:
    found = streamed.rows("late")
    assert {(row["source"], row["type"], row["id"], row["end"]) for row in found} == {
        ("doors", "Open", "901", "1970-01-01T00:00:20.000Z")
    }
    # One row for each job that missed it; it is one event all the same.
    assert sorted(row["subscriptions"] for row in found) == [["Through", "Left"], ["Told"]]
    assert {row["reason"] for row in found} == {"everything up to 1970-01-01T00:16:38.000000Z was decided"}
    assert sorted(row["key"] for row in found) == ["a", "p1"]


def test_the_log_tells_of_each_micro_batch(streamed: Ran) -> None:
    log = streamed.log
    assert [line["batch"] for line in log] == list(range(streamed.reports[-1].batches or 0))
    total = sum((Counters(**line["sources"]["doors"]) for line in log), Counters(0, 0, 0, 0, 0))
    assert total == streamed.reports[-1].sources["doors"]
    assert sum(line["matches"]["Through"] for line in log) == streamed.reports[-1].matches["Through"]
    assert log[-1]["until"] == "1970-01-01T00:16:38.000Z"
    assert " ".join(log[0]) == (
        "query batch time seconds until sources matches reached silent reasons written state"
    )


def test_the_report_is_about_all_runs(streamed: Ran) -> None:
    report = streamed.reports[-1]
    shown = str(report)
    assert f"{report.batches} micro-batches" in shown
    assert "events   read  used  irrelevant  late  dead" in shown
    assert "doors      27    15           5     1     6" in shown


def test_a_changed_pipeline_is_told_what_has_changed(spark: SparkSession, streamed: Ran) -> None:
    changed = PIPELINE.replace("max_files = 1", 'max_files = 1\nsource = "who"', 1).replace(
        "shards = 2", "shards = 3"
    )
    (streamed.folder / "changed.toml").write_text(changed)
    with pytest.raises(PipelineError) as raised:
        run_pipeline(streamed.folder / "changed.toml", session=spark, once=True)
    assert raised.value.code == "changed-pipeline"
    assert "source of the source doors changed" in raised.value.message
    assert "there were 2 shards, and are to be 3" in raised.value.message


SMALL = """
[event.A]
n = "int"

[[source]]
name = "s"
format = "jsonl"
path = "in"
time_unit = "s"
stream = true
max_files = 1

[[subscription]]
name = "Pair"
pattern = "[A][A]"

[[sink]]
format = "parquet"
path = "out"

[[sink]]
format = "table"
table = "stream_pipeline"

[stream]
checkpoint = "checkpoint"
delay = "0s"
shards = 1
"""


def event(time: int) -> str:
    return json.dumps({"type": "A", "time": time, "n": time}) + "\n"


def pairs(spark: SparkSession, folder: Path) -> list[tuple[int, ...]]:
    """The matches of a folder, as the moments of their events."""
    found = spark.read.parquet(str(folder / "out" / "Pair")).select("constituents.attributes.n").collect()
    return sorted(tuple(row["n"]) for row in found)


def test_subscriptions_that_stay_go_on_beside_new_ones(spark: SparkSession, tmp_path: Path) -> None:
    table = SMALL[SMALL.index('[[sink]]\nformat = "table"') : SMALL.index("[stream]")]
    plain = SMALL.replace(table, "")
    (tmp_path / "pipeline.toml").write_text(plain)
    put(tmp_path / "in", 0, event(1))
    run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    new = '[[subscription]]\nname = "Single"\npattern = "[A(n > 2)]"\n\n[[sink]]'
    (tmp_path / "pipeline.toml").write_text(plain.replace("[[sink]]", new, 1))
    put(tmp_path / "in", 1, event(2) + event(3))
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert pairs(spark, tmp_path) == [(1, 2), (2, 3)]  # the first event was before the change
    assert report.matches == {"Pair": 2, "Single": 1}


@pytest.mark.parametrize("noted", [False, True], ids=["cut short", "written and not committed"])
def test_a_micro_batch_that_is_run_again_replaces_what_it_wrote(
    spark: SparkSession, tmp_path: Path, noted: bool
) -> None:
    spark.sql("drop table if exists stream_pipeline_Pair")
    (tmp_path / "pipeline.toml").write_text(SMALL)
    put(tmp_path / "in", 0, event(1) + event(2))
    put(tmp_path / "in", 1, event(3))
    first = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert pairs(spark, tmp_path) == [(1, 2), (2, 3)]
    # As if the machine had gone down before the last micro-batch was committed, or before it was all written.
    last = (first.batches or 0) - 1
    for name in (str(last), f".{last}.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink()
    if not noted:
        (tmp_path / "checkpoint" / "tocsin" / "ledger" / f"{last:09d}.json").unlink()
        (tmp_path / "out" / "Pair" / f".batch-{last:06d}").mkdir()
    again = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert pairs(spark, tmp_path) == [(1, 2), (2, 3)]
    in_table = [
        row["n"] for row in spark.table("stream_pipeline_Pair").select("constituents.attributes.n").collect()
    ]
    assert sorted(in_table) == [[1, 2], [2, 3]]
    assert (again.matches, again.sources, again.batches) == (first.matches, first.sources, first.batches)
    assert again.sources["s"] == Counters(3, 3, 0, 0, 0)
    # And the state is what it was.
    put(tmp_path / "in", 2, event(4))
    assert run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True).matches == {"Pair": 3}
    assert pairs(spark, tmp_path) == [(1, 2), (2, 3), (3, 4)]
    spark.sql("drop table stream_pipeline_Pair")


def test_a_file_that_was_deleted_before_it_was_read_is_reported_and_counted(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql("drop table if exists stream_pipeline_Pair")
    (tmp_path / "pipeline.toml").write_text(SMALL)
    put(tmp_path / "in", 0, event(1) + event(2))
    first = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    put(tmp_path / "in", 1, event(3))
    second = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert (first.gone, second.gone) == ({}, {})
    # As if the machine had gone down when the files of the second run had been listed, and not been read yet.
    for number in range(first.batches or 0, second.batches or 0):
        for name in (str(number), f".{number}.crc"):
            (tmp_path / "checkpoint" / "commits" / name).unlink()
        (tmp_path / "checkpoint" / "tocsin" / "ledger" / f"{number:09d}.json").unlink()
    (file,) = (one for one in (tmp_path / "in").iterdir() if one.name.startswith("1"))
    file.unlink()
    log = tmp_path / "log"
    again = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True, log=log)
    assert list(again.gone.values()) == [1]
    assert (tmp_path / "in").as_uri() in again.gone
    assert "1 file was deleted from" in str(again)
    assert sum(sum(json.loads(line).get("gone", {}).values()) for line in log.read_text().splitlines()) == 1
    assert again.sources["s"] == Counters(2, 2, 0, 0, 0)
    spark.sql("drop table stream_pipeline_Pair")


def test_an_error_in_a_task_is_told_in_our_words(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pipeline.toml").write_text(
        SMALL[: SMALL.index('[[sink]]\nformat = "table"')] + SMALL[SMALL.index("[stream]") :]
    )
    for number, moment in enumerate((10, 20, 30, 5)):
        put(tmp_path / "in", number, event(moment))
    with pytest.raises(StreamError) as raised:
        run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert raised.value.code == "late-event"
    assert (
        raised.value.hint
        == "allow a longer delay, or say what becomes of such events: late='keep' or late='drop'"
    )
    assert main(["run", str(tmp_path / "pipeline.toml"), "--once", "--quiet"]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("late-event: event ")
    assert "Traceback" not in printed.err


KILLED = """
[event.Open]
room = "int"

[event.Close]
room = "int"

[[source]]
name = "s"
format = "jsonl"
path = "in"
time_unit = "s"
stream = true
max_files = 1

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open];[Close]"

[[sink]]
format = "jsonl"
path = "out"

[stream]
checkpoint = "checkpoint"
delay = "3s"
shards = 2
"""
FILES = 8


def command(folder: Path) -> subprocess.Popen[str]:
    code = "import sys; from tocsin.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "run", str(folder / "pipeline.toml"), "--json"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(folder: Path, pages: int, running: subprocess.Popen[str]) -> None:
    """Until so many micro-batches are in the ledger."""
    ledger = folder / "checkpoint" / "tocsin" / "ledger"
    until = time.monotonic() + 240
    while len(list(ledger.glob("*.json"))) < pages:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def test_killed_and_stopped_it_finds_each_match_once(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(KILLED)
    # Each door is opened in one file and closed in the next but one.
    for number in range(FILES):
        texts = [{"type": "Open", "time": number, "room": number}]
        texts += [{"type": "Close", "time": number, "room": number - 2}]
        put(tmp_path / "in", number, "".join(json.dumps(text) + "\n" for text in texts) + "{\n")
    killed = command(tmp_path)
    wait_for(tmp_path, 2, killed)
    killed.kill()
    killed.communicate()
    stopped = command(tmp_path)
    wait_for(tmp_path, 4, stopped)
    stopped.send_signal(signal.SIGTERM)
    output, errors = stopped.communicate(timeout=240)
    assert stopped.returncode == 0, errors
    told = json.loads(output)
    assert 4 <= told["batches"] <= FILES + 1
    assert told["matches"] == {"Through": len(rows(tmp_path / "out" / "Through"))}
    lines = [line for line in errors.splitlines() if line.startswith("micro-batch ")]
    assert lines
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    found = [row["room"] for row in rows(tmp_path / "out" / "Through")]
    # What is within the delay of the last event still waits.
    assert sorted(found) == list(range(FILES - 1 - 3 - 2 + 1))
    assert report.matches == {"Through": len(found)}
    assert report.sources == {"s": Counters(3 * FILES, 2 * FILES, 0, FILES, 0)}
