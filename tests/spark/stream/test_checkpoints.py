"""Checkpoints of earlier builds: a stream goes on from them exactly where it was, or refuses them by their version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark.stream.make_checkpoint import CASES, CHECKPOINTS, restore
from tocsin.errors import TocsinError
from tocsin.spark.session.failures import explain_failure
from tocsin.spark.stream.shard_head import VERSION

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEPT = sorted(CHECKPOINTS.glob("*/*.tar.gz"))


def test_every_case_is_kept_for_this_version() -> None:
    assert {file.name.split(".")[0] for file in KEPT if file.parent.name == str(VERSION)} == set(CASES)
    assert sum(file.stat().st_size for file in KEPT if file.parent.name == str(VERSION)) < 200_000


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("kept", KEPT, ids=lambda file: f"{file.parent.name}-{file.name.split('.')[0]}")
def test_a_stream_goes_on_from_a_kept_checkpoint(spark: SparkSession, tmp_path: Path, kept: Path) -> None:
    from pyspark.errors import StreamingQueryException

    expected = restore(kept, tmp_path)
    run = CASES[kept.name.split(".")[0]].run
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        if kept.parent.name == str(VERSION):
            assert run(spark, tmp_path) == expected
        else:
            with pytest.raises((TocsinError, StreamingQueryException)) as refused:
                run(spark, tmp_path)
            assert "checkpoint-version" in explain_failure(refused.value)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
