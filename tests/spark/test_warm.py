"""What `tocsin warm` does finds matches in every way that workers have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.spark import warm as rehearsal

COMPILED = """
import sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq
from numba.core import event
from tocsin.spark import warm

class Names(event.Listener):
    def on_start(self, event): pass
    def on_end(self, event):
        function = event.data["dispatcher"].py_func
        print(f"{function.__module__}.{function.__name__}")

event.register("numba:compile", Names())
file = Path(sys.argv[1])
pq.write_table(warm._events(pa.int64()), file)
by_key, _ = warm._readings(file, "[A];[B]", pa.int64())
assert warm._detect(*by_key) > 100
"""


@pytest.mark.slow
def test_every_pattern_is_found_with_every_key_whether_events_travel_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[tuple[bool, int]] = []
    detect = rehearsal._detect

    def noted(reading: rehearsal.ReadJob, job: rehearsal.Job) -> int:
        count = detect(reading, job)
        found.append((reading.layout is None, count))
        return count

    monkeypatch.setattr(rehearsal, "_detect", noted)
    total = rehearsal.rehearse()
    first, second = ([count for _, count in found[begin::2]] for begin in (0, 1))
    assert len(first) == len(second) == len(rehearsal._KEYS) * len(rehearsal._PATTERNS)
    assert first == second
    assert all(first)
    assert total == 2 * sum(first)
    stayed = sum(not moved for moved, _ in found)
    # Partial matches that can escape their window are not cut by time.
    assert stayed == len(rehearsal._KEYS) * (len(rehearsal._PATTERNS) - 1)


@pytest.mark.slow
def test_the_first_query_compiles_only_what_it_needs(tmp_path: Path) -> None:
    """Half of the compiler's time went into messages about slices that do not fit, and into windows where there are none."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", COMPILED, str(tmp_path / "events.parquet")]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    own = [name for name in names if name.startswith("tocsin.")]
    assert 20 < len(own) < 45
    assert not [
        name for name in names if ".unicode." in name or "dict" in name or "sort" in name.rpartition(".")[0]
    ]
    assert not [name for name in own if name.endswith(("begun_at", "_let_some_escape"))]
