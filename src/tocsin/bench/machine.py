"""The machine and the versions that figures were measured with, and nothing that names a person or a host."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tocsin.bench.peers import FLINK_VERSION, flink_python
from tocsin.errors import SetupError
from tocsin.spark.session.java import find_java
from tocsin.spark.session.session import available_cores

_PACKAGES = ("tocsin", "pyspark", "numba", "numpy", "pyarrow", "duckdb")


def machine() -> str:
    """The machine in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{available_cores()} cores of {_processor()}, {memory:.0f} GiB of memory, {platform.system()}"


def versions() -> dict[str, str]:
    """The versions of all components that are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    with contextlib.suppress(SetupError):  # without a Java, no engine that needs one was measured
        found["java"] = find_java().version
    if flink_python():
        found["flink"] = FLINK_VERSION
    return found


def _processor() -> str:
    try:
        named = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()
