"""Spark's own standalone cluster on loopback, for tests: a master and workers, each a process that can be killed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pyspark

from support.brokers import free_port, wait_until
from tocsin.spark.session.java import find_java

_HERE = ("--host", "127.0.0.1", "--webui-port", "0")
_PATIENCE = 150.0  # seconds


class Cluster:
    """A master, and workers with one core each, which run when the block begins."""

    def __init__(self, folder: Path, workers: Sequence[str] = ("one", "two")) -> None:
        self.folder = folder
        self.address = f"spark://127.0.0.1:{free_port()}"
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self._names = tuple(workers)
        self._all: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        self.folder.mkdir(parents=True, exist_ok=True)
        port = self.address.rpartition(":")[2]
        self._start("master", "I have been elected leader", "master.Master", *_HERE, "--port", port)
        for name in self._names:
            self.add_worker(name)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._all:
            process.kill()
            process.wait()

    def add_worker(self, name: str) -> None:
        """Start a worker, and wait until the master knows it."""
        words = ("worker.Worker", "-c", "1", "-m", "1g", *_HERE, "-d", name, self.address)
        self.workers[name] = self._start(name, "Successfully registered", *words)

    def kill_worker(self, name: str) -> None:
        """Kill a worker at once."""
        process = self.workers.pop(name)
        process.kill()
        process.wait()

    def _start(self, name: str, sign: str, *words: str) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        environment = os.environ | {
            "JAVA_HOME": str(find_java().home),
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
        }
        log = self.folder / f"{name}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{words[0]}", *words[1:]],
                env=environment,
                stdout=file,
                stderr=file,
                cwd=self.folder,
            )
        self._all.append(process)

        def up() -> bool:
            assert process.poll() is None, log.read_text(errors="replace")
            return sign in log.read_text(errors="replace")

        wait_until(up, f"{name} says {sign!r}", _PATIENCE)
        return process
