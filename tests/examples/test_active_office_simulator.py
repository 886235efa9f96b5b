"""The Active Office simulator: same seed, same day, and the day holds what the scenarios look for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "active_office"
sys.path.insert(0, str(EXAMPLE))

from office.events import SCHEMA  # noqa: E402
from office.movement import RESIDENT_HABITS, VISITOR_HABITS, Habit, transition_matrix  # noqa: E402
from office.plan import HOME_OFFICE, MEETING_ROOMS, OFFICES, PEOPLE, RESIDENTS, ROOMS, VISITORS  # noqa: E402
from simulate import main, simulate  # noqa: E402

Event = dict[str, Any]
FIVE_MINUTES = timedelta(minutes=5)


def sensor_table(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(part) for part in sorted((folder / "sensors.parquet").iterdir()))


def login_lines(folder: Path) -> list[str]:
    return (folder / "logins.jsonl").read_text(encoding="utf-8").splitlines()


def read_login(line: str) -> Event | None:
    """Read a login as any consumer would, or give None for a line that cannot be read."""
    try:
        login: Event = json.loads(line)
        moment = datetime.strptime(login["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except (ValueError, KeyError):
        return None
    return login | {"time": moment}


def readable_logins(folder: Path) -> list[Event]:
    return [login for line in login_lines(folder) if (login := read_login(line))]


def all_events(folder: Path) -> list[Event]:
    events = sensor_table(folder).to_pylist() + readable_logins(folder)
    return sorted(events, key=lambda event: event["id"])


def of_type(events: list[Event], *types: str) -> list[Event]:
    return [event for event in events if event["type"] in types]


def board_sessions(events: list[Event]) -> list[tuple[Event, Event]]:
    """Pair each BoardOn with the BoardOff of the same room."""
    sessions = []
    for room in MEETING_ROOMS:
        switches = [event for event in of_type(events, "BoardOn", "BoardOff") if event["location"] == room]
        sessions += list(zip(switches[::2], switches[1::2], strict=False))
    return sessions


def seen_during(events: list[Event], on: Event, off: Event) -> set[str]:
    """Who was reported in the room while its board was on."""
    reports = of_type(events[on["id"] : off["id"]], "Pers")
    return {report["name"] for report in reports if report["location"] == on["location"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default day: seed 1, one floor."""
    folder = tmp_path_factory.mktemp("day")
    simulate(folder)
    return folder


@pytest.fixture(scope="module")
def day(folder: Path) -> list[Event]:
    return all_events(folder)


# The model


@pytest.mark.parametrize("habit", [*RESIDENT_HABITS.values(), *VISITOR_HABITS.values()])
def test_each_row_of_a_transition_matrix_is_a_distribution(habit: Habit) -> None:
    matrix = transition_matrix(habit)
    assert matrix.shape == (len(ROOMS), len(ROOMS))
    assert (matrix >= 0).all()
    assert np.allclose(matrix.sum(axis=1), 1)


def test_nine_rooms_and_fifteen_people(day: list[Event]) -> None:
    assert len(RESIDENTS) == 8
    assert len(VISITORS) == 7
    assert {report["name"] for report in of_type(day, "Pers")} == set(PEOPLE)
    assert {report["location"] for report in of_type(day, "Pers")} == set(ROOMS)
    assert Counter(reading["location"] for reading in of_type(day, "Temp")) == dict.fromkeys(ROOMS, 600)


def test_residents_prefer_offices_and_visitors_meeting_rooms(day: list[Event]) -> None:
    def share_in_offices(people: tuple[str, ...]) -> float:
        reports = [report for report in of_type(day, "Pers") if report["name"] in people]
        return sum(report["location"] in OFFICES for report in reports) / len(reports)

    assert share_in_offices(RESIDENTS) > 0.6
    assert share_in_offices(VISITORS) < 0.3


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_is_reported_about_once_a_minute(day: list[Event], name: str) -> None:
    times = [report["time"] for report in of_type(day, "Pers") if report["name"] == name]
    gaps = {(after - before).total_seconds() for before, after in pairwise(times)}
    assert len(times) == 600
    assert min(gaps) >= 50
    assert max(gaps) <= 70
    assert len(gaps) > 100, "the reports should jitter"


def test_somebody_seen_in_another_room_has_opened_both_doors(day: list[Event]) -> None:
    opened = [door for door in of_type(day, "Door") if door["action"] == "open"]
    assert len(opened) * 2 == len(of_type(day, "Door"))
    jean = [report for report in of_type(day, "Pers") if report["name"] == "Jean"]
    for before, after in pairwise(jean):
        if before["location"] != after["location"]:
            # She may have left just before the first report, which then still shows the room she left.
            since = before["time"] - timedelta(seconds=20)
            doors = {door["location"] for door in opened if since <= door["time"] <= after["time"]}
            assert {before["location"], after["location"]} <= doors


def test_boards_go_on_and_off_in_turn_and_sometimes_for_nobody(day: list[Event]) -> None:
    for room in MEETING_ROOMS:
        switches = [
            event["type"] for event in of_type(day, "BoardOn", "BoardOff") if event["location"] == room
        ]
        assert switches[0] == "BoardOn"
        assert all(before != after for before, after in pairwise(switches))
    attendance = [len(seen_during(day, on, off)) for on, off in board_sessions(day)]
    assert 0 in attendance
    assert max(attendance) > 2


def test_residents_log_in_at_home_only(day: list[Event]) -> None:
    logins = of_type(day, "Login")
    assert {login["name"] for login in logins} == set(RESIDENTS)
    assert all(login["location"] == HOME_OFFICE[login["name"]] for login in logins)


# What the scenarios look for


def test_some_occupied_room_is_cold(day: list[Event]) -> None:
    signs = of_type(day, "Pers", "Door")

    def occupied(reading: Event) -> bool:
        since = reading["time"] - FIVE_MINUTES
        return any(
            s["location"] == reading["location"] and since <= s["time"] <= reading["time"] for s in signs
        )

    cold = [reading for reading in of_type(day, "Temp") if reading["temp"] < 15]
    assert any(occupied(reading) for reading in cold)
    assert len(cold) < len(of_type(day, "Temp")) / 5, "cold rooms should be the exception"


def test_jean_logs_in_within_five_minutes_after_some_meetings_only(day: list[Event]) -> None:
    logins = [login["time"] for login in of_type(day, "Login") if login["name"] == "Jean"]
    meetings = [(on, off) for on, off in board_sessions(day) if len(seen_during(day, on, off)) >= 2]
    ends = [off["time"] for on, off in meetings if "Jean" in seen_during(day, on, off)]
    logged_in = {any(end < login <= end + FIVE_MINUTES for login in logins) for end in ends}
    assert logged_in == {True, False}


def test_some_low_bandwidth_is_a_fault_and_some_is_not(day: list[Event]) -> None:
    reports = of_type(day, "ReducedBandwidth")

    def points_within_ten_minutes(first: Event) -> int:
        until = first["time"] + timedelta(minutes=10)
        return len({r["point"] for r in reports if first["time"] <= r["time"] <= until})

    points = [points_within_ten_minutes(report) for report in reports]
    assert max(points) >= 5
    assert min(points) == 1


# What is written


def test_the_table_has_the_documented_columns(folder: Path, day: list[Event]) -> None:
    attributes = {
        "Pers": {"location", "name"},
        "Door": {"location", "action"},
        "Temp": {"location", "temp"},
        "BoardOn": {"location"},
        "BoardOff": {"location"},
        "ReducedBandwidth": {"point", "mbit"},
        "Login": {"location", "name"},
    }
    assert sensor_table(folder).schema == SCHEMA
    assert "Login" not in sensor_table(folder)["type"].to_pylist()
    for event in day:
        present = {name for name, value in event.items() if value is not None}
        assert present == {"id", "type", "time", "source"} | attributes[event["type"]]


def test_ids_are_dense_and_in_the_order_of_time(day: list[Event]) -> None:
    assert [event["id"] for event in day] == list(range(1, len(day) + 1))
    assert all(before["time"] <= after["time"] for before, after in pairwise(day))
    assert day[0]["time"] >= datetime(2004, 1, 30, 8, tzinfo=UTC)
    assert day[-1]["time"] < datetime(2004, 1, 30, 18, tzinfo=UTC)


def test_the_summary_counts_what_is_there(folder: Path, day: list[Event]) -> None:
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["types"] == Counter(event["type"] for event in day)
    assert summary["events"] == len(day)
    assert (summary["seed"], summary["floors"], summary["malformed"]) == (1, 1, 3)


def test_the_same_seed_gives_the_same_events(tmp_path: Path, folder: Path) -> None:
    simulate(tmp_path, seed=1)
    assert sensor_table(tmp_path).equals(sensor_table(folder))
    assert login_lines(tmp_path) == login_lines(folder)


def test_another_seed_gives_other_events(tmp_path: Path, folder: Path) -> None:
    simulate(tmp_path, seed=2)
    assert not sensor_table(tmp_path).equals(sensor_table(folder))
    assert login_lines(tmp_path) != login_lines(folder)


def test_the_size_of_the_part_files_changes_no_event(tmp_path: Path, folder: Path) -> None:
    simulate(tmp_path, rows_per_file=1_000)
    assert len(list((tmp_path / "sensors.parquet").iterdir())) > 10
    assert sensor_table(tmp_path).equals(sensor_table(folder))
    assert login_lines(tmp_path) == login_lines(folder)


def test_a_smaller_run_leaves_nothing_of_a_larger_one_behind(tmp_path: Path) -> None:
    simulate(tmp_path, events=3_000, rows_per_file=500)
    simulate(tmp_path, events=100)
    assert len(all_events(tmp_path)) == 100


def test_floors_have_their_own_rooms_and_people(tmp_path: Path) -> None:
    simulate(tmp_path, floors=3)
    events = all_events(tmp_path)
    prefixes = ("f001", "f002", "f003")
    assert {reading["location"] for reading in of_type(events, "Temp")} == {
        f"{floor}/{room}" for floor in prefixes for room in ROOMS
    }
    reports = of_type(events, "Pers")
    assert Counter(report["name"] for report in reports) == {
        f"{floor}/{name}": 600 for floor in prefixes for name in PEOPLE
    }
    assert all(report["name"][:4] == report["location"][:4] == report["source"][:4] for report in reports)


def test_a_number_of_events_is_exact_and_cuts_in_the_order_of_time(tmp_path: Path, day: list[Event]) -> None:
    assert simulate(tmp_path, events=1_000).floors == 1
    assert all_events(tmp_path) == day[:1_000]


@pytest.mark.parametrize(("events", "floors"), [(1, 1), (14_400, 1), (14_401, 2), (60_000, 5)])
def test_a_number_of_events_chooses_the_floors(tmp_path: Path, events: int, floors: int) -> None:
    summary = simulate(tmp_path, events=events)
    assert (summary.events, summary.floors) == (events, floors)
    assert sensor_table(tmp_path).num_rows + len(readable_logins(tmp_path)) == events


@pytest.mark.parametrize("malformed", [0, 1, 3, 9])
def test_exactly_so_many_lines_cannot_be_read(tmp_path: Path, malformed: int) -> None:
    summary = simulate(tmp_path, events=8_000, malformed=malformed)
    unreadable = [read_login(line) is None for line in login_lines(tmp_path)]
    assert sum(unreadable) == malformed
    assert unreadable.count(False) == summary.types["Login"]
    assert not unreadable[0]
    assert not unreadable[-1], "they should lie among the logins"


def test_unreadable_lines_are_written_even_without_logins(tmp_path: Path) -> None:
    assert simulate(tmp_path, events=1, malformed=4).types["Login"] == 0
    assert len(set(login_lines(tmp_path))) == 4


# The command


def test_the_command_writes_a_day_and_sums_it_up(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE / "simulate.py"), "--out", str(tmp_path / "new" / "day")]
    done = subprocess.run(
        [*command, "--events", "2000", "--seed", "7"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Active Office: 2,000 events of 1 floor, seed 7\n")
    assert len(all_events(tmp_path / "new" / "day")) == 2_000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--events", "0"], "0 is less than 1"),
        (["--floors", "2", "--events", "5"], "not allowed with"),
        (["--malformed", "-1"], "-1 is less than 0"),
        (["--seed", "tomorrow"], "invalid number value: 'tomorrow'"),
    ],
)
def test_a_wrong_option_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--out", str(tmp_path), *wrong])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SystemExit) as stopped:
        main(["--out", str(tmp_path / "file")])
    assert stopped.value.code == 2
    assert "cannot write the events" in capsys.readouterr().err
