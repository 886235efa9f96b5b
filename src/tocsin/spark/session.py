"""Start Spark on this machine, with settings that suit Tocsin and a terminal that stays clean."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from tocsin.spark.java import Java, find_java
from tocsin.spark.jvm import quiet_java_options, start_jvm

_GIB = 1024**3
_LONGEST_SOCKET = 103  # bytes in the path of a Unix socket on macOS; a few more on Linux

# Only where driver and workers are of one machine, and so surely have the same packages and the same disk.
_ON_ONE_MACHINE = {
    # Workers are forked from a process that has imported what they need.
    "spark.python.daemon.module": "tocsin.spark.daemon",
    # Spark's other way to write the files of a checkpoint starts processes (chmod, readlink) for each file on a local
    # disk, which takes long for a small micro-batch. Both ways write a file under another name and rename it.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

# Java would begin with room for the classes of a small program, and collect garbage each time that Spark outgrows it. It takes
# the little that is left then as a reason for a small heap, which small micro-batches fill again and again.
_JAVA = "-Xss4m -XX:MetaspaceSize=256m"

# Two threads that start at once must get the same session.
_starting = threading.Lock()
_javas: list[Java] = []  # the one that was started, for the line that says which


def local_session(
    app_name: str = "tocsin",
    *,
    cores: int | None = None,
    shuffle_partitions: int | None = None,
    extra_conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """A Spark session on this machine; the one that is already running, unchanged, if there is one.

    Args:
        cores: how many tasks run at once; every core this process may use if not given.
        shuffle_partitions: into how many pieces Spark cuts grouped data; four a core if not given, because
            Spark's own 200 makes small streams slow.
        extra_conf: Spark settings that win over Tocsin's; only `spark.driver.extraJavaOptions` is added.
    """
    with _starting:
        return _running_session() or _new_session(app_name, cores, shuffle_partitions, extra_conf or {})


def _new_session(
    app_name: str, cores: int | None, shuffle_partitions: int | None, extra_conf: Mapping[str, str]
) -> SparkSession:
    tasks = cores or available_cores()
    folder = Path(tempfile.mkdtemp(prefix="tocsin-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = _settings(app_name, tasks, shuffle_partitions or 4 * tasks, folder)
    for name, value in extra_conf.items():
        added = name == "spark.driver.extraJavaOptions"
        settings[name] = f"{settings[name]} {value}" if added else value
    if settings["spark.master"].startswith("local"):
        settings = _ON_ONE_MACHINE | _sockets(folder) | settings
    context = _start(settings)
    if "spark.log.level" not in settings:
        context.setLogLevel("ERROR")
    return SparkSession(context)


def is_remote(session: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, whose Java is out of reach."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def parallelism(session: SparkSession) -> int:
    """How many tasks run at once, as far as a session knows."""
    if is_remote(session):
        return int(str(session.conf.get("spark.sql.shuffle.partitions")))
    return int(session.sparkContext.defaultParallelism)


@contextmanager
def some_session(app_name: str) -> Iterator[SparkSession]:
    """The session that runs, or one that is started here and stopped at the end."""
    running = _running_session()
    if running is not None:
        yield running
        return
    session = local_session(app_name)
    try:
        yield session
    finally:
        session.stop()


def java_in_use() -> str:
    """Which Java Spark runs on, in one line."""
    return _javas[-1].describe() if _javas else "a Java that was running before"


def available_cores() -> int:
    """How many cores this process may use; `taskset` or a container can make it fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def driver_memory(physical: int) -> int:
    """How many bytes of `physical` memory the Java side gets, never more than half.

    A quarter, because the Python workers, Arrow and the page cache live beside it; 1 GiB on a small machine,
    where a quarter would not start Spark; 8 GiB on a large one, where more only lengthens garbage collection.

    >>> [driver_memory(gib * 2**30) / 2**30 for gib in (1, 4, 24, 512)]
    [0.5, 1.0, 6.0, 8.0]
    """
    return min(8 * _GIB, max(physical // 4, min(_GIB, physical // 2)))


def _running_session() -> SparkSession | None:
    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        # Another thread of this process started Spark. Without options the builder hands out its session
        # untouched.
        active = SparkSession.builder.getOrCreate()
    return active


def _settings(app_name: str, tasks: int, shuffle_partitions: int, folder: Path) -> dict[str, str]:
    settings = {
        "spark.app.name": app_name,
        "spark.master": f"local[{tasks}]",
        "spark.driver.memory": f"{driver_memory(_physical_memory()) // 1024**2}m",
        "spark.driver.extraJavaOptions": f"{quiet_java_options(folder)} {_JAVA}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
        # Rows go to Python so many at a time. A limit on their bytes would be looked at after every row, which takes longer
        # than all else Spark does with a row.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
        "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
        # Otherwise Spark makes a folder in whatever directory the user happens to be in.
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    source = Path(__file__).resolve().parents[2]
    if source.name not in ("site-packages", "dist-packages"):
        # Tocsin runs from a source tree, which a worker's fresh Python may not know.
        settings["spark.executorEnv.PYTHONPATH"] = str(source)
    return settings


def _sockets(folder: Path) -> dict[str, str]:
    """How Java and Python talk: by sockets in a folder of ours, where there are such sockets and their names are not too long.

    Over TCP each task waits 40 ms for nothing: what Python writes last is held back until Java has confirmed what came before,
    and Java's side delays that.
    """
    name = folder / f".{'x' * 36}.sock"  # as Spark calls them
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(name)) > _LONGEST_SOCKET:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }


def _start(settings: Mapping[str, str]) -> SparkContext:
    # The workers must be this Python, with these packages, not the first python3 of the PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # A laptop's name often does not resolve to an address that Spark can reach.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    # PySpark keeps the JVM of a stopped session for the next one.
    gateway = None
    if SparkContext._gateway is None:
        _javas.append(find_java())
        gateway = start_jvm(conf, _javas[-1])
    return SparkContext(conf=conf, gateway=gateway)


def _physical_memory() -> int:
    """Bytes of memory of this machine, or of this container if it has a limit."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):  # no such file, or the word "max"
        return physical
    return min(physical, limit)
