"""A cluster of processes: Spark's own master and two workers, one of which is killed while it works."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

import cluster_driver
from tocsin.spark.java import find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATIENCE = 150  # seconds


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(happened: Callable[[], bool], what: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert process.poll() is None, f"stopped before {what}: {process.args!r}"
        assert time.monotonic() < deadline, f"no sign that {what}"
        time.sleep(0.05)


@contextmanager
def daemon(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of Spark's standalone cluster; what it says goes to a file of its name."""
    home = Path(pyspark.__file__).parent
    environment = os.environ | {
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]],
            env=environment,
            stdout=log,
            stderr=log,
            cwd=folder,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def says(folder: Path, name: str, words: str) -> bool:
    return words in (folder / f"{name}.log").read_text(errors="replace")


def test_a_worker_that_dies_in_the_middle_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    begun, killed = tmp_path / "begun", tmp_path / "killed"
    begun.mkdir()
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as running:
        here = ["--host", "127.0.0.1", "--webui-port", "0"]
        start = running.enter_context
        master = start(daemon(tmp_path, "master", "master.Master", *here, "--port", str(port)))
        wait_until(lambda: says(tmp_path, "master", "I have been elected leader"), "the master is up", master)
        workers = [
            start(daemon(tmp_path, name, "worker.Worker", "-c", "1", "-m", "1g", *here, "-d", name, address))
            for name in ("one", "two")
        ]
        for name, worker in zip(("one", "two"), workers, strict=True):
            wait_until(
                lambda name=name: says(tmp_path, name, "Successfully registered"),  # type: ignore[misc]
                "a worker has found its master",
                worker,
            )
        with (tmp_path / "driver.log").open("wb") as log:
            driver = subprocess.Popen(
                [sys.executable, cluster_driver.__file__, address, str(tmp_path)],
                stdout=log,
                stderr=log,
            )
        running.callback(driver.kill)
        half = cluster_driver.PARTITIONS // 2
        # Each worker has one core; so when two tasks wait, each worker has one of them.
        wait_until(lambda: len(list(begun.iterdir())) >= half + 2, "both workers are at work", driver)
        workers[0].send_signal(signal.SIGKILL)
        workers[0].wait()
        killed.touch()
        driver.wait(timeout=PATIENCE)
    assert driver.returncode == 0, (tmp_path / "driver.log").read_text()
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(list(begun.iterdir())) > cluster_driver.PARTITIONS, "no task had to be done again"
    table = cluster_driver.events(spark)
    assert found["by_key"] == cluster_driver.matches(table, key="device")
    assert found["over_all"] == cluster_driver.matches(table, key=None)
    assert min(map(len, found.values())) > 1000
