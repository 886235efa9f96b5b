"""Compiled kernels are kept for the next process, and never after a kernel that they call has changed."""

from __future__ import annotations

import os
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


def ran(folder: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "caller.py"],
        cwd=folder,
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip()


def project(folder: Path) -> Path:
    """A kernel that calls one in a folder below, as most are."""
    shutil.copy(compiling.__file__, folder / "compiling.py")
    (folder / "caller.py").write_text(CALLER)
    (folder / "rooms").mkdir()
    (folder / "rooms" / "helper.py").write_text(HELPER.format(1))
    return folder


@pytest.mark.slow
def test_a_kernel_is_compiled_once_for_each_type_and_again_when_one_it_calls_has_changed(
    tmp_path: Path,
) -> None:
    project(tmp_path)
    assert ran(tmp_path) == "4 3.0"
    assert ran(tmp_path) == "4 3.0 1 1"
    kept = sorted(file.name.split(".")[0] for file in tmp_path.rglob("*.nbc"))
    assert [name.split("-")[0] for name in kept] == ["caller", "caller", "helper", "helper"]
    # A module that the kernel does not import makes no difference to it.
    (tmp_path / "rooms" / "other.py").write_text(HELPER.format(9))
    assert ran(tmp_path) == "4 3.0 1 1"
    (tmp_path / "rooms" / "helper.py").write_text(HELPER.format(2))
    assert ran(tmp_path) == "6 5.0"


@pytest.mark.slow
def test_code_that_came_with_a_wheel_is_used_unless_its_text_has_changed(tmp_path: Path) -> None:
    processor = compiling.portable_processor()
    if processor is None:
        pytest.skip("there are no wheels for this processor")
    built, installed = tmp_path / "built", tmp_path / "somewhere" / "else"
    built.mkdir()
    cache, own = tmp_path / "cache", tmp_path / "own"
    portable = {"NUMBA_CPU_NAME": processor.name, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(cache)}
    assert ran(project(built), **portable) == "4 3.0"
    code = list(cache.rglob("*.nbc"))
    assert len(code) == 4
    installed.mkdir(parents=True)
    project(installed)
    (installed / "machine_code").mkdir()
    for file in code:
        shutil.copy(file, installed / "machine_code")
    assert ran(installed, NUMBA_CACHE_DIR=str(own)) == "4 3.0 1 1"
    assert not list(own.rglob("*.nbc")), "nothing had to be compiled"
    (installed / "rooms" / "helper.py").write_text(HELPER.format(2))
    assert ran(installed, NUMBA_CACHE_DIR=str(own)) == "6 5.0"
    assert len(list(own.rglob("*.nbc"))) == 4


def test_a_kernel_depends_on_the_modules_that_its_module_imports() -> None:
    here = Path(compiling.__file__).parent
    imported = compiling._imported(here / "feed.py")
    assert here / "kernels" / "registry.py" in imported
    assert here / "program.py" in imported
    assert all(file.is_relative_to(here) for file in imported)
