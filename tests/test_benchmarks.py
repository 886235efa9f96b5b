"""The benchmarks that need no large data still run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.brokers import program

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(("seconds", "kills"), [(30, 3), pytest.param(1500, 50, marks=pytest.mark.long)])
def test_chaos_loses_nothing_and_doubles_nothing(seconds: int, kills: int) -> None:
    program("nats-server")  # or the test is skipped
    command = [
        sys.executable,
        str(BENCHMARKS / "chaos.py"),
        "--seconds",
        str(seconds),
        "--kills",
        str(kills),
        "--seed",
        "29",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] >= kills
    moments = found["kills_by_moment"]
    assert moments["start-up"] + moments.get("checkpointing", 0) >= (kills - 1) // 2
    assert (found["missing"], found["doubled"], found["wrong"]) == (0, 0, 0)
    assert found["counters_add_up"]
    assert found["matches"] > 100
    assert min(found["counters"][name] for name in ("dead", "repeated", "used")) > 10


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "limits"),
    [(50, ["--cpu", "0", "--gap", "0"]), pytest.param(10_000, [], marks=pytest.mark.long)],
)
def test_rules_that_come_at_once_are_all_decided(rules: int, limits: list[str]) -> None:
    command = [sys.executable, str(BENCHMARKS / "rules_at_once.py"), "--rules", str(rules), *limits]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["decided"], found["refused"]) == (rules, 0)


def test_sending_measures_both_languages() -> None:
    command = [sys.executable, str(BENCHMARKS / "sending.py"), "--events", "20000", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert set(found) == {"ecl", "ksu"}
    assert all(one["events_per_second"] > 0 and one["ratio"] > 0 for one in found.values())


def test_xml_subscriptions_measures_what_it_says() -> None:
    command = [sys.executable, str(BENCHMARKS / "xml_subscriptions.py")]
    command += ["--subscriptions", "10", "40", "--documents", "20", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["table 1"]["10"]["relative"] == 1
    assert found["table 1"]["40"]["ms"] > 0
    assert found["constant matches"]["times faster than looking at every block"] >= 1
    assert found["documents"]["ratio"] > 1
