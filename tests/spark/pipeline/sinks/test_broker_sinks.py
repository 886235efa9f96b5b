"""Pipelines from brokers and to brokers, on real servers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.brokers import Broker, mosquitto, nats_server, wait_until
from tocsin.errors import StreamError
from tocsin.spark.brokers.message import Access, Outgoing
from tocsin.spark.brokers.mqtt_client import MqttServer, Receiver
from tocsin.spark.brokers.mqtt_client import publish as publish_mqtt
from tocsin.spark.brokers.nats import NatsInput, read_nats
from tocsin.spark.brokers.nats_client import NatsServer, NatsSession, publish
from tocsin.spark.brokers.spool import Spool
from tocsin.spark.pipeline import Counters, run_pipeline
from tocsin.spark.pipeline.sinks.write_files import Written

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TYPES = """
[event.Open]
room = "int"

[event.Close]
room = "int"
"""
REST = """
time_unit = "s"
id = "id"

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open(room = $door)];[Close] with matches = next"
attributes = []

[dead_letters]
path = "dead"

[late]
path = "late"

[stream]
checkpoint = "checkpoint"
delay = "2s"
shards = 1
repeated = "drop"
"""


def event(number: int, type: str, time: int, room: int = 1) -> bytes:
    return json.dumps({"id": f"e{number}", "type": type, "time": time, "room": room}).encode()


# Out of order, twice, malformed; the last one says that it is late enough for all before it.
MESSAGES = (
    event(2, "Close", 3),
    event(1, "Open", 2),
    event(1, "Open", 2),
    b"{",
    b"",
    event(3, "Open", 4),
    event(4, "Close", 5),
    event(9, "Open", 20, 9),
)
COUNTED = Counters(read=8, used=5, irrelevant=0, dead=2, limited=0, late=0, repeated=1)


def rows(folder: Path) -> list[dict[str, Any]]:
    files = folder.glob("**/part-*.json")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def forget_last(checkpoint: Path) -> None:
    """Make it as if the machine had gone down before the first and last micro-batch was noted."""
    for name in ("commits/0", "commits/.0.crc", "tocsin/ledger/000000000.json"):
        (checkpoint / name).unlink()


@pytest.fixture
def nats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    monkeypatch.setenv("DOORS_PASSWORD", "open sesame")
    with nats_server(tmp_path / "nats", password="open sesame") as broker:
        session = NatsSession(server_of(broker))
        for name, window in (("DOORS", 120), ("FOUND", 0.1)):
            settings = {"subjects": [f"{name.lower()}.>"], "duplicate_window": window}
            session.run(partial(add_stream, name, settings))
        session.close()
        yield broker


async def add_stream(name: str, settings: Any, client: Any) -> None:
    await client.jetstream().add_stream(name=name, **settings)


def server_of(broker: Broker) -> NatsServer:
    access = Access(user="tocsin", password="open sesame")
    return NatsServer((f"nats://127.0.0.1:{broker.port}",), access, patience=20)


def send(broker: Broker, messages: Sequence[bytes]) -> None:
    session = NatsSession(server_of(broker))
    publish(session, [Outgoing(value, "doors.front", None, {}) for value in messages])
    session.close()


def nats_access(broker: Broker) -> str:
    return f'servers = "nats://127.0.0.1:{broker.port}"\nuser = "tocsin"\npassword_env = "DOORS_PASSWORD"\n'


def nats_source(broker: Broker, stream: str = "DOORS") -> str:
    return f'\n[[source]]\nname = "doors"\nformat = "nats"\njetstream = "{stream}"\n{nats_access(broker)}'


def nats_sink(broker: Broker) -> str:
    return f'\n[[sink]]\nformat = "nats"\ntopic = "found.through"\n{nats_access(broker)}\n'


def found(spark: SparkSession, broker: Broker) -> list[dict[str, Any]]:
    messages = read_nats(spark, server_of(broker), NatsInput("FOUND")).collect()
    events = [json.loads(bytes(row.value)) | {"header": row.headers["Nats-Msg-Id"]} for row in messages]
    return sorted(events, key=lambda one: str(one["start"]))


def test_nats_in_and_out(spark: SparkSession, nats: Broker, tmp_path: Path) -> None:
    file = tmp_path / "pipeline.toml"
    file.write_text(TYPES + nats_source(nats) + REST + nats_sink(nats))
    send(nats, MESSAGES)
    report = run_pipeline(file, session=spark, once=True)
    assert report.sources == {"doors": COUNTED}
    assert report.matches == {"Through": 2}
    place = "nats:found.through/Through"
    assert report.reasons == {"it is not one JSON object": 2}
    assert report.written[0] == Written(place, place, 2)
    letters = [(row["source"], row["file"], row["line"], row["text"]) for row in rows(tmp_path / "dead")]
    assert sorted(letters) == [("doors", "doors.front", 4, "{"), ("doors", "doors.front", 5, "")]
    first, second = found(spark, nats)
    assert {name: first[name] for name in ("type", "start", "end", "room", "door", "source")} == {
        "type": "Through",
        "start": "1970-01-01T00:00:02.000000Z",
        "end": "1970-01-01T00:00:03.000000Z",
        "room": 1,
        "door": 1,
        "source": "Through",
    }
    assert [part["id"] for part in first["constituents"]] == ["e1", "e2"]
    assert first["id"] == first["header"] != second["id"]
    # One message got there before the machine went down, and the server has forgotten its id: it is not sent again.
    forget_last(tmp_path / "checkpoint")
    session = NatsSession(server_of(nats))
    session.run(partial(delete_last, "FOUND"))
    session.close()
    assert [one["id"] for one in found(spark, nats)] in ([first["id"]], [second["id"]])
    assert run_pipeline(file, session=spark, once=True).matches == {"Through": 2}
    assert [one["id"] for one in found(spark, nats)] == [first["id"], second["id"]]
    # What comes again later than it could be known again is late.
    send(nats, [event(3, "Open", 4), event(10, "Close", 30, 9)])
    report = run_pipeline(file, session=spark, once=True)
    assert report.sources["doors"] == COUNTED + Counters(2, 1, 0, 0, 0, late=1)
    assert [row["id"] for row in rows(tmp_path / "late")] == ["e3"]


async def delete_last(stream: str, client: Any) -> None:
    info = await client.jetstream().stream_info(stream)
    await client.jetstream().delete_msg(stream, info.state.last_seq)


FEEDING = """
[event.Through]
room = "int"
"""
FED = """
start = "start"
end = "end"
id = "id"

[[subscription]]
name = "Busy"
key = "room"
pattern = "[Through];[Through]"

[[sink]]
format = "jsonl"
path = "busy"

[stream]
checkpoint = "second"
delay = "0s"
"""


def test_detections_feed_detections(spark: SparkSession, nats: Broker, tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text(TYPES + nats_source(nats) + REST + nats_sink(nats))
    (tmp_path / "second.toml").write_text(FEEDING + nats_source(nats, "FOUND") + FED)
    send(nats, MESSAGES)
    run_pipeline(tmp_path / "first.toml", session=spark, once=True)
    report = run_pipeline(tmp_path / "second.toml", session=spark, once=True)
    assert report.sources == {"doors": Counters(2, 2, 0, 0, 0)}
    (busy,) = rows(tmp_path / "busy")
    assert (busy["room"], busy["start"], busy["end"]) == (
        1,
        "1970-01-01T00:00:02.000Z",
        "1970-01-01T00:00:05.000Z",
    )
    assert [part["id"] for part in busy["constituents"]] == [one["id"] for one in found(spark, nats)]


def test_a_refused_password_is_told(
    spark: SparkSession, nats: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOORS_PASSWORD", "guess")
    (tmp_path / "pipeline.toml").write_text(TYPES + nats_source(nats) + REST)
    with pytest.raises(StreamError) as raised:
        run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert raised.value.code == "broker-refused"
    assert "guess" not in str(raised.value)


def test_mqtt_in_and_out(spark: SparkSession, tmp_path: Path) -> None:
    with mosquitto(tmp_path / "mosquitto") as broker:
        address = f'servers = "127.0.0.1:{broker.port}"\n'
        source = f'\n[[source]]\nname = "doors"\nformat = "mqtt"\ntopics = ["doors/#"]\n{address}'
        sink = f'\n[[sink]]\nformat = "mqtt"\ntopic = "found"\n{address}'
        file = tmp_path / "pipeline.toml"
        file.write_text(TYPES + source + REST + sink)
        # From its first run on the broker keeps what comes for it.
        assert run_pipeline(file, session=spark, once=True).sources == {"doors": Counters(0, 0, 0, 0, 0)}
        server = MqttServer("127.0.0.1", broker.port, patience=20)
        publish_mqtt(server, [Outgoing(value, "doors/front", None, {}) for value in MESSAGES], False)
        spool = Spool(str(tmp_path / "listening"))
        receiver = Receiver(server, ("found",), "listening", spool, 100)
        wait_until(receiver.ready.is_set, "a listener")
        report = run_pipeline(file, session=spark, once=True)
        wait_until(lambda: spool.last == 2, "two messages")
        receiver.stop()
        assert report.sources == {"doors": COUNTED}
        told = [(json.loads(message.value), message.headers["id"]) for message in spool.between(0, 2)]
        assert sorted(one["start"][-10:] for one, _ in told) == ["02.000000Z", "04.000000Z"]
        assert all(one["id"] == id for one, id in told)
        spool.close()
