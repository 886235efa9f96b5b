"""Read and check a pipeline file: all mistakes are reported together, before Spark is started."""

from __future__ import annotations

from pathlib import Path

from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.file.read import read_file
from tocsin.spark.pipeline.plan.check_needs import check_needs
from tocsin.spark.pipeline.plan.check_stream import check_stream
from tocsin.spark.pipeline.plan.jobs import plan_jobs


def read_pipeline(path: str | Path, *, allow_spark_settings: bool = False) -> Pipeline:
    """Return the pipeline; raise `PipelineErrors` with all mistakes, each with its line.

    Files must be there and patterns must be right; the columns of the sources are looked at when it runs.

    Args:
        allow_spark_settings: whether the file may make any setting of Spark, which can run code, and not only those of
            `spark.session.allowed_settings`.
    """
    pipeline, root = read_file(Path(path), allow_spark_settings)
    if not root.errors:
        # Only now: a pattern is read with the types and names that the rest of the file gives it.
        plan = plan_jobs(pipeline, root.errors)
        if pipeline.stream is not None and not root.errors:
            check_stream(pipeline, plan, root)
        check_needs(pipeline, root)
    if root.errors:
        raise PipelineErrors(root.errors)
    return pipeline
