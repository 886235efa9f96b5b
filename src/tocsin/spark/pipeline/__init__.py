"""The pipeline file: sources, event types, subscriptions and sinks in one TOML file, run by `tocsin run`."""

from tocsin.spark.observe.counters import Counters
from tocsin.spark.pipeline.read_checked import read_pipeline
from tocsin.spark.pipeline.report.report import Report
from tocsin.spark.pipeline.run import run_pipeline

__all__ = ["Counters", "Report", "read_pipeline", "run_pipeline"]

DOORS = (
    "file.document",
    "file.read_events",
    "file.read_patterns",
    "file.section",
    "file.warnings",
    "plan.jobs",
    "report.progress",
)
