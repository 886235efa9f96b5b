"""Run a pipeline file on Spark: once over what is there, or as a stream."""

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
from tocsin.spark.pipeline.batch import run_batch
from tocsin.spark.pipeline.model import Pipeline
from tocsin.spark.pipeline.progress import Progress, Silent
from tocsin.spark.pipeline.read import read_pipeline
from tocsin.spark.pipeline.report import Report
from tocsin.spark.pipeline.streaming import run_stream
from tocsin.spark.seen import Seen, Watcher
from tocsin.spark.session import java_in_use, local_session


def run_pipeline(
    path: str | Path,
    *,
    session: SparkSession | None = None,
    progress: Progress | None = None,
    once: bool = False,
    stop: Event | None = None,
    log: str | Path | None = None,
    watchers: Sequence[Watcher] = (),
    obey_signals: bool = False,
) -> Report:
    """Run a pipeline file; raises `PipelineErrors` with all its mistakes before Spark is asked for anything.

    A pipeline with streaming sources runs until it is told to stop, and then reports what it did since it first began.

    Args:
        session: the Spark to run on, with its own settings; without, one is started with those of `[spark]`,
            and stopped at the end.
        progress: told of each step, or of each micro-batch. By default nobody is.
        once: let a stream use what is there now, and end.
        stop: set it, and a stream ends after the micro-batch that runs.
        log: a file to which a stream adds a line of JSON for each micro-batch.
        watchers: called with what is to be seen of each micro-batch of a stream.
        obey_signals: whether SIGINT and SIGTERM stop a stream, too. A second one has its usual effect.
    """
    pipeline = read_pipeline(path)
    shown = progress or Silent()
    started = time.monotonic()
    with ExitStack() as stack:
        if session is None:
            session = _own_session(pipeline, shown, stack)
        if pipeline.stream is None:
            return run_batch(pipeline, session, shown, stack, started)
        stop = stop or Event()
        if obey_signals:
            # Only now: Spark takes Ctrl-C for itself when it starts.
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
        return running
    progress.begin("starting Spark")
    session = local_session(f"tocsin {pipeline.name}", extra_conf=_settings(pipeline))
    stack.callback(session.stop)
    progress.done(f"version {session.version} on {java_in_use()}")
    return session


def _settings(pipeline: Pipeline) -> dict[str, str]:
    """What `[spark]` says, and the connector of Kafka if it is needed and the user names no jars."""
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
