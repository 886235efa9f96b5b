"""Brokers in pipeline files: what is read, what is refused, and which pipelines would feed themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tocsin.errors import PipelineErrors, SetupError
from tocsin.spark.pipeline import read_pipeline
from tocsin.spark.pipeline.broker import Secret
from tocsin.spark.pipeline.loops import matches
from tocsin.spark.pipeline.model import Pipeline

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
    assert ("secret-in-file", "a password does not belong into this file") in found
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
        ("no-columns", "what the messages of doors hold is not declared")
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
        ("bad-value", "best effort uses events as they come, and does not know them again")
    ]


SECOND = """
[[subscription]]
name = "Serious"
key = "room"
pattern = "[Alarm];[Alarm]"
"""
FEEDS_BACK = "Through feeds itself through found: Through → Serious → Through"


def only(name: str) -> dict[str, str]:
    """A sink of one subscription, whose composites are alarms."""
    return {"subscriptions": name, "event_type": "Alarm"}


def test_detections_may_feed_others_but_not_themselves(tmp_path: Path) -> None:
    # Alarms go round to the second subscription, and end there.
    assert read(tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found", **only("Through")), STREAM)
    # The second one would see what it sends itself.
    itself = mistakes(tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found", **only("Serious")), STREAM)
    assert itself == [("feedback-loop", "Serious feeds itself through found: Serious → Serious")]
    # Nobody reads this subject, or nobody looks at this type.
    apart = SOURCE + 'topics = "doors.>"\n'
    assert read(tmp_path, TYPES, apart, SUBSCRIPTION, SECOND, sink("found", **only("Serious")), STREAM)
    assert read(tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found"), STREAM)


def test_a_loop_through_another_subscription(tmp_path: Path) -> None:
    back = """
[[sink]]
format = "nats"
servers = ["nats://other:4222", "nats://localhost:4222"]
topic = "back"
subscriptions = "Serious"
event_type = "Open"
"""
    found = mistakes(
        tmp_path, TYPES, SOURCE, SUBSCRIPTION, SECOND, sink("found", **only("Through")), back, STREAM
    )
    assert found == [
        ("feedback-loop", FEEDS_BACK),
        ("feedback-loop", "Serious feeds itself through back: Serious → Through → Serious"),
    ]


def test_a_subscription_that_sends_counts_as_one_that_looks_at_everything(tmp_path: Path) -> None:
    ecl = """
[[subscription]]
name = "Told"
language = "ecl"
pattern = "repeat {push(Alarm {room = event.room}) {Open}}"
"""
    assert mistakes(tmp_path, TYPES, SOURCE, ecl, sink("found"), STREAM) == [
        ("feedback-loop", "Told feeds itself through found: Told → Told")
    ]


@pytest.mark.parametrize(
    ("filter", "topic", "meant"),
    [
        ("a.*", "a.b", True),
        ("a.*", "a.b.c", False),
        ("a.>", "a.b.c", True),
        ("a", "a.b", False),
        ("a.b", "a", False),
        ("*.b", "a.b", True),
    ],
)
def test_filters(filter: str, topic: str, meant: bool) -> None:
    assert matches(filter.split("."), topic.split("."), "*", ">") is meant
