"""Makes the checkpoints that later builds are tested with; run by hand, from the root of the repository:

    PYTHONPATH=src:tests python tests/spark/stream/make_checkpoint.py

Each case is a stream over files that stops in the middle. Kept in `checkpoints/VERSION/CASE.tar.gz` are its checkpoint, the
files that it has not read yet, and as `expected.json` what it finds in those. Run it again when the layout changes, with a new
`shard_head.VERSION`, and keep the older files: they must be refused by their version.

Spark writes absolute paths into a checkpoint. Here they become `@ROOT@`, and `restore` puts the folder of the test in place.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import tocsin
from support.calls import detect
from tocsin.spark.pipeline import run_pipeline
from tocsin.spark.pipeline.stream.checkpoint_files import sealed
from tocsin.spark.rules.folder import write_change
from tocsin.spark.stream.shard_head import VERSION

CHECKPOINTS = Path(__file__).parent / "checkpoints"
ROOT = "@ROOT@"
SCHEMA = "id long, type string, t long, room string, v int"
PIECES, EVENTS = 6, 40  # files, and events of each
DONE = 3  # files that are read before the checkpoint is kept
SELECTED = {
    "each": "[A];[B(v > 2)]",
    "first": "[A];[B] with matches = any, take = first 2",
    "last": "[A][C][B] with matches = any, take = last",
    "count": "[A];[C];[B] with matches = any, take = count",
    "leftmost": "[A][C]*[B] with matches = leftmost",
    "same": "[A(v = $v)];[C(v = $v)]",
    "absence": "([A], [T1 in {T1, B}])_{T1=4s}",
    "now": "[B];[C] with detection = best-effort",
}
MANY = {f"over {n}": f"[A(v >= {n % 9} AND id != {n})];[B(v = {n % 7} AND id != {n})]" for n in range(40)}
SENT = "repeat {push(Made {v = event.v}) {A}}"
PIPELINE = """
[stream]
checkpoint = "checkpoint"
delay = "2s"
shards = 1
late = "drop"

[[source]]
name = "rooms"
format = "jsonl"
path = "in"
time = "t"
time_unit = "s"
id = "id"
stream = true
max_files = 1

[[subscription]]
name = "Both"
key = "room"
pattern = "[A];[B(v > 2)]"

[[subscription]]
name = "Last"
pattern = "[A][B] with matches = any, take = last"

[[sink]]
format = "jsonl"
path = "out"
"""


@dataclass(frozen=True)
class Case:
    """A stream that is stopped in the middle: `run` reads all files of a folder, and returns what it found in them."""

    run: Callable[[SparkSession, Path], list[str]]
    between: Callable[[Path], None] = field(default=lambda root: None)  # done while it stands still


def of_query(
    patterns: str | Mapping[str, str], rules: bool = False, **options: Any
) -> Callable[[SparkSession, Path], list[str]]:
    """A query of `tocsin.detect`; its rules may change."""

    def run(spark: SparkSession, root: Path) -> list[str]:
        events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(root / "in"))
        if rules:
            options.update({"rules": root / "rules", "rule_changes": "keep"})
        columns = {"time": "t", "time_unit": "s", "id": "id", "delay": "2s", "shards": 1, "late": "drop"}
        found = detect(events, patterns, **columns, **options)
        return finished(found, root)

    return run


def finished(found: DataFrame, root: Path) -> list[str]:
    """The rows of a query that goes on until all files are used, each as JSON."""
    rows: list[str] = []

    def note(batch: DataFrame, _: int) -> None:
        rows.extend(as_text(row.asDict(recursive=True)) for row in batch.collect())

    query = found.writeStream.foreachBatch(note).option("checkpointLocation", str(root / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    return sorted(rows)


def of_pipeline(spark: SparkSession, root: Path) -> list[str]:
    """A pipeline of two jobs."""
    shutil.rmtree(root / "out", ignore_errors=True)
    (root / "pipeline.toml").write_text(PIPELINE)
    run_pipeline(root / "pipeline.toml", session=spark, once=True)
    return sorted(
        as_text(json.loads(line))
        for file in (root / "out").glob("*/batch*/*.json")
        for line in file.read_text().splitlines()
    )


def as_text(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True, default=str)


def change_rules(root: Path) -> None:
    write_change(root / "rules", {"action": "add", "name": "added", "text": "[C];[B(v > 3)]"})
    write_change(root / "rules", {"action": "remove", "name": "each"})


CASES = {
    "tokens": Case(of_query(SELECTED, key="room")),
    "many": Case(of_query(MANY, key="room")),
    "ecl": Case(of_query(SENT, language="ecl")),
    "rules": Case(
        of_query({"each": SELECTED["each"], "same": SELECTED["same"]}, rules=True, key="room"), change_rules
    ),
    "pipeline": Case(of_pipeline),
}


def write_pieces(root: Path, numbers: range) -> None:
    """Files of events, always the same; the file source takes them by the time they were changed."""
    random = Random(7)
    (root / "in").mkdir(exist_ok=True)
    for number in range(PIECES):
        lines = []
        for n in range(number * EVENTS, (number + 1) * EVENTS):
            at = n // 4 + random.randrange(2)  # within the delay
            event = {"id": n, "type": random.choice("ABCZ"), "t": at, "room": random.choice("xy")}
            lines.append(json.dumps(event | {"v": random.randrange(8)}))
        if number in numbers:
            file = root / "in" / f"{number}.json"
            file.write_text("\n".join(lines) + "\n")
            os.utime(file, (1_000 + number, 1_000 + number))


def make(spark: SparkSession, name: str, folder: Path) -> Path:
    """Run a case half way, keep its checkpoint, and go on to see what comes of it."""
    case = CASES[name]
    with tempfile.TemporaryDirectory(prefix="tocsin-checkpoint-") as made:
        root = Path(made)
        write_pieces(root, range(DONE))
        early = case.run(spark, root)
        kept = io.BytesIO()
        write_pieces(root, range(DONE, PIECES))
        case.between(root)
        with tarfile.open(fileobj=kept, mode="w:gz") as archive:
            for file in needed(root):
                data = file.read_bytes().replace(str(root).encode(), ROOT.encode())
                add(archive, str(file.relative_to(root)), data)
            expected = case.run(spark, root)
            assert early, name
            assert expected, name
            add(archive, "expected.json", json.dumps(expected, indent=1).encode())
    target = folder / f"{name}.tar.gz"
    target.write_bytes(kept.getvalue())
    return target


def needed(root: Path) -> Iterator[Path]:
    """What a query needs to go on: its checkpoint, the files it has not read, changes of rules."""
    for file in sorted(root.rglob("*")):
        read = file.parent == root / "in" and int(file.stem) < DONE
        # Checksums of Hadoop's are hidden files; those of the files whose paths are replaced would be wrong.
        if file.is_file() and not read and not file.name.startswith(".") and "out" not in file.parts:
            yield file


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def restore(archive: Path, root: Path) -> list[str]:
    """Put a kept checkpoint and the files that are still to be read into a folder; what is expected of them."""
    with tarfile.open(archive) as kept:
        kept.extractall(root, filter="data")
    for file in (one for one in root.rglob("*") if one.is_file()):
        data = file.read_bytes()
        if ROOT.encode() in data:
            file.write_bytes(data.replace(ROOT.encode(), str(root).encode()))
            if "tocsin" in file.relative_to(root).parts:
                values = json.loads(file.read_text())
                del values["checksum"]
                file.write_text(sealed(values))
    for number in range(DONE, PIECES):
        os.utime(root / "in" / f"{number}.json", (1_000 + number, 1_000 + number))
    expected: list[str] = json.loads((root / "expected.json").read_text())
    return expected


def main() -> int:
    """Write the cases that are named, by default all, for this version."""
    folder = CHECKPOINTS / str(VERSION)
    folder.mkdir(parents=True, exist_ok=True)
    spark = tocsin.local_session("tocsin-checkpoints", cores=2, shuffle_partitions=1)
    for name in sys.argv[1:] or CASES:
        target = make(spark, name, folder)
        sys.stdout.write(f"{target}: {target.stat().st_size:,} bytes\n")
        sys.stdout.flush()
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
