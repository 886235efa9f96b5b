"""The avionics simulator: same seed, same bytes, and the flight holds what the correlations look for."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "avionics"
sys.path.insert(0, str(EXAMPLE))

from flight.components import MODES, PORTS, SENSORS  # noqa: E402
from flight.system import load  # noqa: E402
from flight.table import SCHEMA, START  # noqa: E402

Event = dict[str, Any]


def script(name: str) -> ModuleType:
    """A script of the example as a module; its own name may be that of another example's script."""
    spec = importlib.util.spec_from_file_location(f"avionics_{name}", EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulator = script("simulator")


def read(folder: Path) -> pa.Table:
    return pa.concat_tables(pq.read_table(part) for part in sorted((folder / "events.parquet").iterdir()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two aircraft for two minutes, seed 1."""
    folder = tmp_path_factory.mktemp("flight")
    simulator.simulate(folder, scale=2, minutes=2)
    return folder


@pytest.fixture(scope="module")
def events(folder: Path) -> list[Event]:
    found: list[Event] = read(folder).to_pylist()
    return found


def by_aircraft(events: list[Event], component: str) -> Iterator[list[Event]]:
    """The events of one component, for each aircraft."""
    found = defaultdict(list)
    for event in events:
        if event["source"].startswith(f"{component}."):
            found[event["aircraft"]].append(event)
    yield from found.values()


# What is written


def test_the_columns_are_as_documented_and_the_attributes_as_declared(
    folder: Path, events: list[Event]
) -> None:
    assert read(folder).schema == SCHEMA
    types = load().types
    for event in events:
        present = {name for name, value in event.items() if value is not None}
        assert present == {"id", "time", "type", "source", "aircraft", *types.attributes(event["type"])}


def test_ids_are_dense_and_in_the_order_of_time(events: list[Event]) -> None:
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert all(before["time"] <= after["time"] for before, after in pairwise(events))
    assert events[0]["time"] >= START
    assert events[-1]["time"] < START + timedelta(minutes=2)


def test_every_port_of_the_assembly_is_there_with_the_type_its_correlation_wants() -> None:
    system = load()
    types = {port.source: port.type for port in PORTS}
    correlations = {one.name: one for one in system.library.correlations}
    for connection in system.assembly.connections:
        if connection.target.owner in correlations and connection.source.owner not in correlations:
            parameters = correlations[connection.target.owner].parameters
            (wanted,) = (one.type for one in parameters if one.name == connection.target.port)
            assert system.types.is_subtype(types[str(connection.source)], wanted)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, folder: Path) -> None:
    simulator.simulate(tmp_path, seed=1, scale=2, minutes=2)
    for part in (folder / "events.parquet").iterdir():
        assert part.read_bytes() == (tmp_path / "events.parquet" / part.name).read_bytes()


def test_another_seed_gives_other_events(tmp_path: Path, folder: Path) -> None:
    simulator.simulate(tmp_path, seed=2, scale=2, minutes=2)
    assert not read(tmp_path).equals(read(folder))


def test_a_shorter_run_leaves_nothing_of_a_longer_one_behind(tmp_path: Path) -> None:
    simulator.simulate(tmp_path, minutes=2)
    summary = simulator.simulate(tmp_path, minutes=1)
    assert read(tmp_path).num_rows == summary.events


# The model


@pytest.mark.parametrize("port", [port for port in PORTS if port.hz], ids=lambda port: port.source)
def test_a_periodic_port_has_its_rate(events: list[Event], port: Any) -> None:
    for own in by_aircraft(events, port.component):
        times = [event["time"] for event in own if event["source"] == port.source]
        # A second's worth may come after the end; sensors and the tactical queue are not always there.
        assert len(times) <= 120 * port.hz
        if port.component != "TacticalSteering" and port.type != "DataNotify":
            assert len(times) >= 118 * port.hz
        spread = (port.latest - port.soonest) / 1e6
        gaps = sorted((after - before).total_seconds() for before, after in pairwise(times))
        assert gaps[0] >= 1 / port.hz - spread
        assert gaps[len(gaps) // 2] <= 1 / port.hz + spread


def test_the_pilot_always_switches_to_another_mode(events: list[Event]) -> None:
    for own in by_aircraft(events, "Pilot"):
        modes = [MODES[0], *(event["source"].partition(".")[2] for event in own)]
        assert len(modes) > 3
        assert all(before != after for before, after in pairwise(modes))


def test_the_tactical_queue_is_only_there_in_its_mode(events: list[Event]) -> None:
    mode: dict[str, str] = {}
    seen = set()
    for event in events:
        component, _, port = event["source"].partition(".")
        if component == "Pilot":
            mode[event["aircraft"]] = port
        if component == "TacticalSteering":
            seen.add(mode[event["aircraft"]])
    assert seen == {"tactical"}


def test_the_controller_of_validity_says_which_sensors_are_left(events: list[Event]) -> None:
    for own in by_aircraft(events, "Validity"):
        valid = 2**SENSORS - 1
        for event in own:
            port = event["source"].partition(".")[2]
            bit = 1 << int(port[-1]) - 1
            assert bool(valid & bit) == port.startswith("drop")
            valid ^= bit
            assert event["valid"] == valid


def test_a_sensor_that_fails_sends_nonsense_or_nothing_until_it_works_again(events: list[Event]) -> None:
    kinds = Counter[str]()
    messages = [event for event in events if event["type"] == "Validity"]
    for dropped in messages:
        port = dropped["source"].partition(".")[2]
        restored = next(
            (
                event
                for event in messages
                if event["id"] > dropped["id"]
                and event["aircraft"] == dropped["aircraft"]
                and event["source"] == f"Validity.restore{port[-1]}"
            ),
            None,
        )
        if not port.startswith("drop") or restored is None:
            continue
        # The controller is late by up to 150 ms at either end.
        last = restored["time"] - timedelta(milliseconds=150)
        own = [
            event["Value"]
            for event in events
            if event["aircraft"] == dropped["aircraft"]
            and event["source"] == f"AirData{port[-1]}.out1"
            and dropped["time"] < event["time"] < last
        ]
        assert set(own) <= {0.0}
        kinds["nonsense" if own else "silent"] += 1
    assert kinds["nonsense"] > 0
    assert kinds["silent"] > 0


def test_more_aircraft_give_more_of_the_same(tmp_path: Path, folder: Path) -> None:
    summary = simulator.simulate(tmp_path, scale=12, minutes=1)
    table = read(tmp_path)
    assert table.num_rows == summary.events
    counts = Counter(table["aircraft"].to_pylist())
    assert sorted(counts) == [f"A{number:04}" for number in range(1, 13)]
    assert max(counts.values()) < 1.2 * min(counts.values())


# The command


def test_the_command_writes_a_flight_and_sums_it_up(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE / "simulator.py"), "--output", str(tmp_path / "new" / "flight")]
    done = subprocess.run(
        [*command, "--minutes", "1", "--seed", "7"], capture_output=True, text=True, check=True
    )
    rows = read(tmp_path / "new" / "flight").num_rows
    assert done.stdout.startswith(f"Avionics: {rows:,} events of 1 aircraft in 1 minute, seed 7\n  Timer ")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--scale", "0"], "0 is less than 1"),
        (["--minutes", "-1"], "-1 is less than 1"),
        (["--seed", "tomorrow"], "invalid number value: 'tomorrow'"),
    ],
)
def test_a_wrong_option_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        simulator.main(["--output", str(tmp_path), *wrong])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SystemExit) as stopped:
        simulator.main(["--output", str(tmp_path / "file")])
    assert stopped.value.code == 2
    assert "cannot write the events" in capsys.readouterr().err
