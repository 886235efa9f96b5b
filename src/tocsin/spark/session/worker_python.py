"""The Python of Spark's workers. It must have Tocsin and what Tocsin needs; the first query of a session checks it.

Without `PYSPARK_PYTHON`, Spark takes the first `python3` on the PATH. In an environment that is not activated, as in many a
notebook, that is another Python than the one that runs the program.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tocsin.errors import SetupError
from tocsin.spark.session.session import is_on_one_machine, is_own, is_remote

NEEDED = ("tocsin", "msgpack", "numba", "numpy", "pandas", "pyarrow")
_PROBE = """
import importlib.util, json, platform, sys
needed = sys.argv[1].split(",")
print(json.dumps([platform.python_version(), [n for n in needed if importlib.util.find_spec(n) is None]]))
"""
_PATIENCE_SECONDS = 60
_HINT = (
    "before the session starts, set PYSPARK_PYTHON to a Python that has Tocsin, on every machine; "
    "for this one: os.environ['PYSPARK_PYTHON'] = sys.executable"
)
_checked: set[str] = set()  # the sessions whose workers have been checked


class WorkerPython(NamedTuple):
    """The Python of the workers: its version, and the packages it lacks; no version if it does not run."""

    version: str | None
    lacks: tuple[str, ...]

    @property
    def fault(self) -> str | None:
        """Why it cannot run Tocsin; None if it can."""
        if self.version is None:
            return "which does not run"
        if self.version.split(".")[:2] != sys.version.split()[0].split(".")[:2]:
            return (
                f"which is Python {self.version}, but this program is run by Python {sys.version.split()[0]}"
            )
        return f"which has no {', no '.join(self.lacks)}" if self.lacks else None


def check_worker_python(session: SparkSession) -> None:
    """Make sure, once per session, that the workers can run Tocsin; raise `SetupError` if they cannot.

    On this machine Spark is set to use this Python, if nobody has chosen one.
    """
    name = _name_of(session)
    if name in _checked:
        return
    if is_remote(session):
        _check_by_job(_look_by_table(session))
    else:
        context = session.sparkContext
        if is_on_one_machine(context):
            _check_here(context)
        else:
            _check_by_job(context.parallelize([0], 1).mapPartitions(_looking()).first())
    _checked.add(name)


def _name_of(session: SparkSession) -> str:
    return str(session.client._session_id) if is_remote(session) else session.sparkContext.applicationId


# --- On this machine ----------------------------------------------------------------------------------


def _check_here(context: SparkContext) -> None:
    if is_own(context) or _is_this_python(context.pythonExec):
        return
    fault = ask_python(context.pythonExec, context.environment).fault
    if fault is None:
        return
    if "PYSPARK_PYTHON" in os.environ or ask_python(sys.executable, context.environment).fault is not None:
        found = shutil.which(context.pythonExec) or context.pythonExec
        raise SetupError("worker-python", f"Spark's workers run {found}, {fault}", hint=_HINT)
    # Functions are sent with the name of their Python, so this concerns those that are sent from now on.
    context.pythonExec = sys.executable


def _is_this_python(command: str) -> bool:
    """Return whether a command runs this Python, with Tocsin among its packages."""
    # Links are not followed: the Python of an environment is a link.
    found = shutil.which(command)
    installed = Path(__file__).resolve().parents[3] == Path(sysconfig.get_paths()["purelib"]).resolve()
    return installed and found is not None and os.path.abspath(found) == os.path.abspath(sys.executable)


def ask_python(command: str, environment: Mapping[str, str]) -> WorkerPython:
    """Ask a Python on this machine which of the needed packages it has, with the environment of workers."""
    try:
        done = subprocess.run(
            [command, "-c", _PROBE, ",".join(NEEDED)],
            env=os.environ | dict(environment),
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
        )
        version, lacks = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return WorkerPython(None, ())
    return WorkerPython(version, tuple(lacks))


# --- On other machines --------------------------------------------------------------------------------


def _check_by_job(found: tuple[str, str, list[str]]) -> None:
    command, version, lacks = found
    fault = WorkerPython(version, tuple(lacks)).fault
    if fault is not None:
        raise SetupError("worker-python", f"Spark's workers run {command}, {fault}", hint=_HINT)


def _looking() -> Any:
    """Return a function that looks at the Python it runs in. Defined in here it is sent whole: workers may lack this module."""
    needed = NEEDED

    def look(_: Any) -> Iterator[tuple[str, str, list[str]]]:
        import importlib.util
        import platform
        import sys

        lacks = [name for name in needed if importlib.util.find_spec(name) is None]
        yield sys.executable, platform.python_version(), lacks

    return look


def _look_by_table(session: SparkSession) -> tuple[str, str, list[str]]:
    look = _looking()

    def looked(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for _ in batches:
            for command, version, lacks in look(None):
                yield pa.RecordBatch.from_pydict(
                    {"command": [command], "version": [version], "lacks": [lacks]},
                    pa.schema(
                        [("command", "string"), ("version", "string"), ("lacks", pa.list_(pa.string()))]
                    ),
                )

    try:
        row = (
            session.range(1).mapInArrow(looked, "command string, version string, lacks array<string>").first()
        )
    except PySparkException as problem:
        said = str(problem).strip().splitlines()[0]
        raise SetupError("worker-python", f"Spark's workers cannot run Python: {said}", hint=_HINT) from None
    assert row is not None
    return row[0], row[1], list(row[2])
