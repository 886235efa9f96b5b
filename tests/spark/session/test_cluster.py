"""A cluster of processes: Spark's own master and two workers, one of which is killed while it works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import cluster_driver
from support.brokers import wait_until
from support.standalone import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATIENCE = 150  # seconds


def test_a_worker_that_dies_in_the_middle_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    begun, killed = tmp_path / "begun", tmp_path / "killed"
    begun.mkdir()
    with Cluster(tmp_path) as cluster, (tmp_path / "driver.log").open("wb") as log:
        driver = subprocess.Popen(
            [sys.executable, cluster_driver.__file__, cluster.address, str(tmp_path)], stdout=log, stderr=log
        )
        try:
            half = cluster_driver.PARTITIONS // 2

            def at_work() -> bool:
                assert driver.poll() is None, (tmp_path / "driver.log").read_text()
                # Each worker has one core; so when two tasks wait, each worker has one of them.
                return len(list(begun.iterdir())) >= half + 2

            wait_until(at_work, "both workers are at work", PATIENCE)
            cluster.kill_worker("one")
            killed.touch()
            driver.wait(timeout=PATIENCE)
        finally:
            driver.kill()
    assert driver.returncode == 0, (tmp_path / "driver.log").read_text()
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(list(begun.iterdir())) > cluster_driver.PARTITIONS, "no task had to be done again"
    table = cluster_driver.events(spark)
    assert found["by_key"] == cluster_driver.matches(table, key="device")
    assert found["over_all"] == cluster_driver.matches(table, key=None)
    assert min(map(len, found.values())) > 1000
