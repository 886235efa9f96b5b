"""The reference page of the pipeline file: every example is complete and is run, and every key is in its tables.

`tests/docs` runs the page and compares what it prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.pages import blocks
from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.section import Table

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "pipeline.md").read_text(encoding="utf-8")

# One table of each kind, with nothing in it: a reader asks for every key that it knows.
EVERY_TABLE = """
[pipeline]
[[source]]
format = "csv"
stream = true
limit = [{}]
[[source]]
format = "kafka"
value = "avro"
[[source]]
format = "nats"
[[source]]
format = "mqtt"
[[subscription]]
[[sink]]
format = "parquet"
[[sink]]
format = "nats"
[[sink]]
format = "table"
[[sink]]
format = "console"
[dead_letters]
[stream]
[late]
"""


def test_every_example_is_a_file_that_a_command_runs() -> None:
    commands = "\n".join(block.text for block in blocks(PAGE) if block.language in ("console", "python"))
    files = [block.file for block in blocks(PAGE) if block.language == "toml"]
    assert len(files) >= 3
    for file in files:
        assert file is not None
        assert file in commands


def test_every_key_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, set[str]] = {}
    finish = Table.finish

    def noting(table: Table) -> None:
        asked.setdefault(table.title, set()).update(table.asked)
        finish(table)

    monkeypatch.setattr(Table, "finish", noting)
    (tmp_path / "every.toml").write_text(EVERY_TABLE)
    with pytest.raises(PipelineErrors):
        read_pipeline(tmp_path / "every.toml")
    assert set(asked) == {
        *("the file", "[pipeline]", "[[source]]", "an entry of source.limit"),
        *("[[subscription]]", "[[sink]]", "[dead_letters]", "[stream]", "[late]"),
    }
    sections = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    for title, keys in asked.items():
        if title in sections:
            brokers = sections["Brokers"] if title in ("[[source]]", "[[sink]]") else ""
            named = set(re.findall(r"`([a-z_]+)`", sections[title] + brokers))
            assert keys <= named, f"{title} says nothing about {keys - named}"
