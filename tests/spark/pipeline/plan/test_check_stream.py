"""What a stream cannot do is refused with its line when the file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.model import Pipeline

GOOD = """\
[[source]]
name = "doors"
format = "jsonl"
path = "doors"
stream = true
max_files = 3

[[subscription]]
name = "Opened"
key = "room"
pattern = "[Open];[Close]"

[[sink]]
format = "parquet"
path = "out"

[stream]
checkpoint = "checkpoint"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "doors").mkdir()
    return tmp_path


def read(folder: Path, text: str) -> Pipeline:
    path = folder / "pipeline.toml"
    path.write_text(text, encoding="utf-8")
    return read_pipeline(path)


def mistakes(folder: Path, text: str) -> list[tuple[str, int]]:
    """The codes of the mistakes in a file, with their lines."""
    with pytest.raises(PipelineErrors) as raised:
        read(folder, text)
    return [(error.code, error.span.line_column[0] if error.span else 0) for error in raised.value.errors]


CHAINED = """
[[subscription]]
name = "Twice"
events = ["Opened"]
pattern = "[Opened];[Opened]"
"""
SENDING = """
[[subscription]]
name = "Told"
language = "ecl"
pattern = "repeat {push(Cold {}) {Open}}"
deliver = { every = "1s" }
"""


def test_what_a_stream_cannot_do_is_said_before_it_starts(folder: Path) -> None:
    assert mistakes(folder, GOOD + CHAINED) == [("chained-stream", 22)]
    assert mistakes(folder, GOOD + SENDING) == [("deliver-stream", 24)]
    # With the same key, both are one pattern.
    assert read(folder, GOOD + CHAINED + 'key = "room"\n').stream is not None
