"""Events in JSON files, which a stream takes one after another and a table reads whole."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id long, type string, t long, room string, floor int, v int"
BY_ROOM = {"time": "t", "time_unit": "s", "id": "id", "key": ["room", "floor"]}


def write(folder: Path, pieces: Sequence[Sequence[tuple[Any, ...]]], first: int = 0) -> None:
    """A file a piece; the file source takes them by the time they were changed."""
    folder.mkdir(exist_ok=True)
    names = [column.split()[0] for column in SCHEMA.split(", ")]
    for number, piece in enumerate(pieces, first):
        file = folder / f"{number}.json"
        file.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in piece))
        os.utime(file, (1_000 + number, 1_000 + number))


def table(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.schema(SCHEMA).json(str(folder / "in"))


def told(matches: DataFrame) -> list[str]:
    return sorted(repr(row) for row in matches.collect())
