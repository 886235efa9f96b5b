"""Tocsin on Spark, from a DataFrame or from the path of a Parquet file, and Spark's own sort to compare with.

Matches are counted and their spans summed by Spark. Every match is produced with its start and end, as the SQL of the
other engines does; none is written.
"""

from __future__ import annotations

from typing import Any

from tocsin.bench.job import Found, Job, Round
from tocsin.spark.session.session import local_session

Session = Any  # of pyspark, which only `tocsin.spark` names
Frame = Any

_SUMMED = ("count(*) AS matches", "sum(unix_millis(end) - unix_millis(start)) AS span_sum")
_COUNTED = ("sum(cast(variables['count'] AS bigint)) AS matches", "cast(null AS bigint) AS span_sum")


def prepare(job: Job) -> Round:
    """Start Spark; reading the file is part of each round."""
    spark = local_session("tocsin-bench", cores=job.cores)
    if job.engine == "spark-sort":
        return lambda: _sort(spark, job)
    return lambda: _detect(spark, job)


def _detect(spark: Session, job: Job) -> Any:
    # Imported here: Spark's own sort loads nothing that detects.
    from tocsin.languages.registry import plain_language
    from tocsin.spark.detect import detect
    from tocsin.spark.options import Columns, Run

    patterns = job.workload.patterns(job.window)
    report = ["variables"] if job.workload.counted else ["start", "end"]
    columns = Columns(time_unit="ms", attributes=[], report=report)
    common: dict[str, Any] = {
        **{"time": "ts", "type": "type", "key": "key" if job.keys > 1 else None},
        "language": plain_language(job.workload.family).name,
    }
    if job.engine == "tocsin-parquet":
        matches = detect(job.path, patterns, columns, Run(spark=spark), **common)
    else:
        # A computed column, because the plain table would be read as the files are.
        names = ("ts + 0 AS ts" if name == "ts" else name for name in job.workload.columns)
        matches = detect(_events(spark, job).selectExpr(*names), patterns, columns, **common)
    (row,) = matches.selectExpr(*(_COUNTED if job.workload.counted else _SUMMED)).collect()
    found = Found(int(row["matches"] or 0), None if job.workload.counted else int(row["span_sum"] or 0))
    return lambda: found


def _sort(spark: Session, job: Job) -> Any:
    together = _events(spark, job).repartition("key").sortWithinPartitions("key", "ts")
    together.write.format("noop").mode("overwrite").save()
    return lambda: Found(None, None)


def _events(spark: Session, job: Job) -> Frame:
    return spark.read.parquet(job.path).select(*job.workload.columns)
