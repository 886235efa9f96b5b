"""Compiled kernels are kept for the next process, and never after any kernel has changed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tocsin.runtime import compiling

HELPER = """
from compiling import kernel

@kernel
def more(number):
    return number + {}
"""
CALLER = """
from compiling import kernel
from rooms.helper import more

@kernel
def twice(number):
    return more(number) * 2

if __name__ == "__main__":
    print(twice(1), twice(0.5), *twice.stats.cache_hits.values())
"""


def ran(folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "caller.py"], cwd=folder, capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_a_kernel_is_compiled_once_for_each_type_and_again_when_one_it_calls_has_changed(
    tmp_path: Path,
) -> None:
    shutil.copy(compiling.__file__, tmp_path / "compiling.py")
    (tmp_path / "caller.py").write_text(CALLER)
    # A kernel in a folder below, as most are.
    (tmp_path / "rooms").mkdir()
    (tmp_path / "rooms" / "helper.py").write_text(HELPER.format(1))
    assert ran(tmp_path) == "4 3.0"
    assert ran(tmp_path) == "4 3.0 1 1"
    kept = sorted(file.name.split(".")[0] for file in tmp_path.rglob("*.nbc"))
    assert [name.split("-")[0] for name in kept] == ["caller", "caller", "helper", "helper"]
    (tmp_path / "rooms" / "helper.py").write_text(HELPER.format(2))
    assert ran(tmp_path) == "6 5.0"
