"""Files of a streaming source that were deleted after Spark had listed them and before they were read.

Spark writes down which files a micro-batch is to read, and reads those that are still there: one that has gone is left out
without a word. So what is written down is looked for once more before a micro-batch is read.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from urllib.parse import unquote

from tocsin.spark.session.storage import Storage
from tocsin.spark.stream.damage import reading

_FEW = 20  # files of a folder up to which each is asked for; a folder with more is listed


def deleted_files(storage: Storage, checkpoint: str, batch: int) -> dict[str, int]:
    """How many files of a micro-batch are there no more, by their folder."""
    before = _offsets(storage, checkpoint, batch - 1) if batch else []
    folders: dict[str, set[str]] = defaultdict(set)
    for number, last in enumerate(_offsets(storage, checkpoint, batch)):
        first = before[number] if number < len(before) else None
        for path in _listed(storage, f"{checkpoint}/sources/{number}", first, last):
            folder, _, name = path.rpartition("/")
            folders[folder].add(name)
    gone: Counter[str] = Counter()
    for folder, names in folders.items():
        if len(names) <= _FEW:
            there = {name for name in names if storage.exists(f"{folder}/{name}")}
        else:
            there = names.intersection(storage.names(folder))
        if there != names:
            gone[folder] += len(names - there)
    return dict(gone)


def _offsets(storage: Storage, checkpoint: str, batch: int) -> list[int | None]:
    """How far a micro-batch goes in the log of each source; None for a source that lists no files."""
    path = f"{checkpoint}/offsets/{batch}"
    if not storage.exists(path):
        return []
    with reading(path):
        _, _, *lines = storage.read(path).splitlines()
        values = [None if line == "-" else json.loads(line) for line in lines]
    found = [value.get("logOffset") if isinstance(value, dict) else None for value in values]
    return [offset if isinstance(offset, int) else None for offset in found]


def _listed(storage: Storage, log: str, first: int | None, last: int | None) -> Iterator[str]:
    """The files that a log of a source names after one offset and up to another."""
    numbers = range(-1 if first is None else first, -1 if last is None else last)
    names = set(storage.names(log)) if numbers else set()
    compact = sorted(int(name.removesuffix(".compact")) for name in names if name.endswith(".compact"))
    for before in numbers:
        number = before + 1
        name = str(number)
        if name not in names:
            name = next((f"{one}.compact" for one in compact if one >= number), "")
        if name:
            with reading(f"{log}/{name}"):
                entries = [json.loads(line) for line in storage.read(f"{log}/{name}").splitlines()[1:]]
                yield from (unquote(one["path"]) for one in entries if one["batchId"] == number)
