"""Start Spark on this machine, with settings that suit Tocsin and a terminal that stays clean."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from tocsin.spark.session.java import Java, find_java
from tocsin.spark.session.jvm import quiet_java_options, start_jvm
from tocsin.spark.session.run_folder import run_folder

_GIB = 1024**3
_LONGEST_SOCKET = 103  # bytes in the path of a Unix socket on macOS; a few more on Linux

# Only where driver and workers are on one machine, and so certainly have the same packages and the same disk.
_ON_ONE_MACHINE = {
    # Workers are forked from a process that has imported what they need.
    "spark.python.daemon.module": "tocsin.spark.session.daemon",
    # Spark's other way to write checkpoint files starts processes (chmod, readlink) for each file on a local disk,
    # which is slow for a small micro-batch. Both ways write a file under another name and rename it.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

# Batches for Python are limited by rows. A limit on bytes would be checked after every row, which takes longer than
# everything else Spark does with a row.
ARROW_SETTINGS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
}

# Java would start with a metaspace for a small program, and collect garbage each time Spark outgrows it. The little
# that survives then makes it choose a small heap, which small micro-batches fill again and again.
_JAVA = "-Xss4m -XX:MetaspaceSize=256m"

# Two threads that start a session at once must get the same one.
_starting = threading.Lock()
_javas: list[Java] = []  # the one that was started, for `java_in_use`


def local_session(
    app_name: str = "tocsin",
    *,
    cores: int | None = None,
    shuffle_partitions: int | None = None,
    extra_conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a Spark session on this machine; the running one, unchanged, if there is one.

    Args:
        cores: how many tasks run at once; by default every core this process may use.
        shuffle_partitions: into how many partitions Spark shuffles; by default four per core, because
            Spark's own 200 makes small streams slow.
        extra_conf: Spark settings that override Tocsin's; only `spark.driver.extraJavaOptions` is appended.
    """
    with _starting:
        return _running_session() or _new_session(app_name, cores, shuffle_partitions, extra_conf or {})


def _new_session(
    app_name: str, cores: int | None, shuffle_partitions: int | None, extra_conf: Mapping[str, str]
) -> SparkSession:
    tasks = cores or available_cores()
    folder = run_folder("spark")
    settings = _settings(app_name, tasks, shuffle_partitions or 4 * tasks, folder)
    for name, value in extra_conf.items():
        added = name == "spark.driver.extraJavaOptions"
        settings[name] = f"{settings[name]} {value}" if added else value
    if settings["spark.master"].startswith("local"):
        settings = _ON_ONE_MACHINE | _sockets(folder) | {"spark.local.dir": str(folder)} | settings
    with _all_temporary_in(folder), _own_handler_of_interrupts():
        context = _start(settings)
    if "spark.log.level" not in settings:
        context.setLogLevel("ERROR")
    return SparkSession(context)


@contextmanager
def _all_temporary_in(folder: Path) -> Iterator[None]:
    """Let PySpark make its temporary folder here, so that it is removed even if this process is killed meanwhile."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


@contextmanager
def _own_handler_of_interrupts() -> Iterator[None]:
    """Keep a program's own handler for Ctrl-C, which PySpark would replace when it starts."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if before is not signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)


def is_remote(session: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect, whose JVM cannot be accessed."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def is_own(context: SparkContext) -> bool:
    """Return whether `local_session` has started Spark, with the settings that suit Tocsin."""
    module = _ON_ONE_MACHINE["spark.python.daemon.module"]
    return bool(context.getConf().get("spark.python.daemon.module") == module)


def is_on_one_machine(context: SparkContext) -> bool:
    """Return whether driver and workers share a machine; `local-cluster` has processes of its own for executors."""
    return str(context.master).startswith("local[") or context.master == "local"


def parallelism(session: SparkSession) -> int:
    """Return how many tasks run at once, as far as the session knows."""
    if is_remote(session):
        return int(str(session.conf.get("spark.sql.shuffle.partitions")))
    return int(session.sparkContext.defaultParallelism)


@contextmanager
def some_session(app_name: str) -> Iterator[SparkSession]:
    """Yield the running session, or one that is started here and stopped at the end."""
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
    """Describe in one line which Java Spark runs on."""
    return _javas[-1].describe() if _javas else "a Java that was running before"


def available_cores() -> int:
    """Return how many cores this process may use; `taskset` or a container can make it fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def driver_memory(physical: int) -> int:
    """Return how many bytes of `physical` memory the Java side gets, never more than half.

    A quarter, because the Python workers, Arrow and the page cache live beside it; 1 GiB on a small machine,
    where a quarter would not start Spark; 8 GiB on a large one, where more only lengthens garbage collection.

    >>> [driver_memory(gib * 2**30) / 2**30 for gib in (1, 4, 24, 512)]
    [0.5, 1.0, 6.0, 8.0]
    """
    return min(8 * _GIB, max(physical // 4, min(_GIB, physical // 2)))


def _running_session() -> SparkSession | None:
    if SparkContext._active_spark_context is None:
        return SparkSession.getActiveSession()
    # Not the active session: that is the one which made the last DataFrame, which may be the private copy of a
    # stream, with its settings. Without options the builder returns the session unchanged.
    return SparkSession.builder.getOrCreate()


def _settings(app_name: str, tasks: int, shuffle_partitions: int, folder: Path) -> dict[str, str]:
    settings = {
        "spark.app.name": app_name,
        "spark.master": f"local[{tasks}]",
        "spark.driver.memory": f"{driver_memory(_physical_memory()) // 1024**2}m",
        "spark.driver.extraJavaOptions": f"{quiet_java_options(folder)} {_JAVA} {_temporary_folder(folder)}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(shuffle_partitions),
        **ARROW_SETTINGS,
        # Otherwise Spark creates a folder in whatever directory the user happens to be in.
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    source = Path(__file__).resolve().parents[3]
    if source.name not in ("site-packages", "dist-packages"):
        # Tocsin runs from a source tree, which may not be on the path of a new Python worker.
        settings["spark.executorEnv.PYTHONPATH"] = str(source)
    return settings


def _temporary_folder(folder: Path) -> str:
    """Return the Java option that makes Java put its temporary files here; Spark splits options at spaces."""
    escaped = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    return f'"-Djava.io.tmpdir={escaped}"'


def _sockets(folder: Path) -> dict[str, str]:
    """Return settings that connect Java and Python by Unix sockets, where there are any and the path is short enough.

    Over TCP each task waits 40 ms for nothing: Python's last write is held back until Java has acknowledged the one
    before, and Java's side delays the acknowledgement.
    """
    name = folder / f".{'x' * 36}.sock"  # as Spark names them
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(name)) > _LONGEST_SOCKET:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }


def _start(settings: Mapping[str, str]) -> SparkContext:
    # Workers must run this Python, with these packages, not the first python3 on the PATH.
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
    """Return the bytes of memory of this machine, or of this container if it has a limit."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):  # no such file, or the word "max"
        return physical
    return min(physical, limit)
