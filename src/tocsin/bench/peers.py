"""Peers that cannot share our Python packages: each has its own environment in the user's cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tocsin.errors import SetupError
from tocsin.spark.session.java import cache_folder

FLINK_VERSION = "2.3.0"
_STAMP = "installed"  # written last: an environment without it is incomplete


def bench_folder() -> Path:
    """The folder in which the bench keeps events and peers."""
    return cache_folder() / "tocsin" / "bench"


def flink_python() -> Path | None:
    """The Python in which Flink is installed, if any."""
    folder = _flink_folder()
    return _python(folder) if (folder / _STAMP).is_file() and _python(folder).exists() else None


def install_flink() -> Path:
    """Install Flink if missing; returns its Python. Takes half a gigabyte, and a minute or more."""
    if there := flink_python():
        return there
    folder = _flink_folder()
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # An environment created from inside another one should use the same base Python.
    base = getattr(sys, "_base_executable", None) or sys.executable
    _run([base, "-m", "venv", str(folder)], "install the package of your Python that has venv and pip")
    _run(
        [str(_python(folder)), "-m", "pip", "install", "--quiet", f"apache-flink=={FLINK_VERSION}"],
        "it needs the network, and a Python that Flink has packages for",
    )
    (folder / _STAMP).touch()
    return _python(folder)


def _flink_folder() -> Path:
    return bench_folder() / f"flink-{FLINK_VERSION}"


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(command: list[str], hint: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        reason = said[-1] if said else "without a word"
        raise SetupError("no-flink", f"Flink cannot be installed: {reason}", hint=hint)
