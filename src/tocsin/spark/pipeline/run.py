"""Run a pipeline file on Spark: read, decide what becomes of each event, detect, write, report.

The events of all sources are made alike and classified once, and that is kept in Spark's storage: what is counted is
what is detected. The counts travel as data, through an aggregation, because Spark's accumulators and observations count
a task again when it is retried. What was read is counted on its own, before anything is done to it, so that the sum is
a check: if an event got lost on the way, `Counters.checked` stops the run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.runtime.feed import MAX_TOKENS
from tocsin.spark.detect import prepare, relevant, run
from tocsin.spark.pipeline.classify import classify, event_columns
from tocsin.spark.pipeline.composites import as_events, carrying, opened
from tocsin.spark.pipeline.failures import plain_error
from tocsin.spark.pipeline.jobs import Job, Plan, plan_jobs
from tocsin.spark.pipeline.layout import DEAD, HELD_BACK, IRRELEVANT, ORIGIN, PARTS, PROBLEM, SOURCE, USE, USED, job_flag
from tocsin.spark.pipeline.limit import hold_back
from tocsin.spark.pipeline.model import Pipeline
from tocsin.spark.pipeline.outputs import Written, dead_letters, write_dead_letters, write_matches
from tocsin.spark.pipeline.progress import Progress, Silent
from tocsin.spark.pipeline.read import read_pipeline
from tocsin.spark.pipeline.report import Counters, Report
from tocsin.spark.pipeline.schema import Schema, build_schema
from tocsin.spark.pipeline.sources import Opened, normalise, open_source
from tocsin.spark.pipeline.words import first_matches
from tocsin.spark.session import local_session


def run_pipeline(
    path: str | Path, *, session: SparkSession | None = None, progress: Progress | None = None
) -> Report:
    """Run a pipeline file; raises `PipelineErrors` with all its mistakes before Spark is asked for anything.

    Args:
        session: the Spark to run on, with its own settings; without, one is started with those of `[spark]`, and
            stopped at the end.
        progress: told of each step. By default nobody is.
    """
    pipeline = read_pipeline(path)
    shown = progress or Silent()
    started = time.monotonic()
    with ExitStack() as stack:
        if session is None:
            session = _own_session(pipeline, shown, stack)
        try:
            return _Run(pipeline, session, shown, stack).report(started)
        except PySparkException as problem:
            raise plain_error(problem) from problem


def _own_session(pipeline: Pipeline, progress: Progress, stack: ExitStack) -> SparkSession:
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    progress.begin("starting Spark")
    session = local_session(f"tocsin {pipeline.name}", extra_conf=pipeline.spark)
    stack.callback(session.stop)
    progress.done(f"version {session.version}")
    return session
