"""How much faster is a batch pipeline over Parquet when Arrow reads it in the tasks, instead of Spark?

The same file is a source twice: as Parquet, and as a Spark table over it, which Spark reads. Reading, counting, detecting and
writing the matches of W1 are all timed; both must find the same matches. Only the ratio is meaningful; machines differ and
are shared. With `--patterns`, that many patterns with few matches each, of which all are detected and counted and the
first is written, are compared with one of them instead.

    python benchmarks/pipelines.py --events 10000000
    python benchmarks/pipelines.py --events 10000000 --patterns 1000
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import SparkSession

from tocsin.bench.events import EventSet, parquet_file
from tocsin.bench.workloads import WORKLOADS, Workload, many
from tocsin.spark.pipeline import Report, run_pipeline
from tocsin.spark.session.session import local_session

DATA = Path(__file__).resolve().parent / "data"
SOURCE = """
[[source]]
name = "events"
{source}
time = "ts"
time_unit = "ms"
"""
SUBSCRIPTION = """
[[subscription]]
name = "{name}"
key = "key"
pattern = "{pattern}"
attributes = {attributes}
"""
SINK = """
[[sink]]
format = "parquet"
path = "{out}"
mode = "overwrite"
subscriptions = ["p0"]
"""


class Case(NamedTuple):
    """A pipeline to measure: who reads the file, and what is detected."""

    source: str  # "parquet": Arrow reads it in the tasks; "table": Spark does
    workload: Workload


def main() -> None:
    """Run the benchmark and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--attributes", nargs="*", default=[], help="what matches carry")
    parser.add_argument("--patterns", type=int, help="compare so many patterns with one")
    arguments = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    if arguments.patterns:
        cases = [Case("table", many(count)) for count in (1, arguments.patterns)]
    else:
        cases = [Case(source, WORKLOADS["W1"]) for source in ("parquet", "table")]
    first, second = measure(cases, arguments)
    seconds = [[round(report.seconds, 2) for report in several] for several in (first, second)]
    ratio = round(min(seconds[1]) / min(seconds[0]), 2)
    common = {"events": first[0].total.read, "matches": sum(second[0].matches.values()), "ratio": ratio}
    if arguments.patterns:
        names = ("one_pattern_seconds", f"{arguments.patterns}_patterns_seconds")
        assert first[0].matches["p0"] == second[0].matches["p0"]
    else:
        names = ("read_by_arrow_seconds", "read_by_spark_seconds")
        assert first[0].routes["p0"].why_not("parquet") is None, first[0].routes["p0"]
        assert (first[0].matches, first[0].sources) == (second[0].matches, second[0].sources)
    print(json.dumps(common | dict(zip(names, seconds, strict=True)), indent=2))


def measure(cases: Sequence[Case], arguments: argparse.Namespace) -> list[list[Report]]:
    """Run each case several times, in turns, and return the reports of each."""
    spark = local_session("tocsin-benchmark")
    with tempfile.TemporaryDirectory(prefix="tocsin-pipelines-") as name:
        # A small run first, to start workers and compile kernels.
        for rows, rounds in ((100_000, 1), (arguments.events, arguments.rounds)):
            file = parquet_file(EventSet(rows, arguments.keys), DATA)
            reports: list[list[Report]] = [[] for _ in cases]
            for _ in range(rounds):
                for case, own in zip(cases, reports, strict=True):
                    own.append(run(spark, Path(name), case, file, arguments.attributes))
    return reports


def run(spark: SparkSession, folder: Path, case: Case, file: Path, attributes: list[str]) -> Report:
    """Run the pipeline of a case once."""
    source = f'format = "parquet"\npath = "{file}"'
    if case.source == "table":
        spark.read.parquet(str(file)).createOrReplaceTempView("events")
        source = 'format = "table"\ntable = "events"'
    subscriptions = (
        SUBSCRIPTION.format(name=name, pattern=pattern, attributes=json.dumps(attributes))
        for name, pattern in case.workload.patterns().items()
    )
    sink = SINK.format(out=folder / f"{case.source}-{len(case.workload.thresholds)}")
    (folder / "pipeline.toml").write_text(SOURCE.format(source=source) + "".join(subscriptions) + sink)
    return run_pipeline(folder / "pipeline.toml", session=spark)


if __name__ == "__main__":
    main()
