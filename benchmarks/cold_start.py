"""How long the first query of a new installation takes, compared with Spark's own first query in the same session.

    python benchmarks/cold_start.py            builds the wheels, and measures the one for this platform
    python benchmarks/cold_start.py --pure     measures the wheel for everywhere, whose kernels are compiled at first

The wheel is installed with pip into a new environment in a temporary folder, which is never activated. A plain SparkSession
counts the events of each key with groupBy().count(), then detects `[A];[B]` by key in them. Over many rows this is done
twice, in a process each: the second finds everything that the first has compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import json, sys, time
from pyspark.sql import SparkSession

file, given = sys.argv[1:]
spark = SparkSession.builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR").getOrCreate()
began = time.perf_counter()
keys = spark.read.parquet(file).groupBy("k").count().count()
counted = time.perf_counter()
import tocsin
events = file if given == "path" else spark.read.parquet(file)
matches = tocsin.detect(events, "[A];[B]", key="k").count()
found = time.perf_counter()
print(json.dumps({"keys": keys, "matches": matches, "spark": counted - began, "tocsin": found - counted}))
"""


def main() -> int:
    """Build, install, measure, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the larger file")
    parser.add_argument("--pure", action="store_true", help="measure the wheel without compiled kernels")
    parser.add_argument("--given", choices=("table", "path"), default="table", help="what is given to detect")
    parser.add_argument("--wheels", type=Path, help="a folder with wheels, instead of building them")
    options = parser.parse_args()
    folder = options.wheels or built()
    (wheel,) = (one for one in folder.glob("*.whl") if one.name.endswith("-any.whl") is options.pure)
    with tempfile.TemporaryDirectory(prefix="tocsin-cold-") as name:
        work = Path(name)
        python = installed(wheel, work / "environment")
        small, large = events(work / "small.parquet", 1000), events(work / "large.parquet", options.rows)
        first = run(python, small, work / "cache 1", options.given)
        ratio = first["tocsin"] / first["spark"]
        print(f"{wheel.name}, {options.given}")
        both = f"Spark's first query {first['spark']:.1f} s, Tocsin's {first['tocsin']:.1f} s"
        print(f"1,000 rows: {both}: ratio {ratio:.1f}")
        cold = run(python, large, work / "cache 2", options.given)
        warm = run(python, large, work / "cache 2", options.given)
        more = cold["tocsin"] - warm["tocsin"]
        print(
            f"{options.rows:,} rows: {cold['tocsin']:.1f} s at first, {warm['tocsin']:.1f} s when warm: {more:.1f} s more"
        )
        print(f"Spark's own: {cold['spark']:.1f} s and {warm['spark']:.1f} s")
        assert cold["matches"] == warm["matches"]
    return 0


def built() -> Path:
    """Build the wheels and return their folder."""
    subprocess.run([sys.executable, ROOT / "dev.py", "wheel"], check=True)
    return ROOT / "dist"


def installed(wheel: Path, folder: Path) -> Path:
    """Install a wheel into a new environment and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--constraint", ROOT / "constraints.txt", wheel], check=True)
    return python


def events(file: Path, rows: int) -> Path:
    """Write events of eight types, a hundred for each key."""
    random = np.random.default_rng(17)
    table = pa.table(
        {
            "time": pa.array(np.arange(rows) * 1000, pa.timestamp("us", "UTC")),
            "type": np.array(list("ABCDEFGH"))[random.integers(0, 8, rows)],
            "k": random.integers(0, max(1, rows // 100), rows),
            "value": random.random(rows),
        }
    )
    pq.write_table(table, file, row_group_size=1_000_000)
    return file


def run(python: Path, file: Path, cache: Path, given: str) -> dict[str, float]:
    """Run the program in a new process that compiles into a folder of its own."""
    kept = ("HOME", "JAVA_HOME", "LANG", "TMPDIR")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    env |= {"PATH": os.defpath, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [python, "-c", PROGRAM, str(file), given], env=env, cwd=file.parent, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


if __name__ == "__main__":
    sys.exit(main())
