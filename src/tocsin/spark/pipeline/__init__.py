"""The pipeline file: sources, event types, subscriptions and sinks in one TOML file, run by `tocsin run`."""

from tocsin.spark.counters import Counters
from tocsin.spark.pipeline.read import read_pipeline
from tocsin.spark.pipeline.report import Report
from tocsin.spark.pipeline.run import run_pipeline

__all__ = ["Counters", "Report", "read_pipeline", "run_pipeline"]
