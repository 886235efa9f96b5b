"""How much faster is a batch pipeline over Parquet when Arrow reads it in the tasks, and not Spark?

The same file is a source twice: as Parquet, and as a Spark table over it, which Spark reads. Reading, counting, detecting and
writing the matches of W1 all count; both must find the same. Only the ratio means much; machines differ and are shared.

    python benchmarks/pipelines.py --events 10000000
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from tocsin.bench.events import EventSet, parquet_file
from tocsin.bench.workloads import WORKLOADS
from tocsin.spark.pipeline import Report, run_pipeline
from tocsin.spark.session import local_session

DATA = Path(__file__).resolve().parent / "data"
PIPELINE = """
[[source]]
name = "events"
{source}
time = "ts"
time_unit = "ms"

[[subscription]]
name = "W1"
key = "key"
pattern = "{pattern}"
attributes = {attributes}

[[sink]]
format = "parquet"
path = "{out}"
mode = "overwrite"
"""


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--attributes", nargs="*", default=[], help="what matches carry")
    arguments = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    spark = local_session("tocsin-benchmark")
    seconds: dict[str, list[float]] = {"parquet": [], "table": []}
    with tempfile.TemporaryDirectory(prefix="tocsin-pipelines-") as name:
        # A small one first: workers are started, kernels compiled.
        for rows, rounds in ((100_000, 1), (arguments.events, arguments.rounds)):
            file = parquet_file(EventSet(rows, arguments.keys), DATA)
            reports: dict[str, list[Report]] = {how: [] for how in seconds}
            for _ in range(rounds):
                for how in seconds:
                    reports[how].append(_run(spark, Path(name), how, file, arguments.attributes))
            seconds = {how: [report.seconds for report in several] for how, several in reports.items()}
    arrow, table = (reports[how][0] for how in ("parquet", "table"))
    assert arrow.why_not_arrow == {"W1": None}, arrow.why_not_arrow
    assert (arrow.matches, arrow.sources) == (table.matches, table.sources)
    print(
        json.dumps(
            {
                "events": arrow.total.read,
                "matches": arrow.matches["W1"],
                "read_by_arrow_seconds": [round(s, 2) for s in seconds["parquet"]],
                "read_by_spark_seconds": [round(s, 2) for s in seconds["table"]],
                "ratio": round(min(seconds["table"]) / min(seconds["parquet"]), 2),
            },
            indent=2,
        )
    )


def _run(spark: SparkSession, folder: Path, how: str, file: Path, attributes: list[str]) -> Report:
    source = f'format = "parquet"\npath = "{file}"'
    if how == "table":
        spark.read.parquet(str(file)).createOrReplaceTempView("events")
        source = 'format = "table"\ntable = "events"'
    (pattern,) = WORKLOADS["W1"].patterns().values()
    text = PIPELINE.format(
        source=source, pattern=pattern, attributes=json.dumps(attributes), out=folder / how
    )
    (folder / "pipeline.toml").write_text(text)
    return run_pipeline(folder / "pipeline.toml", session=spark)


if __name__ == "__main__":
    main()
