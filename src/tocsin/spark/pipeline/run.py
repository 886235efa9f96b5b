"""Run a pipeline file on Spark: once over the existing data, or as a stream."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Event

from pyspark.sql import SparkSession

from tocsin.spark.brokers.kafka import connector_settings
from tocsin.spark.observe.record import Seen, Watcher
from tocsin.spark.pipeline.batch.run import run_batch
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.read_checked import read_pipeline
from tocsin.spark.pipeline.report.progress import Progress, Silent
from tocsin.spark.pipeline.report.report import Report
from tocsin.spark.pipeline.stream.run import run_stream
from tocsin.spark.session.session import java_in_use, local_session
from tocsin.spark.session.worker_python import check_worker_python


def run_pipeline(
    file: str | Path | Pipeline,
    *,
    session: SparkSession | None = None,
    progress: Progress | None = None,
    once: bool = False,
    stop: Event | None = None,
    log: str | Path | None = None,
    watchers: Sequence[Watcher] = (),
    obey_signals: bool = False,
) -> Report:
    """Run a pipeline file; raise `PipelineErrors` with all its mistakes before Spark is used.

    A pipeline with streaming sources runs until it is stopped, and then reports on everything since its first start.

    Args:
        file: the path of the file, or what `read_pipeline` made of it: only that can let `[spark]` make any setting.
        session: the Spark session to use, with its own settings; by default one is started with those of `[spark]`,
            and stopped at the end.
        progress: receives each step, or each micro-batch. By default nothing is reported.
        once: let a stream process the data available now, and end.
        stop: when set, a stream ends after the current micro-batch.
        log: a file to which a stream appends a line of JSON for each micro-batch.
        watchers: called with the record of each micro-batch of a stream.
        obey_signals: whether SIGINT and SIGTERM stop a stream, too. A second one has its usual effect.
    """
    pipeline = file if isinstance(file, Pipeline) else read_pipeline(file)
    shown = progress or Silent()
    started = time.monotonic()
    with ExitStack() as stack:
        if session is None:
            session = _own_session(pipeline, shown, stack)
        if pipeline.stream is None:
            return run_batch(pipeline, session, shown, stack, started)
        stop = stop or Event()
        if obey_signals:
            # Not before Spark has started, because it installs its own handler for Ctrl-C.
            stack.enter_context(_set_by_signals(stop))
        if log is not None:
            watchers = (*watchers, partial(_log, Path(log)))
        return run_stream(pipeline, pipeline.stream, session, shown, once, stop, watchers)


def _log(file: Path, seen: Seen) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(seen.line() + "\n")


def _own_session(pipeline: Pipeline, progress: Progress, stack: ExitStack) -> SparkSession:
    running = SparkSession.getActiveSession()
    if running is not None:
        check_worker_python(running)
        return running
    progress.begin("starting Spark")
    session = local_session(f"tocsin {pipeline.name}", extra_conf=_settings(pipeline))
    stack.callback(session.stop)
    progress.done(f"version {session.version} on {java_in_use()}")
    return session


def _settings(pipeline: Pipeline) -> dict[str, str]:
    """Return the settings of `[spark]`, with the Kafka connector if it is needed and the user names no jars."""
    settings = dict(pipeline.spark)
    formats = {source.format for source in pipeline.sources} | {sink.format for sink in pipeline.sinks}
    if "kafka" in formats and not settings.keys() & {"spark.jars", "spark.jars.packages"}:
        settings |= connector_settings()
    return settings


@contextmanager
def _set_by_signals(stop: Event) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def obey(number: int, frame: object) -> None:
        restore()
        stop.set()

    for number in before:
        signal.signal(number, obey)
    try:
        yield
    finally:
        restore()
