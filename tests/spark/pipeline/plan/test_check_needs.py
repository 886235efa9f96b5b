"""What a pipeline needs of this machine is looked for before Spark starts, and by --check."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.cli import main
from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.plan import check_needs

PIPELINE = """\
[[source]]
name = "doors"
format = "csv"
path = "doors.csv"

[[subscription]]
name = "Through"
pattern = "[Open];[Close]"

[[sink]]
format = "jsonl"
path = "doors.csv.d/../taken/out"
"""
STREAM = """\
[event.Open]
room = "int"

[event.Close]
room = "int"

[[source]]
name = "doors"
format = "mqtt"
servers = "localhost"
topics = ["doors"]

[[subscription]]
name = "Through"
pattern = "[Open];[Close]"

[stream]
checkpoint = "checkpoint"
"""


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "doors.csv").write_text("time,type\n")
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "job.toml").write_text(PIPELINE)
    assert main(["run", str(tmp_path / "job.toml"), "--check"]) == 2
    printed = capsys.readouterr().err
    assert "not-writable" in printed
    assert "line 12" in printed


def test_a_package_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "job.toml").write_text(STREAM)
    read_pipeline(tmp_path / "job.toml")
    packages = {"mqtt": ("MQTT", "no_such_module_at_all", "paho-mqtt")}
    monkeypatch.setattr(check_needs, "_PACKAGES", packages)
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(tmp_path / "job.toml")
    assert [(e.code, e.message) for e in raised.value.errors] == [
        ("missing-package", "MQTT needs the package paho-mqtt, which is not installed")
    ]
