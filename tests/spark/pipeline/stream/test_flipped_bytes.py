"""A byte that flips anywhere in a checkpoint: the stream goes on as if nothing had been, or says which file is damaged."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from tocsin.errors import TocsinError
from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PIPELINE = """
[[source]]
name = "doors"
format = "jsonl"
path = "in"
stream = true
max_files = 1

[event.Open]
room = "string"

[event.Close]
room = "string"

[[subscription]]
name = "Pairs"
key = "room"
pattern = "[Open];[Close]"

[[sink]]
format = "parquet"
path = "out"

[stream]
checkpoint = "checkpoint"
delay = "2s"
shards = 1
"""
NAMED = {"checkpoint-damaged", "checkpoint-version", "other-checkpoint"}
KEPT = ("checkpoint", "out", "in")


def events(number: int) -> str:
    """The events of a file."""
    return "".join(
        json.dumps(
            {
                "type": ("Open", "Close")[n % 3 == 0],
                "time": f"2026-01-01T00:{number:02}:{n:02}Z",
                "room": f"r{n % 2}",
            }
        )
        + "\n"
        for n in range(20)
    )


def found(folder: Path) -> Counter[str]:
    """How often each match was written."""
    files = (folder / "out").glob("**/part-*.parquet")
    return Counter(
        id
        for file in files
        if not any(part.startswith(".") for part in file.relative_to(folder).parts)
        for id in pq.read_table(file, columns=["match_id"], partitioning=None).column(0).to_pylist()
    )


class Stream:
    """A stream that has come halfway, again and again."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder, self.spark = folder, spark
        (folder / "in").mkdir()
        (folder / "pipeline.toml").write_text(PIPELINE)
        self.add_events(0, 3)
        self.go_on()
        for name in KEPT:
            shutil.copytree(folder / name, folder / "kept" / name)
        self.add_events(3, 5)
        self.go_on()
        self.right = found(folder)
        assert set(self.right.values()) == {1}
        assert len(self.right) > len(found(folder / "kept"))

    def go_on(self) -> None:
        run_pipeline(self.folder / "pipeline.toml", session=self.spark, once=True)

    def add_events(self, first: int, stop: int) -> None:
        """Add files; Spark reads them in the order of their times."""
        for number in range(first, stop):
            file = self.folder / "in" / f"{number}.jsonl"
            file.write_text(events(number))
            os.utime(file, (1_000 + number, 1_000 + number))

    def flipped(self, seed: int) -> str:
        """Flip a bit of a byte somewhere in the checkpoint and go on; returns what came of it."""
        for name in KEPT:
            shutil.rmtree(self.folder / name)
            shutil.copytree(self.folder / "kept" / name, self.folder / name)
        random = Random(seed)
        files = sorted(
            one for one in (self.folder / "checkpoint").rglob("*") if one.is_file() and one.stat().st_size
        )
        file = random.choice(files)
        data = bytearray(file.read_bytes())
        at = random.randrange(len(data))
        data[at] ^= 1 << random.randrange(8)
        file.write_bytes(data)
        self.add_events(3, 5)
        where = f"seed {seed}, byte {at} of {file.relative_to(self.folder)}"
        refused: TocsinError | None = None
        try:
            self.go_on()
        except TocsinError as problem:
            refused = problem
        if refused is not None:
            assert refused.code in NAMED, f"{where}: {refused}"
            assert str(self.folder / "checkpoint") in refused.message, f"{where}: {refused}"
            # What was written before the damage was noticed is right.
            assert found(self.folder) <= self.right, where
            return "named"
        assert found(self.folder) == self.right, where
        return "same"


@pytest.fixture(scope="module")
def stream(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Stream:
    return Stream(tmp_path_factory.mktemp("flipped"), spark)


def test_a_flipped_byte_is_named_or_changes_nothing(stream: Stream) -> None:
    outcomes = Counter(stream.flipped(seed) for seed in range(8))
    assert sum(outcomes.values()) == 8


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 1200, 20))
def test_so_it_is_for_two_hundred(stream: Stream, first: int) -> None:
    outcomes = Counter(stream.flipped(seed) for seed in range(first, first + 20))
    print(f"flipped bytes: {dict(outcomes)}")  # noqa: T201  (the figures of the long run)
    assert outcomes["named"] > 0
