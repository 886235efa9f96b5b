"""Start the Java process behind a Spark session without the lines it would print on the user's terminal."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.java_gateway import JavaGateway
from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from tocsin.errors import SetupError
from tocsin.spark.session.java import Java

# Lines that Java itself prints on start, before any logging could be configured (both come from options that
# Spark's own launcher passes), and those that PySpark prints whenever a query with state starts. None of them
# matter to the user.
_NOISE = re.compile(
    rb"WARNING: Using incubator modules: jdk\.incubator\.vector\s*"
    rb"|WARNING: package sun\.security\.action not in java\.base\s*"
    rb"|(?:Starting )?Streaming TransformWithStateInPandas Python worker.*\s*"
    rb"|\s*"
)

# The gateway has a line of its own because Spark, taking it for an interactive shell, would set the level to
# WARN and say so. The classes set to "off" log a failed task, up to five times, or a broker that refuses us, once a
# second; the caller gets an exception anyway.
_LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = off
logger.stream.name = org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution
logger.stream.level = off
logger.schema.name = org.apache.spark.sql.execution.streaming.state.StateSchemaCompatibilityChecker
logger.schema.level = off
logger.writer.name = org.apache.spark.sql.execution.datasources.FileFormatWriter
logger.writer.level = off
logger.writer2.name = org.apache.spark.sql.execution.datasources.v2
logger.writer2.level = off
logger.kafka.name = org.apache.kafka
logger.kafka.level = off
"""

_silent = threading.Event()  # whether the user is to hear no more of Java


def say_no_more() -> None:
    """Suppress everything that Java still prints: it is about to be ended."""
    _silent.set()


def quiet_java_options(folder: Path) -> str:
    """Return Java options that make Spark log errors only, on stderr; writes their configuration into `folder`."""
    configuration = folder / "log4j2.properties"
    configuration.write_text(_LOGGING)
    # As a URI, because Spark splits its Java options at spaces, and a folder's name may contain some.
    return f"-XX:+DisplayVMOutputToStderr -Dlog4j2.configurationFile={configuration.as_uri()}"


def start_jvm(conf: SparkConf, java: Java) -> JavaGateway:
    """Start Java with Spark in it; what it prints reaches our stderr without the known noise.

    Raises `SetupError` with Java's own message if it does not start.
    """
    check_spark_home()
    reading, writing = os.pipe()
    try:
        with _java_home(java):
            gateway = launch_gateway(conf, popen_kwargs={"stderr": writing})
    except PySparkRuntimeError as problem:
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            lines = [line.decode(errors="replace") for line in stream if not _NOISE.fullmatch(line)]
        raise SetupError(
            "java-start",
            f"{java.describe()} stopped before Spark was up: {''.join(lines).strip() or problem}",
            hint="check JAVA_HOME and the spark.driver settings, and that enough memory is free",
        ) from problem
    os.close(writing)
    # Not earlier: before the launch a second thread would make Python's fork unsafe. The pipe buffers what came
    # meanwhile.
    threading.Thread(target=_pass_on, args=(reading,), name="tocsin-jvm-stderr", daemon=True).start()
    return gateway


def check_spark_home() -> None:
    """Raise an error if `SPARK_HOME` holds another Spark than this PySpark: it would fail later and obscurely."""
    home = os.environ.get("SPARK_HOME", "")
    jars = sorted(jar.name for jar in Path(home, "jars").glob("spark-core_*.jar")) if home else []
    if jars and not any(jar.endswith(f"-{pyspark.__version__}.jar") for jar in jars):
        raise SetupError(
            "spark-home",
            f"SPARK_HOME is {home}, which holds {jars[0]}, but the PySpark in use is {pyspark.__version__}",
            hint="unset SPARK_HOME, so that PySpark uses the Spark it contains",
        )


@contextmanager
def _java_home(java: Java) -> Iterator[None]:
    """Set JAVA_HOME for the launch only, so that the user's choice stays distinguishable from ours."""
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java.home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def _pass_on(reading: int) -> None:
    """Copy the Java process's stderr to ours, line by line, until it ends."""
    with os.fdopen(reading, "rb") as stream:
        for line in stream:
            if not _silent.is_set() and not _NOISE.fullmatch(line):
                try:
                    os.write(2, line)
                except OSError:  # our own stderr is gone; keep reading, or Java would block on a full pipe
                    continue
