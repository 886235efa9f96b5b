"""Brokers in pipeline files: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.broker_pipelines import SOURCE, STREAM, SUBSCRIPTION, TYPES, mistakes, read, sink
from tocsin.errors import PipelineErrors, SetupError
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.file.broker import Secret


def test_everything_that_can_be_said_of_a_broker(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    more = """
topics = "doors.*"
user = "tocsin"
password_file = "secret"
ca = "ca.pem"
patience = "5s"
starting = "latest"
missing = "skip"
max_messages = 500
id = "number"
"""
    source = read(
        tmp_path, TYPES, SOURCE, more, SUBSCRIPTION, sink("found", event_type="Alarm"), STREAM
    ).sources[0]
    feed = source.feed
    assert feed is not None
    assert (source.stream, source.location, source.id) == (True, "DOORS doors.*", "number")
    assert (feed.jetstream, feed.topics) == ("DOORS", ("doors.*",))
    assert (feed.starting, feed.missing, feed.max_messages) == ("latest", "skip", 500)
    connection = feed.connection
    assert (connection.servers, connection.user) == (("nats://localhost:4222",), "tocsin")
    assert connection.password == Secret(file=str(tmp_path / "secret"))
    assert (connection.ca, connection.patience) == (str(tmp_path / "ca.pem"), 5.0)


def test_secrets_are_not_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = mistakes(tmp_path, TYPES, SOURCE, 'user = "me"\npassword = "hunter2"\n', SUBSCRIPTION, STREAM)
    assert ("secret-in-file", "a password does not belong in this file") in found
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(tmp_path / "pipeline.toml")
    assert "hunter2" not in str(raised.value)
    (tmp_path / "secret").write_text("open sesame\n")
    assert Secret(file=str(tmp_path / "secret")).reveal() == "open sesame"
    monkeypatch.setenv("BROKER_PASSWORD", "from outside")
    assert Secret("BROKER_PASSWORD").reveal() == "from outside"
    monkeypatch.delenv("BROKER_PASSWORD")
    for nowhere in (Secret("BROKER_PASSWORD"), Secret(file=str(tmp_path / "nothing"))):
        with pytest.raises(SetupError) as missing:
            nowhere.reveal()
        assert missing.value.code == "no-secret"


def test_what_is_missing_or_wrong_is_told(tmp_path: Path) -> None:
    kafka = '[[source]]\nname = "k"\nformat = "kafka"\nuser = "me"\nstream = false\nlimit = []\n'
    mqtt = '[[source]]\nname = "m"\nformat = "mqtt"\nservers = "mqtt://localhost"\ntopics = ["a/#"]\n'
    assert mistakes(tmp_path, TYPES, kafka, mqtt, SUBSCRIPTION, sink("a.*", format="nats"), STREAM) == [
        ("missing-key", "[[source]] has no 'servers'"),
        ("missing-key", "[[source]] has no 'password_env'"),
        ("missing-key", "[[source]] has no 'topics'"),
        ("bad-value", "a broker is always a stream"),
        ("limit-stream", "a stream cannot limit repeated events"),
        ("bad-value", "servers is not the address of an MQTT broker"),
        ("bad-value", "'a.*' is not one topic"),
    ]


def test_a_broker_needs_declared_types_and_a_stream(tmp_path: Path) -> None:
    assert mistakes(tmp_path, SOURCE, SUBSCRIPTION, STREAM) == [
        ("no-columns", "the contents of the messages of doors are not declared")
    ]
    (tmp_path / "in.jsonl").write_text("")
    table = '[[source]]\nname = "s"\nformat = "jsonl"\npath = "in.jsonl"\n'
    assert mistakes(tmp_path, TYPES, table, SUBSCRIPTION, sink("found")) == [
        ("bad-value", "only a stream sends to nats")
    ]
    twice = (sink("one"), sink("two"))
    assert mistakes(tmp_path, TYPES, SOURCE, SUBSCRIPTION, *twice, STREAM) == [
        ("duplicate-output", "Through is sent to this NATS already")
    ]
    best = STREAM + 'repeated = "drop"\ndetection = "best-effort"\n'
    assert mistakes(tmp_path, TYPES, SOURCE, SUBSCRIPTION, best) == [
        ("bad-value", "best effort uses events as they arrive, and cannot recognise repeated ones")
    ]
