"""Files that Spark has listed for a micro-batch and that are there no more when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from tocsin.spark.pipeline.stream.deleted_files import deleted_files


class Disk:
    """A storage of this machine."""

    def exists(self, path: str) -> bool:
        return Path(path.removeprefix("file://")).exists()

    def names(self, folder: str) -> list[str]:
        there = Path(folder.removeprefix("file://"))
        return sorted(one.name for one in there.iterdir()) if there.exists() else []

    def read(self, path: str) -> str:
        return Path(path).read_text()


def log(folder: Path, name: str, *entries: tuple[Path, int]) -> None:
    """What Spark writes of the files of a source."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"path": path.as_uri(), "timestamp": 0, "batchId": batch}) for path, batch in entries]
    (folder / name).write_text("\n".join(["v1", *lines]))


def offsets(checkpoint: Path, batch: int, *sources: object) -> None:
    (checkpoint / "offsets").mkdir(parents=True, exist_ok=True)
    lines = ["v1", "{}", *("-" if one is None else json.dumps(one) for one in sources)]
    (checkpoint / "offsets" / str(batch)).write_text("\n".join(lines))


def deleted(checkpoint: Path, batch: int) -> dict[str, int]:
    return deleted_files(cast(Any, Disk()), str(checkpoint), batch)


def test_a_listed_file_that_is_gone_is_counted_in_its_micro_batch(tmp_path: Path) -> None:
    checkpoint, events = tmp_path / "checkpoint", tmp_path / "with a blank"
    events.mkdir()
    files = [events / f"{n} \u00e9.jsonl" for n in range(4)]
    for file in files[1:]:
        file.touch()
    # The first source is no folder; the second one has two steps in the second micro-batch.
    log(checkpoint / "sources" / "1", "0", (files[0], 0))
    log(checkpoint / "sources" / "1", "1", (files[1], 1))
    log(checkpoint / "sources" / "1", "2.compact", *((file, n) for n, file in enumerate(files[:3])))
    offsets(checkpoint, 0, {"topic": {"0": 5}}, {"logOffset": 0})
    offsets(checkpoint, 1, None, {"logOffset": 2})
    offsets(checkpoint, 2, None, {"logOffset": 2})
    folder = events.as_uri().replace("%20", " ")
    assert [deleted(checkpoint, batch) for batch in (0, 1, 2)] == [{folder: 1}, {}, {}]
    files[1].unlink()
    files[2].unlink()
    assert deleted(checkpoint, 1) == {folder: 2}


def test_of_very_many_files_the_folder_is_listed(tmp_path: Path) -> None:
    checkpoint, events = tmp_path / "checkpoint", tmp_path / "in"
    events.mkdir()
    files = [events / f"{n}.jsonl" for n in range(100)]
    for file in files[7:]:
        file.touch()
    log(checkpoint / "sources" / "0", "0", *((file, 0) for file in files))
    offsets(checkpoint, 0, {"logOffset": 0})
    assert deleted(checkpoint, 0) == {events.as_uri(): 7}
