"""`tocsin detect` on Spark: files in, a table or JSON lines out, and errors without a word of Java."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tocsin
from tocsin.cli import main
from tocsin.spark.session.failures import explain_failure, is_from_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DOORS = """\
time,type,room,temp
2024-01-01T00:00:01,Open,1,
2024-01-01T00:00:02,Open,2,
2024-01-01T00:00:03,Close,2,14.5
2024-01-01T00:00:04,Close,1,
"""
PAIRS = "[Open(room=$x)];[Close(room=$x)]"


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["detect", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert "java" not in err.lower()
    return code, out, err


def _matches(out: str) -> list[list[int]]:
    rows = [json.loads(line) for line in out.splitlines()]
    return [[event["attributes"]["n"] for event in row["constituents"]] for row in rows]


@pytest.fixture
def doors(tmp_path: Path) -> Path:
    path = tmp_path / "doors.csv"
    path.write_text(DOORS)
    return path


def test_a_table_of_matches(spark: object, doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, PAIRS, "--from", doors)
    assert (code, err) == (0, "2 matches\n")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "2024-01-01 00:00:02 2024-01-01 00:00:03 Open 00:00:02 room=2 $x = 2" in lines
    assert "Close 00:00:03 room=2 temp=14.5" in lines


def test_json_lines_have_everything(spark: object, doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, PAIRS, "--from", doors, "--key", "room", "--output", "jsonl", "--limit", 1)
    assert (code, err) == (0, "the first match; --limit N shows more\n")
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert (row["room"], row["start"], row["variables"]) == (2, "2024-01-01T00:00:02+00:00", {"x": "2"})
    assert [event["role"] for event in row["constituents"]] == ["Open", "Close"]


def test_json_lines_and_parquet_files(
    spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"n": 1, "kind": "A", "from": 0, "to": 4}, {"n": 2, "kind": "B", "from": 3, "to": 6}]
    rows.append({"n": 3, "kind": "B", "from": 5, "to": 7})
    lines, table = tmp_path / "day.jsonl", tmp_path / "day.parquet"
    lines.write_text("\n".join(map(json.dumps, rows)))
    pq.write_table(pa.Table.from_pylist(rows), table)
    for path in (lines, table):
        named = ("--type", "kind", "--time", "from,to", "--time-unit", "s", "--output", "jsonl")
        code, out, _ = _run(capsys, "[A];[B]", "--from", path, *named)
        assert (code, _matches(out)) == (0, [[1, 3]])


def test_events_of_one_type_and_an_option(
    spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ticks.csv"
    path.write_text("n,ts\n" + "".join(f"{n},{1000 * n}\n" for n in range(1, 4)))
    given = ("--from", path, "--time", "ts", "--time-unit", "ms", "--event-type", "Tick", "--output", "jsonl")
    pattern = "[Tick(n=2) in {Tick}]"
    assert _matches(_run(capsys, pattern, *given)[1]) == []
    assert _matches(_run(capsys, pattern, *given, "--option", "restart=always")[1]) == [[2]]


def test_no_match_is_an_empty_answer(spark: object, doors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _run(capsys, "[Open];[Nothing]", "--from", doors)
    assert (code, out) == (0, "")
    assert err == (
        "warning: never-occurs: no event is of the type 'Nothing'\n"
        "hint: types that occur: 'Open'; events.groupBy('type').count() shows all types\nno match\n"
    )


def test_rows_that_lack_something_are_left_out_if_asked(
    spark: object, doors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doors.write_text(DOORS + ",Open,9,\n")
    code, _, err = _run(capsys, "[Open];[Close]", "--from", doors)
    assert code != 0
    assert "no time in column 'time'" in err
    assert _run(capsys, "[Open];[Close]", "--from", doors, "--unreadable", "drop")[0] == 0


@pytest.mark.parametrize(
    ("text", "arguments", "says"),
    [
        (DOORS, ["[Open(rooom=1)]"], "did you mean 'room'?"),
        (DOORS, ["[Open(room='x')]"], "compare it with a number"),
        (DOORS, ["[Open]", "--key", "rom"], "the table has no column 'rom'"),
        (DOORS, ["[Open]", "--time", "room"], "no-time-unit"),
        (DOORS + "2024-01-01T00:00:05,,3,\n", ["[Open]"], "no type in column 'type'"),
        (DOORS + "2024-01-01T00:00:05\n", ["[Open]"], "Malformed"),
        ("a,b\n1,2\n", ["[Open]"], "which column is the time of the events?"),
        ("", ["[Open]"], "which column is the time of the events?"),
    ],
)
def test_what_is_wrong_with_the_events_is_said_in_a_line_or_two(
    spark: object,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    arguments: list[str],
    says: str,
) -> None:
    path = tmp_path / "events.csv"
    path.write_text(text)
    code, out, err = _run(capsys, *arguments, "--from", path)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") < 8


def test_files_that_are_not_what_they_say(
    spark: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "day.json"
    path.write_text('{"time": 1}\nnot json\n')
    assert "has lines that are not JSON objects" in _run(capsys, "[A]", "--from", path)[2]
    code, _, err = _run(capsys, "[A]", "--from", path, "--format", "parquet")
    assert code == 2
    assert "is not a Parquet file" in err


def test_an_error_in_a_worker_comes_back_in_our_words(spark: object) -> None:
    from tocsin.spark.detect import detect
    from tocsin.spark.session.session import local_session

    times = pa.array([1, 2, 3], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    frame = local_session().createDataFrame(pa.table({"type": ["A"] * 3, "time": times}))
    with pytest.raises(Exception, match="too-many-partial-matches") as caught:
        detect(frame, "[A(type = $t)];[B(type = $t)]", tocsin.Run(max_partial_matches=1)).collect()
    assert is_from_spark(caught.value)
    told = explain_failure(caught.value)
    assert told.startswith("too-many-partial-matches: ")
    assert "\nhint: bound the pattern by a timer" in told


def test_the_installed_command(doors: Path) -> None:
    """A process of its own: nothing but the answer is on standard output, and Spark says nothing at all."""
    program = Path(sys.executable).parent / "tocsin"
    command = [program, "detect", PAIRS, "--from", doors, "--output", "jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["variables"]["x"] for line in done.stdout.splitlines()] == ["2", "1"]
    assert done.stderr.splitlines()[-1] == "2 matches"
    assert len(done.stderr.splitlines()) <= 2
