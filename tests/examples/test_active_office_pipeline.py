"""The pipeline of the Active Office finds what a plain search of the same day finds, and its README is true."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from docs.pages import blocks, fits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EXAMPLE = Path(__file__).parents[2] / "examples" / "active_office"
MINUTE = timedelta(minutes=1)

Event = dict[str, Any]
Ids = tuple[str, ...]


def commands(page: str) -> Iterator[tuple[list[str], str]]:
    """The commands of a page, with the output that it shows."""
    for block in blocks(page):
        if block.language == "console":
            for part in block.text.removeprefix("$ ").split("\n$ "):
                line, _, shown = part.partition("\n")
                yield shlex.split(line), shown


@pytest.fixture(scope="module")
def office(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the example, after every command of its README was run and printed what the README shows."""
    from tocsin.cli import main

    root = tmp_path_factory.mktemp("root")
    unwanted = shutil.ignore_patterns("data", "out", "__pycache__")
    shutil.copytree(EXAMPLE, root / "examples" / "active_office", ignore=unwanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        ran = []
        for words, shown in commands((EXAMPLE / "README.md").read_text(encoding="utf-8")):
            if words[0] == "tocsin":
                printed = captured(main, words[1:])
            else:
                assert words[0] == "python3"
                done = subprocess.run(
                    [sys.executable, *words[1:]], capture_output=True, text=True, check=True
                )
                printed = done.stdout
            assert fits(shown, printed), f"$ {shlex.join(words)}\nexpected:\n{shown}\ngot:\n{printed}"
            ran.append(words[0])
    assert ran.count("tocsin") == 2
    return root / "examples" / "active_office"


def captured(main: Any, words: list[str]) -> str:
    """What a command prints. Progress goes to standard error, and so it is not in the result."""
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    assert code == 0, err.getvalue()
    if "--check" not in words:
        assert "detecting ColdRoom, Meeting: 585 ColdRoom, 9 Meeting" in err.getvalue()
    return ("progress\n" if err.getvalue() else "") + out.getvalue()


@pytest.fixture(scope="module")
def day(office: Path) -> list[Event]:
    """Every event of the day that can be read, in order, without the repeated badges."""
    events = pq.read_table(office / "data" / "sensors.parquet").to_pylist()
    for line in (office / "data" / "logins.jsonl").read_text().splitlines():
        try:
            login = json.loads(line)
            events.append(login | {"time": datetime.fromisoformat(login["time"])})
        except (ValueError, KeyError):
            continue
    kept = []
    seen: dict[tuple[str, str], datetime] = {}
    for event in sorted(events, key=lambda event: (event["time"], event["id"])):
        who = (event.get("name"), event.get("location"))
        if event["type"] == "Pers":
            if who in seen and event["time"] - seen[who] < MINUTE:
                continue
            seen[who] = event["time"]
        kept.append(event)
    return kept


def found(office: Path, subscription: str) -> set[Ids]:
    """The matches of a subscription as the ids of their events; a timer by its name."""
    rows = pq.read_table(office / "out" / "matches" / subscription).to_pylist()
    matches = [tuple(c["id"] or c["role"] for c in row["constituents"]) for row in rows]
    assert len(matches) == len(set(matches))
    return set(matches)


def by_room(day: list[Event]) -> dict[str, list[Event]]:
    rooms = defaultdict(list)
    for event in day:
        rooms[event.get("location")].append(event)
    del rooms[None]
    return rooms


def ids(*events: Event) -> Ids:
    return tuple(str(event["id"]) for event in events)


def meetings(day: list[Event]) -> list[list[Event]]:
    """From each board that goes on to the next that goes off in the room; Jean was seen between."""
    held = []
    for events in by_room(day).values():
        for at, on in enumerate(events):
            if on["type"] != "BoardOn":
                continue
            off = next((n for n in range(at, len(events)) if events[n]["type"] == "BoardOff"), None)
            people = [event for event in events[at:off] if event["type"] == "Pers"]
            if off is not None and any(person["name"] == "Jean" for person in people):
                held.append([on, *people, events[off]])
    return held


def test_scenario_1_a_cold_room_with_somebody_in_it(office: Path, day: list[Event]) -> None:
    expected = set()
    for events in by_room(day).values():
        for at, sign in enumerate(events):
            if sign["type"] in ("Pers", "Door"):
                cold = (e for e in events[at + 1 :] if e["type"] == "Temp" and e["temp"] < 15)
                first = next(cold, None)
                if first is not None and first["time"] <= sign["time"] + 5 * MINUTE:
                    expected.add(ids(sign, first))
    assert len(expected) > 100
    assert found(office, "ColdRoom") == expected


def test_scenario_2_a_meeting_and_no_login(office: Path, day: list[Event]) -> None:
    held = meetings(day)
    assert found(office, "Meeting") == {ids(*meeting) for meeting in held}
    logins = [
        e["time"] for e in day if e["type"] == "Login" and e["name"] == "Jean" and e["location"] == "FE02"
    ]
    expected = set()
    for meeting in held:
        end = meeting[-1]["time"]
        if not any(end <= login <= end + 5 * MINUTE for login in logins):
            expected.add((*ids(*meeting), "T1"))
    assert 0 < len(expected) < len(held), "the day should have meetings of both kinds"
    assert found(office, "SendToJean") == expected


def test_scenario_2_is_that_of_the_person_it_names(spark: SparkSession, tmp_path: Path) -> None:
    """What the README says of several floors: nobody there is just Jean, and the patterns can name one of the Jeans."""
    from tocsin.spark.pipeline import run_pipeline

    example = tmp_path / "example"
    shutil.copytree(EXAMPLE, example, ignore=shutil.ignore_patterns("data", "out", "__pycache__"))
    simulation = [sys.executable, EXAMPLE / "simulate.py", "--out", example / "data", "--floors", "2"]
    subprocess.run(simulation, capture_output=True, check=True)
    names = pq.read_table(example / "data" / "sensors.parquet", columns=["name"])["name"].to_pylist()
    assert {"f001/Jean", "f002/Jean"} == {name for name in names if name and "Jean" in name}
    for file in (example / "pipeline.toml", example / "patterns" / "meeting.tocsin"):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("'Jean'", "'f001/Jean'").replace("'FE02'", "'f001/FE02'"), "utf-8")
    matches = run_pipeline(example / "pipeline.toml", session=spark).matches
    assert matches["Meeting"] > matches["SendToJean"] > 0


def test_network_monitoring_five_different_points(office: Path, day: list[Event]) -> None:
    reports = [event for event in day if event["type"] == "ReducedBandwidth"]
    expected = set()
    for at, first in enumerate(reports):
        five = [first]
        for report in reports[at + 1 :]:
            in_time = report["time"] <= first["time"] + 10 * MINUTE
            if in_time and len(five) < 5 and report["point"] not in {one["point"] for one in five}:
                five.append(report)
        if len(five) == 5:
            expected.add(ids(*five))
    assert len(expected) > 10
    assert found(office, "NetworkFault") == expected
    carried = pq.read_table(office / "out" / "matches" / "NetworkFault").to_pylist()[0]["constituents"][0]
    assert set(carried["attributes"]) == {"point", "mbit"}


def test_the_unreadable_lines_are_dead_letters(office: Path) -> None:
    (file,) = (office / "out" / "dead_letters").glob("part-*.json")
    letters = [json.loads(line) for line in file.read_text().splitlines()]
    lines = (office / "data" / "logins.jsonl").read_text().splitlines()
    assert [lines[letter["line"] - 1] for letter in letters] == [letter["text"] for letter in letters]
    assert [letter["reason"] for letter in letters] == [
        "it is not one JSON object",
        "no time in 'time'",
        "the time in 'time' cannot be read",
    ]
