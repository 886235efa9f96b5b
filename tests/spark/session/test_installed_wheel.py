"""The wheel, installed into an environment that nobody activates, in a plain SparkSession."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from support.wheels import REPOSITORY, environment, run_in, wheel_with_kernels

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
import json, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
import tocsin
events = spark.sql("select timestamp_seconds(id) as time, if(id % 3 = 0, 'A', 'B') as type, id % 7 as k from range(1000)")
events.write.parquet("events")
found = [
    tocsin.detect(one, "[A];[B]", key="k").count() for one in (events, spark.read.parquet("events"), "events")
]
print(json.dumps({"home": tocsin.__file__, "found": found}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_with_kernels(tmp_path_factory.mktemp("wheel"))


def test_a_wheel_has_everything(wheel: Path) -> None:
    source = REPOSITORY / "src"
    with ZipFile(wheel) as opened:
        packed = {name for name in opened.namelist() if name.startswith("tocsin/")}
        about = opened.read("tocsin-0.1.0.dist-info/WHEEL").decode()
    there = {
        str(file.relative_to(source))
        for file in (source / "tocsin").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    code = {name for name in packed if name.endswith(".nbc")}
    assert packed - code == there
    assert {"tocsin/py.typed", "tocsin/languages/core/README.md"} <= packed
    assert len(code) > 20
    assert "Root-Is-Purelib: false" in about
    assert "Tag: cp3" in about


def test_an_installed_wheel_works_where_nobody_has_activated_its_environment(
    wheel: Path, tmp_path: Path
) -> None:
    python = environment(wheel, tmp_path / "env")
    cache = tmp_path / "cache"
    done = run_in(python, ["-c", PROGRAM], tmp_path, NUMBA_CACHE_DIR=str(cache))
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert Path(told["home"]).is_relative_to(tmp_path / "env")
    assert told["found"][0] > 100
    assert len(set(told["found"])) == 1
    assert not list(cache.rglob("*.nbc")), "the kernels of the usual queries come with the wheel"
