"""Parquet files with columns of many types, and the check that a path and its DataFrame give the same matches."""

from __future__ import annotations

import datetime
import decimal
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from support.calls import detect, route
from tocsin.spark.batch.route import PARQUET

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY = datetime.date(2020, 1, 1)
NOON = datetime.datetime(2020, 1, 1, 12)  # noqa: DTZ001  both kinds of columns take it
PATTERN = "([A(v > 2)], [B(s != 'x')][C])_{T1=40s}"


def random_table(seed: int, rows: int = 400, missing: float = 0.1) -> pa.Table:
    """Events of a few keys with columns of many types, in which values may be missing."""
    chance = random.Random(seed)

    def column(type: pa.DataType, make: Any) -> pa.Array:
        return pa.array([None if chance.random() < missing else make(row) for row in range(rows)], type)

    moments = [NOON + datetime.timedelta(seconds=row + chance.random()) for row in range(rows)]
    return pa.table(
        {
            "k": pa.array([chance.choice("pqr") for _ in range(rows)]),
            "type": pa.array([chance.choice("AABBCCD") for _ in range(rows)]),
            "time": pa.array(moments, pa.timestamp("us", "UTC")),
            "v": column(pa.float64(), lambda row: chance.choice([0.0, -0.0, 2.0, 2.5, float("nan")])),
            "s": column(pa.string(), lambda row: "x" * chance.randrange(40)),
            "n": column(pa.int32(), lambda row: chance.randrange(-5, 5)),
            "b": column(pa.int8(), lambda row: chance.randrange(-5, 5)),
            "h": column(pa.int16(), lambda row: chance.randrange(-500, 500)),
            "w": column(pa.uint8(), lambda row: chance.randrange(256)),
            "u": column(pa.uint32(), lambda row: chance.randrange(2**32)),
            "f": column(pa.float32(), lambda row: chance.choice([0.1, -0.0, float("inf")])),
            "t": column(pa.bool_(), lambda row: chance.random() < 0.5),
            "d": column(pa.date32(), lambda row: DAY + datetime.timedelta(days=row - 50)),
            "local": column(pa.timestamp("ms"), lambda row: NOON + datetime.timedelta(hours=row)),
            "x": column(pa.binary(), lambda row: bytes(range(row % 37))),
            "money": column(pa.decimal128(9, 2), lambda row: decimal.Decimal(row % 40) / 4),
            "at": column(
                pa.struct({"floor": pa.int32(), "room": pa.string()}),
                lambda row: {"floor": row % 3, "room": None},
            ),
            "tags": column(
                pa.list_(pa.string()), lambda row: [chance.choice(["y", None])] * chance.randrange(3)
            ),
        }
    )


def written(folder: Path, table: pa.Table, files: int = 2, **options: Any) -> Path:
    """The table as some files with small row groups."""
    path = folder / "events"
    path.mkdir()
    each = -(-table.num_rows // files)
    for number in range(files):
        part = table.slice(number * each, each)
        pq.write_table(part, path / f"part-{number}.parquet", row_group_size=70, **options)
    return path


def rows(found: DataFrame) -> list[dict[str, Any]]:
    # As text, because NaN is not even equal to itself.
    return sorted(map(str, found.toArrow().to_pylist()))


def read_by_spark(spark: SparkSession, path: Path) -> DataFrame:
    """A table that Spark itself reads: with a filter that Arrow cannot evaluate, and that lets all rows pass."""
    from pyspark.sql import functions as F

    return spark.read.parquet(str(path)).where(F.monotonically_increasing_id() >= 0)


def why_not_arrow(path: Path, pattern: Any, **options: Any) -> str | None:
    """Why Spark reads a path; None if tasks read it with Arrow."""
    return route(path, pattern, **options).why_not(PARQUET)


def assert_same(spark: SparkSession, path: Path, pattern: Any, *, arrow: bool = True, **options: Any) -> int:
    """The matches of a path are those of its DataFrame; returns how many there are."""
    reason = why_not_arrow(path, pattern, spark=spark, **options)
    assert (reason is None) is arrow, reason
    found = rows(detect(path, pattern, spark=spark, **options))
    assert found == rows(detect(read_by_spark(spark, path), pattern, **options))
    return len(found)
