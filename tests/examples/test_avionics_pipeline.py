"""The avionics pipeline on Spark sends what the correlations send one event at a time."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLE = Path(__file__).parents[2] / "examples" / "avionics"
sys.path.insert(0, str(EXAMPLE))

from flight.fleet import Fleet  # noqa: E402
from flight.system import flights, load, run  # noqa: E402
from flight.table import to_table  # noqa: E402

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_the_pipeline_sends_what_the_correlations_send(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "avionics"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("data", "out", "__pycache__"))
    (folder / "data").mkdir()
    (rows,) = Fleet(1, 1, 1).minutes()
    pq.write_table(to_table(rows, 1), folder / "data" / "events.parquet")
    report = run_pipeline(folder / "avionics.toml", session=spark)

    (flight,) = flights(seed=1, scale=1, minutes=1)
    passages = run(load(), flight)
    expected = Counter(
        (name, output.type) for name, passage in passages.items() for output in passage.outcome.outputs
    )
    found: Counter[tuple[str, str]] = Counter()
    for entry in report.matches:
        if entry == "Ecl":
            continue
        table = pq.read_table(folder / "out" / "matches" / entry, columns=["pattern", "what", "type"])
        for row in table.to_pylist():
            if row["what"] == "push":
                found[row["pattern"].rpartition(".")[2], row["type"]] += 1
    assert found == expected
    assert report.sources["components"].dead == 0
    assert report.composites["RedundantSensors"].read == len(passages["RedundantSensors"].outcome.outputs)
    assert report.warnings == ()
    steering = pq.read_table(folder / "out" / "matches" / "ModalSteering.Steering")
    assert {"id", "type", "time", "source", "aircraft", "heading"} <= set(steering.column_names)
