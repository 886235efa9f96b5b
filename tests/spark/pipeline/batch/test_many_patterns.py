"""Many patterns in a pipeline that Spark reads: their predicates are looked up, with the same matches and counters."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tocsin.spark.batch.route import BY_KEY, LOOK_UP, PARQUET
from tocsin.spark.events import arrow_predicates
from tocsin.spark.pipeline import Report, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# More than 64 predicates in few subscriptions, because each of these has a folder of its own.
STEPS = (
    "A(n > {})",
    "B(v < 4.{})",
    "C(n != {})",
    "A(v > 0.{})",
    "B(n < 6{})",
    "C(v != {})",
    "A(n != {})",
    "B(v > 0.{})",
)
PATTERNS = [
    f"([{first.format(number)}], {''.join(f'[{step.format(number)}]' for step in others)})_{{T1=60s}} with matches = next"
    for number in range(9)
    for first, *others in [STEPS]
]


def write_pipeline(folder: Path) -> Path:
    chance = random.Random(7)
    lines = ["time,type,k,n,v"]
    for second in range(400):
        n = "" if second % 41 == 0 else chance.randrange(60)  # unknown to predicates
        k = "" if second % 53 == 0 else chance.choice("pq")  # dead, if some pattern looks at it
        when = f"2024-01-01T08:{second // 60:02}:{second % 60:02}Z"
        lines.append(f"{when},{chance.choice('ABC')},{k},{n},{chance.random() * 5:.3f}")
    (folder / "events.csv").write_text("\n".join(lines) + "\n")
    subscriptions = "\n".join(
        f'[[subscription]]\nname = "P{number}"\nkey = "k"\npattern = "{text}"'
        for number, text in enumerate(PATTERNS)
    )
    file = folder / "pipeline.toml"
    file.write_text(
        f"""[pipeline]
name = "many"
[[source]]
name = "events"
format = "csv"
path = "events.csv"
{subscriptions}
[[sink]]
format = "parquet"
path = "out"
mode = "overwrite"
"""
    )
    return file


def found(spark: SparkSession, folder: Path, report: Report) -> dict[str, list[str]]:
    return {
        name: sorted(row.match_id for row in spark.read.parquet(str(folder / "out" / name)).collect())
        for name, count in report.matches.items()
        if count
    }


def test_a_pipeline_read_by_spark_looks_up_many_predicates(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_pipeline(tmp_path)
    report = run_pipeline(file, session=spark)
    assert {route.name for route in report.routes.values()} == {LOOK_UP}
    assert report.routes["P0"].why_not(PARQUET) == "the source events is not Parquet"
    assert "look-up: predicates are looked up where events are packed" in report.shown_routes()
    looked_up = found(spark, tmp_path, report)
    for limit in ("SPARK_WORDS", "_SPARK_COMPARISONS"):
        monkeypatch.setattr(arrow_predicates, limit, 1000)
    again = run_pipeline(file, session=spark)
    assert {route.name for route in again.routes.values()} == {BY_KEY}
    assert sum(again.matches.values()) > 20
    assert looked_up == found(spark, tmp_path, again)
    assert (report.matches, report.sources, report.reasons) == (again.matches, again.sources, again.reasons)
    assert report.sources["events"].dead > 0
