"""Files that arrive at a streaming pipeline, and the JSON lines it writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def put(folder: Path, number: int, text: str, ending: str = "jsonl") -> None:
    """A file that comes to a folder; streams take files by the time they were changed."""
    folder.mkdir(exist_ok=True)
    file = folder / f"{number}.{ending}"
    file.write_text(text)
    os.utime(file, (1_000 + number, 1_000 + number))


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of an output in JSON lines, in an order of their own."""
    files = folder.glob("**/part-*.json")
    found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))
