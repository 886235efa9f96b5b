"""JSON files of a checkpoint: whole and of this version, or refused by name."""

from __future__ import annotations

import json
from typing import cast

import pytest

from tocsin.errors import InputError
from tocsin.spark.pipeline.stream.checkpoint_files import check_logs, read_json, write_json
from tocsin.spark.session.storage import Storage

VALUES = {"a": [1, 2.5, None], "b": {"x": "é", "y": {}}}


class Files:
    """Files in a dictionary."""

    def __init__(self, **files: str) -> None:
        self.files = files

    def read(self, path: str) -> str:
        return self.files[path]

    def write(self, path: str, text: str) -> None:
        self.files[path] = text

    def exists(self, path: str) -> bool:
        return path in self.files

    def names(self, folder: str) -> list[str]:
        return sorted(path.rpartition("/")[2] for path in self.files if path.startswith(f"{folder}/"))


def test_values_come_back() -> None:
    files = Files()
    write_json(cast(Storage, files), "f", VALUES, 7)
    assert read_json(cast(Storage, files), "f", 7) == VALUES


def test_damage_is_noticed_and_the_file_is_named() -> None:
    files = Files()
    write_json(cast(Storage, files), "c/f.json", VALUES, 7)
    whole = files.files["c/f.json"]
    broken = [whole[:at] for at in range(0, len(whole), 5)]
    broken += [whole.replace("2.5", "2.6"), whole.replace('"x"', '"z"'), "[]", "null", '{"format": 7}']
    for text in broken:
        files.files["c/f.json"] = text
        with pytest.raises(InputError, match=r"c/f\.json") as raised:
            read_json(cast(Storage, files), "c/f.json", 7)
        assert raised.value.code == "checkpoint-damaged"


def test_another_version_is_refused() -> None:
    files = Files(f='{"format": 6, "a": 1}', g='{"a": 1}')
    for name in files.files:
        with pytest.raises(InputError, match="reads format 7") as raised:
            read_json(cast(Storage, files), name, 7)
        assert raised.value.code == "checkpoint-version"


GOOD = {
    "c/metadata": '{"id":"x"}',
    "c/offsets/9": "junk, but not the latest",
    "c/offsets/10": 'v1\n{"conf":{}}\n{"logOffset":0}\n-',
    "c/commits/10": 'v1\n{"nextBatchWatermarkMs":0}',
}


def test_logs_of_spark_are_looked_at() -> None:
    check_logs(cast(Storage, Files(**GOOD)), "c")
    check_logs(cast(Storage, Files()), "c")
    for path in ("c/metadata", "c/offsets/10", "c/commits/10"):
        for text in ("", "{}", GOOD[path][:-3], json.dumps(None)):
            with pytest.raises(InputError, match=path) as raised:
                check_logs(cast(Storage, Files(**{**GOOD, path: text})), "c")
            assert raised.value.code == "checkpoint-damaged"
