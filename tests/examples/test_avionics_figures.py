"""The correlations of the avionics example find what a plain search finds, and its README is true."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docs.pages import blocks, fits
from tocsin.algebra.correlation import semantics
from tocsin.algebra.correlation.outcome import Arrival, Output
from tocsin.automata import correlation as acceptor
from tocsin.errors import PatternErrors
from tocsin.languages.ksu import parse, parse_assembly

EXAMPLE = Path(__file__).parents[2] / "examples" / "avionics"
sys.path.insert(0, str(EXAMPLE))

from flight.components import COMPONENTS  # noqa: E402
from flight.modes import compare, correlation_text, mode_text  # noqa: E402
from flight.system import Flight, Passage, flights, load, run  # noqa: E402

pytestmark = pytest.mark.slow

SYSTEM = load()
NAMES = [correlation.name for correlation in SYSTEM.library.correlations]
Passages = dict[str, Passage]


def script(name: str) -> ModuleType:
    """A script of the example as a module; its own name may be that of another example's script."""
    spec = importlib.util.spec_from_file_location(f"avionics_{name}", EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


figures = script("figures")


def printed(arguments: list[str], command: Any = figures.main) -> str:
    out = StringIO()
    with redirect_stdout(out):
        command(arguments)
    return out.getvalue()


@pytest.fixture(scope="module")
def flight() -> Flight:
    """An aircraft for a minute, seed 1."""
    (flight,) = flights(seed=1, scale=1, minutes=1)
    return flight


@pytest.fixture(scope="module")
def flown(flight: Flight) -> Passages:
    return run(SYSTEM, flight)


def source_id(component: str) -> int:
    return COMPONENTS.index(component) + 1


def outputs(flown: Passages, name: str) -> tuple[Output, ...]:
    return flown[name].outcome.outputs


# What is read


def test_nothing_in_the_files_is_warned_about() -> None:
    assert SYSTEM.warnings == ()


def test_types_are_checked() -> None:
    wrong = "connect RedundantSensors -> MostRecent.a;"
    with pytest.raises(PatternErrors, match="DataAvailable is not a subtype of Position"):
        parse_assembly(wrong, SYSTEM.library, SYSTEM.types)


def test_every_correlation_has_a_counterpart() -> None:
    assert sorted(SYSTEM.counterparts) == sorted(NAMES)


def test_the_sixteen_modes_of_the_file_are_those_for_four_sensors() -> None:
    text = (EXAMPLE / "avionics.ecl").read_text(encoding="utf-8").replace("DataAvailable {}", "DataAvailable")
    assert all(line in text for line in mode_text(4).splitlines())


def test_the_pipeline_asks_for_every_correlation_once() -> None:
    pipeline = tomllib.loads((EXAMPLE / "avionics.toml").read_text(encoding="utf-8"))
    asked: list[str] = []
    for subscription in pipeline["subscription"]:
        if subscription["language"] == "ksu":
            library = parse((EXAMPLE / subscription["file"]).read_text(encoding="utf-8"), SYSTEM.types)
            names = [correlation.name for correlation in library.correlations]
            asked += [subscription["correlation"]] if "correlation" in subscription else names
            assert subscription.get("correlation", names[0]) in names
    assert sorted(asked) == sorted(NAMES)


# What is found


@pytest.mark.parametrize("name", NAMES)
def test_the_acceptor_does_what_the_definitions_say(flown: Passages, name: str) -> None:
    correlation = SYSTEM.library.find(name)
    assert correlation is not None
    program = acceptor.compile_correlation(correlation, types=SYSTEM.types)
    for arrivals in extracts(flown[name]):
        expected = semantics.run(correlation, arrivals, types=SYSTEM.types)
        assert acceptor.run(program, arrivals) == expected
        assert expected.outputs != ()


def extracts(passage: Passage) -> Iterator[list[Arrival]]:
    """The first arrivals, and those around the first that is no data: there labels are switched."""
    yield list(passage.arrivals[:150])
    rare = (at for at, one in enumerate(passage.received) if one.type in ("Control", "Validity"))
    for at in list(rare)[:1]:
        yield list(passage.arrivals[at - 100 : at + 100])


@pytest.mark.parametrize("name", NAMES)
def test_no_statement_is_skipped_and_no_event_refused(flown: Passages, name: str) -> None:
    outcome = flown[name].outcome
    assert outcome.outputs != ()
    assert (outcome.skipped, outcome.dead) == ((), ())
    assert len(outcome.outputs) < len(flown[name].received)


def test_a_bundle_is_one_of_each_and_each_attitude_is_in_one(flown: Passages) -> None:
    types = [output.type for output in outputs(flown, "Bundle")]
    assert types == ["Position", "Attitude"] * (len(types) // 2)
    assert types.count("Attitude") == sum(one.type == "Attitude" for one in flown["Bundle"].received)


def test_the_three_strategies_for_a_double_match(flown: Passages) -> None:
    triggers = flown["DoubleMatchBoth"].outcome.triggers
    double = [trigger for trigger in triggers if trigger.labels == ("l1", "l2")]
    assert 0 < len(double) < len(triggers)
    assert len(outputs(flown, "DoubleMatchBoth")) == len(triggers) + len(double)
    preferred = outputs(flown, "DoubleMatchPreferred")
    assert len(preferred) == len(outputs(flown, "DoubleMatchNotify")) == len(triggers)
    at_double = {trigger.at for trigger in double}
    sources = {output.attributes["SourceID"] for output in preferred if output.at in at_double}
    assert sources == {source_id("NavSteering")}


def test_an_alarm_interrupts_spoils_or_wins_the_tie(flown: Passages) -> None:
    trusted = Counter(output.type for output in outputs(flown, "TrustedFix"))
    any_fix = len(outputs(flown, "AnyFix"))
    assert trusted["Alarm"] > 0
    assert trusted["Position"] + trusted["Alarm"] == any_fix
    assert trusted["Position"] <= len(outputs(flown, "Undisturbed")) < any_fix


def test_the_most_recent_position_is_the_event_that_completed_the_pair(flown: Passages) -> None:
    received = flown["MostRecent"].received
    found = outputs(flown, "MostRecent")
    assert all(output.attributes == received[output.at - 1].attributes for output in found)
    assert {received[output.at - 1].source for output in found} == {"GPS.out1", "INS.out1"}


def test_air_data_go_on_while_a_sensor_is_silent(flown: Passages) -> None:
    correlation = SYSTEM.library.find("RedundantSensors")
    assert correlation is not None
    arrivals = flown["RedundantSensors"].arrivals
    data = [arrival for arrival in arrivals if arrival.type == "DataNotify"]
    uncontrolled = acceptor.run(acceptor.compile_correlation(correlation), data).outputs
    gaps, pauses = (
        [after.time - before.time for before, after in pairwise(found)]
        for found in (outputs(flown, "RedundantSensors"), uncontrolled)
    )
    assert max(gaps) < 300_000, "the controller needs at most 150 ms to see that a sensor is silent"
    assert max(pauses) > 3_000_000, "a failure takes three seconds at least"


def test_a_correlation_reads_what_another_sends(flown: Passages) -> None:
    received = flown["AfterTimeout"].received
    assert Counter(one.source for one in received).keys() == {"Timer.hz1", "RedundantSensors"}
    assert all(received[output.at - 1].type == "DataAvailable" for output in outputs(flown, "AfterTimeout"))
    assert len(outputs(flown, "AfterTimeout")) in (59, 60)


def test_steering_comes_from_the_queue_of_the_mode(flown: Passages) -> None:
    expected = {
        "Pilot.navigate": source_id("NavSteering"),
        "Pilot.tactical": source_id("TacticalSteering"),
        "Pilot.land": source_id("Navigator"),
    }
    sources = {output.at: output.attributes["SourceID"] for output in outputs(flown, "ModalSteering")}
    mode, seen = "Pilot.navigate", set[str]()
    for at, event in enumerate(flown["ModalSteering"].received, 1):
        mode = event.source if event.source in expected else mode
        if at in sources:
            assert sources[at] == expected[mode]
            seen.add(mode)
    assert seen == expected.keys()


# The figures


@pytest.fixture(scope="module")
def text() -> str:
    """What the script prints when nothing is asked for."""
    return printed([])


def test_the_readme_shows_what_is_printed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = {}
    for block in blocks((EXAMPLE / "README.md").read_text(encoding="utf-8")):
        if block.language == "console":
            line, _, output = block.text.partition("\n")
            command, program, *arguments = shlex.split(line.removeprefix("$ "))
            assert command == "python3"
            shown[Path(program).name] = (arguments, output)
    arguments, output = shown.pop("figures.py")
    assert arguments == []
    assert output.strip() == text.strip()
    arguments, output = shown.pop("simulator.py")
    assert fits(output, printed(arguments, script("simulator").main))
    assert not shown


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    """The figures of one aircraft, as a program reads them."""
    found: dict[str, Any] = json.loads(printed(["--json", "--scale", "1", "--sensors", "1"]))
    return found


def test_json_says_what_it_is_about(tables: dict[str, Any]) -> None:
    asked = {name: tables[name] for name in ("seed", "scale", "minutes", "sensors")}
    assert asked == {"seed": 1, "scale": 1, "minutes": 1, "sensors": 1}


def test_traffic_is_what_was_received_and_sent(flown: Passages, tables: dict[str, Any]) -> None:
    *rows, total = tables["traffic"]
    for row in rows:
        passage = flown[row["correlation"]]
        assert (row["received"], row["forwarded"]) == (len(passage.received), len(passage.outcome.outputs))
        assert row["percent_saved"] == pytest.approx(100 * (1 - row["forwarded"] / row["received"]), abs=0.06)
    assert total["received"] == sum(row["received"] for row in rows)


def test_two_events_are_forwarded_for_k_plus_one(tables: dict[str, Any]) -> None:
    for row in tables["rates"]:
        assert row["forwarded"] * (row["k"] + 1) == row["received"] * 2


def test_every_output_is_accounted_for(tables: dict[str, Any]) -> None:
    fates = ("delivered", "overwritten", "expired", "dropped", "waiting")
    rows = tables["deliveries"]
    assert all(row["sent"] == sum(row[fate] for fate in fates) for row in rows)
    assert all(any(row[fate] for row in rows) for fate in fates), "each fate should be shown"
    assert all(row["sent"] < row["unfiltered"] / 2 for row in rows)


def test_ecl_says_the_same_but_for_two(tables: dict[str, Any]) -> None:
    others = {
        row["correlation"]
        for row in tables["counterparts"]
        if len({row["outputs"], row["outputs_of_ecl"], row["with_the_same_event"]}) > 1
    }
    assert others == {"Bundle", "RedundantSensors"}


@pytest.mark.parametrize("sensors", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_labels_and_modes_agree_and_can_be_in_as_many_configurations(sensors: int, seed: int) -> None:
    labels, modes = compare(sensors, events=500, seed=seed)
    assert modes.same_outputs
    assert labels.outputs == modes.outputs > 0
    assert labels.outputs_in_parallel >= labels.outputs
    assert labels.configurations == modes.configurations == 3**sensors - 2**sensors + 1
    assert (labels.labels, modes.modes) == (2 * sensors + 1, 2**sensors)


def test_one_more_sensor_adds_a_little_here_and_doubles_it_there() -> None:
    added = {len(correlation_text(n + 1)) - len(correlation_text(n)) for n in range(1, 8)}
    assert len(added) == 1
    assert all(len(mode_text(n + 1)) > 2 * len(mode_text(n)) for n in range(1, 8))


@pytest.mark.parametrize("wrong", [["--sensors", "0"], ["--scale", "none"]])
def test_a_wrong_option_is_explained(capsys: pytest.CaptureFixture[str], wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        figures.main(wrong)
    assert stopped.value.code == 2
    assert wrong[0] in capsys.readouterr().err
