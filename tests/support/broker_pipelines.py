"""Parts of pipeline files with a broker, and what is wrong with files made of such parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.model import Pipeline

TYPES = """
[event.Open]
room = "int"

[event.Close]
room = "int"

[event.Alarm]
room = "int"
"""
SOURCE = """
[[source]]
name = "doors"
format = "nats"
servers = "nats://localhost:4222"
jetstream = "DOORS"
"""
SUBSCRIPTION = """
[[subscription]]
name = "Through"
key = "room"
pattern = "[Open];[Close]"
"""
STREAM = """
[stream]
checkpoint = "checkpoint"
"""


def read(folder: Path, *parts: str) -> Pipeline:
    (folder / "pipeline.toml").write_text("".join(parts))
    return read_pipeline(folder / "pipeline.toml")


def mistakes(folder: Path, *parts: str) -> list[tuple[str, str]]:
    with pytest.raises(PipelineErrors) as raised:
        read(folder, *parts)
    return [(error.code, error.message) for error in raised.value.errors]


def sink(topic: str, **more: str) -> str:
    lines = {"format": "nats", "servers": "nats://localhost:4222", "topic": topic, **more}
    return "\n[[sink]]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items())
