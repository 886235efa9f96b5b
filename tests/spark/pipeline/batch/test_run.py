"""Pipelines on Spark: what is found, what becomes of every event, and that nothing is lost on the way."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin.errors import InputError, PipelineError
from tocsin.spark.pipeline import Counters, Report, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@dataclass(frozen=True)
class Done:
    """A pipeline that has run."""

    report: Report
    folder: Path

    def lines(self, path: str) -> list[dict[str, Any]]:
        """The rows of an output in JSON lines, in the order of the files."""
        files = sorted((self.folder / path).glob("part-*.json"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def ids(self, subscription: str) -> list[list[str]]:
        """The matches of a subscription, each as the ids of its events; a timer by its name."""
        rows = self.lines(f"out/{subscription}")
        return sorted([c.get("id", c["role"]) for c in row["constituents"]] for row in rows)


def run(spark: SparkSession, folder: Path, text: str, **files: str | list[dict[str, Any]]) -> Done:
    """Run a pipeline beside files: a text as it is, or a list of events as JSON lines."""
    for name, content in files.items():
        lines = (
            content if isinstance(content, str) else "".join(json.dumps(event) + "\n" for event in content)
        )
        (folder / name.replace("_", ".")).write_text(lines)
    (folder / "pipeline.toml").write_text(text)
    return Done(run_pipeline(folder / "pipeline.toml", session=spark), folder)


STRICT = """
[event.Open]
room = "string"

[event.Close]
room = "string"
seconds = "float"
by_hand = "bool"
people = "int"

[event.Fire]
since = "timestamp"

[[source]]
name = "doors"
format = "jsonl"
path = "doors.jsonl"
id = "id"

[[source]]
name = "windows"
format = "csv"
path = "windows.csv"
separator = ";"
time_unit = "ms"
rename = { place = "room" }

[[source]]
name = "gates"
format = "parquet"
path = "gates.parquet"
start = "from"
end = "to"

[[source]]
name = "alarms"
format = "table"
table = "pipeline_test_alarms"
event_type = "Fire"

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open];[Close(seconds >= 0)]"

[[subscription]]
name = "Burning"
pattern = "[Fire]"

[[sink]]
format = "jsonl"
path = "out"

[dead_letters]
path = "dead"
"""

DOORS = """\
{"id": 1, "type": "Open", "time": "2004-01-30T08:00:00Z", "room": "A"}
{"id": 2, "type": "Close", "time": "2004-01-30T09:00:01+01:00", "room": "A", "seconds": 1, "extra": [1]}

{"id": 3, "type": "Op
{"id": 4, "type": "Open", "time": "2004-01-30T08:00:00Z"}{"id": 5}
[{"id": 6, "type": "Open", "time": "2004-01-30T08:00:00Z"}]
{"id": 7, "type": "Open", "room": "A"}
{"id": 8, "type": "Open", "time": null, "room": "A"}
{"id": 9, "type": "Open", "time": "10:30", "room": "A"}
{"id": 10, "type": "Open", "time": "2004-02-30T08:00:00Z", "room": "A"}
{"id": 11, "time": "2004-01-30T08:00:00Z", "room": "A"}
{"id": 12, "type": 5, "time": "2004-01-30T08:00:00Z", "room": "A"}
{"id": 13, "type": "Opne", "time": "2004-01-30T08:00:00Z", "room": "A"}
{"id": 14, "type": "Open", "time": "2004-01-30T08:00:00Z", "room": 14}
{"id": 15, "type": "Close", "time": "2004-01-30T08:00:00Z", "room": "A", "seconds": "1"}
{"id": 16, "type": "Close", "time": "2004-01-30T08:00:00Z", "room": "A", "by_hand": "yes"}
{"id": 17, "type": "Close", "time": "2004-01-30T08:00:00Z", "room": "A", "people": 1.5}
{"id": 18, "type": "Fire", "time": "2004-01-30T08:00:00Z", "since": "now"}
{"id": 19, "type": "Open", "time": "2004-01-30T08:00:00Z", "room": null, "seconds": "not mine"}
{"id": 20, "type": "Close", "time": "2004-01-30T08:00:00Z", "seconds": -1}
{"id": 21, "type": "Fire", "time": "2004-01-30", "since": "2004-01-29T23:00"}
"""
DOOR_REASONS = {
    4: "it is not one JSON object",
    5: "it is not one JSON object",
    6: "it is not one JSON object",
    7: "no time in 'time'",
    8: "no time in 'time'",
    9: "the time in 'time' cannot be read",
    10: "the time in 'time' cannot be read",
    11: "no type in 'type'",
    12: "the type in 'type' is not a text",
    13: "there is no event type 'Opne'",
    14: "'room' is not a string",
    15: "'seconds' is not a float",
    16: "'by_hand' is not a bool",
    17: "'people' is not an int",
    18: "'since' is not a timestamp",
    19: "no key in 'room' for Through",
}

WINDOWS = """\
time;type;place;seconds;people
1075449600000;Open;W;;
1075449601500;Close;W;1.5;2
1075449601500;Close;W
soon;Open;W;;
1075449602000;Close;W;long;
1075449602000;Close;"W
1075449602000;Close;W;1d;
9e99;Close;W;1;
"""
WINDOW_REASONS = {
    4: "it does not have the fields of the first line",
    5: "the time in 'time' cannot be read",
    6: "'seconds' is not a float",
    7: "a quoted field is not closed in its line",
    8: "'seconds' is not a float",
    9: "the time in 'time' cannot be read",
}


@pytest.fixture(scope="module")
def strict(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("with blank +")
    moment = pa.timestamp("us", tz="UTC")
    gates = {
        "type": pa.array(["Open", "Close", "Open", "Open", "Close"]),
        "room": pa.array(["G", "G", None, "G", "G"]),
        "from": pa.array([1_000_000, 2_000_000, 3_000_000, 9_000_000, None], moment),
        "to": pa.array([1_000_000, 3_000_000, 3_000_000, 8_000_000, 9_000_000], moment),
        "seconds": pa.array([None, 1, None, None, 1], pa.int32()),
    }
    (folder / "gates.parquet").mkdir()
    pq.write_table(pa.table(gates), folder / "gates.parquet" / "part-0.parquet")
    spark.createDataFrame([("2004-01-30",), ("never",)], "time string").createOrReplaceTempView(
        "pipeline_test_alarms"
    )
    return run(spark, folder, STRICT, doors_jsonl=DOORS, windows_csv=WINDOWS)


def test_every_unreadable_event_is_a_dead_letter_with_its_reason_and_its_place(strict: Done) -> None:
    letters = strict.lines("dead")
    found = {source: {} for source in ("doors", "windows", "gates", "alarms")}
    for letter in letters:
        found[letter["source"]][letter.get("line")] = letter["reason"]
    assert found == {
        "doors": DOOR_REASONS,
        "windows": WINDOW_REASONS,
        "gates": {
            3: "no key in 'room' for Through",
            4: "it ends before it starts",
            5: "no time in 'from'",
        },
        "alarms": {None: "the time in 'time' cannot be read"},
    }


def test_a_dead_letter_keeps_the_text_and_the_file(strict: Done) -> None:
    letters = strict.lines("dead")
    doors, windows = DOORS.splitlines(), WINDOWS.splitlines()
    for letter in letters:
        if letter["source"] in ("doors", "windows"):
            lines, file = (doors, "doors.jsonl") if letter["source"] == "doors" else (windows, "windows.csv")
            assert letter["text"] == lines[letter["line"] - 1]
            assert letter["file"] == str(strict.folder / file)
        if letter["source"] == "gates":
            assert json.loads(letter["text"])["type"] in ("Open", "Close")
            assert letter["file"] == str(strict.folder / "gates.parquet" / "part-0.parquet")
        if letter["source"] == "alarms":
            assert json.loads(letter["text"]) == {"time": "never"}


def test_the_counters_add_up(strict: Done) -> None:
    report = strict.report
    assert report.sources == {
        # Line 20 lacks the key, too, but no pattern looks at it.
        "doors": Counters(read=20, used=3, irrelevant=1, dead=16, limited=0),
        "windows": Counters(read=8, used=2, irrelevant=0, dead=6, limited=0),
        "gates": Counters(read=5, used=2, irrelevant=0, dead=3, limited=0),
        "alarms": Counters(read=2, used=1, irrelevant=0, dead=1, limited=0),
    }
    assert report.total == Counters(read=35, used=8, irrelevant=1, dead=26, limited=0)
    assert report.reasons == Counter(letter["reason"] for letter in strict.lines("dead"))


def test_what_can_be_read_is_detected(strict: Done) -> None:
    assert strict.report.matches == {"Through": 3, "Burning": 2}
    through = {row["room"]: row for row in strict.lines("out/Through")}
    assert set(through) == {"A", "W", "G"}
    assert [c["id"] for c in through["A"]["constituents"]] == ["1", "2"]
    assert through["W"]["end"] == "2004-01-30T08:00:01.500Z"
    assert through["W"]["constituents"][1]["attributes"] == {
        "room": "W",
        "seconds": 1.5,
        "people": 2,
        "source": "windows",
    }
    assert (through["G"]["start"], through["G"]["end"]) == (
        "1970-01-01T00:00:01.000Z",
        "1970-01-01T00:00:03.000Z",
    )
    burning = {row["start"]: row["constituents"][0]["attributes"] for row in strict.lines("out/Burning")}
    assert burning["2004-01-30T00:00:00.000Z"]


def test_counters_that_do_not_add_up_stop_the_run() -> None:
    with pytest.raises(InputError, match="the events of doors do not add up: read 5, but 3 used"):
        Counters(read=5, used=3, irrelevant=0, dead=1, limited=0).checked("doors")


OPEN = """
[[source]]
name = "a"
format = "jsonl"
path = "a.jsonl"
id = "id"
source = "device"
rename = { "place.room" = "room", at = "time" }

[[source]]
name = "b"
format = "csv"
path = "b.csv"
event_type = "Stop"
id = "number"

[[subscription]]
name = "StartStop"
key = ["room", "floor"]
pattern = "[Start(level > 1.5)];[Stop(level = 2)]"

[[subscription]]
name = "Never"
pattern = "[Start];[Nothing]"

[[subscription]]
name = "Devices"
pattern = "[Start(source = 'd1' AND tags.colour = 'red')]"
attributes = ["level", "source"]

[[sink]]
format = "jsonl"
path = "out"

[[sink]]
format = "console"
rows = 1
subscriptions = ["StartStop", "Never"]
"""


def test_without_declarations_the_columns_are_what_they_are(spark: SparkSession, tmp_path: Path) -> None:
    start = {"type": "Start", "floor": 1, "device": "d1", "tags": {"colour": "red"}}
    first = [
        start | {"id": 1, "at": "2004-01-30T08:00:00Z", "place": {"room": "A"}, "level": 2},
        start | {"id": 2, "at": "2004-01-30T08:00:01Z", "place": {"room": "A"}, "level": 1.5},
        start | {"id": 3, "at": "2004-01-30T08:00:02Z", "place": {"room": "B"}, "level": 3, "device": None},
    ]
    second = "number,time,room,floor,level\n10,2004-01-30T08:01:00Z,A,1,2\n11,2004-01-30T08:01:00Z,B,2,2\n"
    done = run(spark, tmp_path, OPEN, a_jsonl=first, b_csv=second)
    assert done.report.matches == {"StartStop": 1, "Never": 0, "Devices": 2}
    assert any("no event is of the type 'Nothing'" in warning for warning in done.report.warnings)
    (match,) = done.lines("out/StartStop")
    assert (match["room"], match["floor"]) == ("A", 1)
    assert [c["id"] for c in match["constituents"]] == ["1", "10"]
    assert match["constituents"][1]["attributes"] == {"room": "A", "floor": 1, "level": 2.0, "source": "b"}
    assert [row["constituents"][0]["attributes"] for row in done.lines("out/Devices")] == [
        {"level": 2.0, "source": "d1"},
        {"level": 1.5, "source": "d1"},
    ]
    assert done.lines("out/Never") == []
    shown = str(done.report)
    assert "2004-01-30 08:00:00 to 08:01:00  room A, floor 1: Start level=2.0" in shown
    assert "Never: no match" in shown
    assert done.report.total == Counters(read=5, used=5, irrelevant=0, dead=0, limited=0)


EMPTY = """
[[source]]
name = "lines"
format = "jsonl"
path = "lines.jsonl"

[[source]]
name = "folder"
format = "parquet"
path = "folder"

[[source]]
name = "head"
format = "csv"
path = "head.csv"

[[subscription]]
name = "Pair"
key = "room"
pattern = "[A(x.y > 1 AND z = $z)];[B(z = $z)]"

[[subscription]]
name = "Pairs"
events = ["Pair"]
pattern = "[Pair(room = 'A')];[Pair]"

[[sink]]
format = "parquet"
path = "out"

[dead_letters]
path = "dead"
format = "parquet"
"""


def test_empty_sources_give_empty_outputs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = run(spark, tmp_path, EMPTY, lines_jsonl="", head_csv="time,type,room\n")
    assert done.report.matches == {"Pair": 0, "Pairs": 0}
    assert done.report.total == Counters(0, 0, 0, 0, 0)
    for folder in ("out/Pair", "out/Pairs", "dead"):
        assert spark.read.parquet(str(tmp_path / folder)).count() == 0


COMPOSITES = """
[[source]]
name = "rooms"
format = "jsonl"
path = "rooms.jsonl"
time_unit = "s"
id = "id"

[[subscription]]
name = "Visit"
key = "room"
pattern = "Quick := ([In(who = $who)];[Out(who = $who)]); [Quick(who = $who)]"

[[subscription]] # the same, but with a condition: its matches must become rows to be used
name = "Checked"
key = "room"
pattern = "[In(who = $who)];[Out(who = $who)] where In.no = Out.of"

[[subscription]]
name = "SameKey"
key = "room"
events = ["Visit"]
pattern = "Quick := ([Bell]); [Visit(who = 'Jean')];[Quick]"

[[subscription]]
name = "SameKeyAsRows"
key = "room"
events = ["Checked"]
pattern = "[Checked(who = 'Jean')];[Bell]"

[[subscription]]
name = "NoKey"
events = ["Visit"]
pattern = "[Visit(who = $who AND room = 'A')];[Visit(who = $who AND room != 'A')]"

[[subscription]]
name = "ByPerson"
key = "who"
events = ["Visit", "NoKey"]
pattern = "([NoKey], [T1 in {T1, Call}])_{T1=5s}"

[[subscription]] # only one of the two binds a person
name = "Either"
key = "room"
pattern = "[Out(who = $who)] | [Bell]"

[[subscription]]
name = "ByEither"
key = "who"
events = ["Either"]
pattern = "[Either][Either]"

[[sink]]
format = "jsonl"
path = "out"
"""


def test_composites_are_events_of_other_subscriptions(spark: SparkSession, tmp_path: Path) -> None:
    def event(
        id: int, type: str, time: int, room: str | None, who: str | None, of: int | None = None
    ) -> dict[str, Any]:
        return {"id": id, "no": id, "type": type, "time": time, "room": room, "who": who, "of": of}

    events = [
        event(1, "In", 10, "A", "Jean"),
        event(2, "In", 11, "A", "Peter"),
        event(3, "Out", 12, "A", "Jean", of=1),
        event(4, "Bell", 13, "A", None),
        event(5, "Out", 14, "A", "Peter", of=99),
        event(6, "In", 20, "B", "Jean"),
        event(7, "In", 21, "B", "Peter"),
        event(8, "Out", 22, "B", "Jean", of=6),
        event(9, "Out", 23, "B", "Peter", of=7),
        event(10, "Bell", 24, "B", None),
        event(11, "Call", 26, "C", "Peter"),
    ]
    done = run(spark, tmp_path, COMPOSITES, rooms_jsonl=events)
    assert done.ids("Visit") == [["1", "3"], ["2", "5"], ["6", "8"], ["7", "9"]]
    assert done.ids("Checked") == [["1", "3"], ["6", "8"], ["7", "9"]]
    # Whether the composite is a part of one plan or a row among the events, the matches are the same.
    assert done.ids("SameKey") == done.ids("SameKeyAsRows") == [["1", "3", "4"], ["6", "8", "10"]]
    paths = [[c["path"] for c in row["constituents"]] for row in done.lines("out/SameKeyAsRows")]
    assert paths == [[[1, 1], [1, 2], [2]]] * 2
    assert done.ids("NoKey") == [["1", "3", "6", "8"], ["2", "5", "7", "9"]]
    # Peter is called in time.
    assert done.ids("ByPerson") == [["1", "3", "6", "8", "T1"]]
    (sent,) = done.lines("out/ByPerson")
    assert sent["who"] == "Jean"
    # In NoKey, in a Visit, in its Quick: each event has its place on every level.
    paths = [c["path"] for c in sent["constituents"]]
    assert paths == [[1, 1, 1, 1], [1, 1, 1, 2], [1, 2, 1, 1], [1, 2, 1, 2], [2]]
    assert sent["constituents"][0]["attributes"]["who"] == "Jean"
    assert done.report.composites["Visit"] == Counters(read=4, used=4, irrelevant=0, dead=0, limited=0)
    assert done.ids("ByEither") == [["3", "8"], ["5", "9"]]
    # Two bells have nobody by whom they could be brought together.
    assert done.report.composites["Either"] == Counters(read=6, used=4, irrelevant=0, dead=2, limited=0)
    assert done.report.reasons == {"no key in 'who' for ByPerson, ByEither": 2}
    assert done.report.composites["Checked"] == Counters(read=3, used=2, irrelevant=1, dead=0, limited=0)


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ('format = "jsonl"\npath = "rooms.jsonl"', 'format = "table"\ntable = "no_such_table"', "unreadable-source", 5),
        ('id = "id"', 'id = "number"', "unknown-column", 7),
        ('id = "id"', 'rename = { rom = "room" }', "unknown-column", 7),
        ('id = "id"', 'rename = { of = "tocsin_of" }', "bad-column", 2),
        ('id = "id"', 'limit = [{ type = "In", by = ["floor"], every = "1s" }]', "unknown-column", 7),
        ("In(who = $who)];[Out(who = $who)]);", "In(whom = $who)];[Out(who = $who)]);", "unknown-attribute", 12),
        ("In.no = Out.of", "In.no = 'one'", "type-mismatch", 17),
        ('time_unit = "s"', 'time = "late"', "bad-column", 6),
    ],
)  # fmt: skip
def test_what_the_sources_do_not_have_is_named_by_its_line(
    spark: SparkSession, tmp_path: Path, old: str, new: str, code: str, line: int
) -> None:
    assert COMPOSITES.count(old) == 1
    rooms = [{"late": True, "id": 1, "no": 1, "type": "In", "time": 1, "room": "A", "who": "Jean", "of": 1}]
    with pytest.raises(PipelineError) as raised:
        run(spark, tmp_path, COMPOSITES.replace(old, new), rooms_jsonl=rooms)
    assert raised.value.code == code
    assert raised.value.span is not None
    assert raised.value.span.line_column[0] == line
