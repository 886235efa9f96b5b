"""The benchmarks that need no large data still run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def test_sending_measures_both_languages() -> None:
    command = [sys.executable, str(BENCHMARKS / "sending.py"), "--events", "20000", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert set(found) == {"ecl", "ksu"}
    assert all(one["events_per_second"] > 0 and one["ratio"] > 0 for one in found.values())
