"""Note what a pipeline needs and this machine lacks: packages, and writable folders."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.file.section import Table

_PACKAGES = {  # what formats and values of messages need: the module, and the package that has it
    "nats": ("NATS", "nats", "nats-py"),
    "mqtt": ("MQTT", "paho", "paho-mqtt"),
    "avro": ("Avro", "fastavro", "fastavro"),
}


def check_needs(pipeline: Pipeline, root: Table) -> None:
    """Note what is missing, before Spark is started."""

    def at(place: tuple[str | int, ...]) -> Table:
        return Table(root.document, root.errors, {}, place)

    for source in pipeline.sources:
        _check_package(at(source.place), "format", source.format)
        if source.feed is not None:
            _check_package(at(source.place), "value", source.feed.value)
    for sink in pipeline.sinks:
        _check_package(at(sink.place), "format", sink.format)
        if sink.path is not None:
            _check_writable(at(sink.place), "path", sink.path)
    for output in (pipeline.dead_letters, pipeline.late):
        if output is not None:
            _check_writable(at(output.place), "path", output.path)
    if pipeline.stream is not None:
        _check_writable(at(pipeline.stream.place), "checkpoint", pipeline.stream.checkpoint)
        if pipeline.stream.rules is not None:
            _check_writable(at(pipeline.stream.place), "rules", pipeline.stream.rules)


def _check_package(table: Table, key: str, what: str) -> None:
    if what in _PACKAGES:
        title, module, package = _PACKAGES[what]
        if importlib.util.find_spec(module) is None:
            message = f"{title} needs the package {package}, which is not installed"
            table.note("missing-package", message, key, "pip install 'tocsin[brokers]'", value=True)


def _check_writable(table: Table, key: str, folder: str) -> None:
    """Note a folder that cannot be created or written to; only Spark can check one with a scheme."""
    if "://" in folder or not folder:
        return
    there = Path(folder)
    while not there.exists() and there.parent != there:
        there = there.parent
    if not there.is_dir():
        message = f"{folder} cannot be made: {there} is a file"
        table.note("not-writable", message, key, "choose another path", value=True)
    elif not os.access(there, os.W_OK | os.X_OK):
        message = f"{folder} cannot be written: {there} does not allow it"
        hint = "choose another path, or ask for the right to write there"
        table.note("not-writable", message, key, hint, value=True)
