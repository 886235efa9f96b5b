"""A pipeline from Kafka and to Kafka, on a real node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from support.brokers import Certificates, cannot_have
from support.kafka_node import connector_jars, kafka_node
from tocsin.errors import BrokerError, StreamError
from tocsin.spark.brokers.avro import write_avro
from tocsin.spark.brokers.kafka import (
    KafkaInput,
    KafkaServer,
    end_offsets,
    read_kafka,
    refuse_second,
    settled,
    write_kafka,
)
from tocsin.spark.pipeline import Counters, run_pipeline

pytestmark = [pytest.mark.slow, pytest.mark.spark]

PIPELINE = """
[event.Open]
room = "int"

[event.Close]
room = "int"

[[source]]
name = "doors"
format = "kafka"
servers = "{0}"
topics = "doors"
time_unit = "s"
id = "id"

[[source]]
name = "gates"
format = "kafka"
servers = "{0}"
topics = ["gates"]
value = "avro"
schema = "gate.avsc"
id = "id"

[[subscription]]
name = "Through"
key = "room"
pattern = "([Open], [Close])_{{T1=3s}}"
attributes = []

[[sink]]
format = "kafka"
servers = "{0}"
topic = "found"

[dead_letters]
path = "dead"

[stream]
checkpoint = "checkpoint"
delay = "1s"
shards = 1
"""
SCHEMA = """{"type": "record", "name": "Gate", "fields": [
    {"name": "id", "type": "string"}, {"name": "type", "type": "string"}, {"name": "room", "type": "long"},
    {"name": "time", "type": {"type": "long", "logicalType": "timestamp-micros"}}]}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[KafkaServer]:
    if not connector_jars(fetch=True):
        cannot_have("Spark's Kafka connector could not be fetched with Maven")
    broker, _, _ = kafka_node(tmp_path_factory.mktemp("kafka"), "open sesame", certificates)
    with broker:
        yield KafkaServer(f"127.0.0.1:{broker.port}", patience=30)


def event(number: int, type: str, time: int, room: int) -> str:
    return json.dumps({"id": f"e{number}", "type": type, "time": time, "room": room})


def found(spark: SparkSession, server: KafkaServer, topic: str) -> list[dict[str, Any]]:
    """The messages of a topic, by when what they tell began."""
    rows = read_kafka(spark, server, KafkaInput((topic,))).collect()
    for row in rows:
        assert json.loads(row.key) == {"room": json.loads(row.value)["room"]}
    told = [json.loads(row.value) | {"header": row.headers["id"]} for row in rows]
    return sorted(told, key=lambda one: str(one["start"]))


def test_kafka_in_and_out(spark: SparkSession, server: KafkaServer, tmp_path: Path) -> None:
    file, checkpoint = tmp_path / "pipeline.toml", tmp_path / "checkpoint"
    file.write_text(PIPELINE.format(server.servers))
    (tmp_path / "gate.avsc").write_text(SCHEMA)
    texts = [event(1, "Open", 2, 1), event(2, "Open", 4, 2), "{", event(9, "Open", 60, 9)]
    write_kafka(spark.createDataFrame([(text,) for text in texts], "value string"), server, "doors")
    gates = spark.sql(
        "select id, 'Close' as type, room, timestamp_seconds(at) as time"
        " from values ('e3', 1L, 3), ('e4', 2L, 5) as gates(id, room, at)"
    )
    odd = spark.createDataFrame([(b"\x01",)], "value binary")
    write_kafka(write_avro(gates, SCHEMA).unionAll(odd), server, "gates")
    report = run_pipeline(file, session=spark, once=True)
    assert report.sources == {"doors": Counters(4, 3, 0, 1, 0), "gates": Counters(3, 2, 0, 1, 0)}
    assert report.matches == {"Through": 2}
    lines = [line for part in tmp_path.glob("dead/**/part-*") for line in part.read_text().splitlines()]
    letters = [json.loads(line) for line in lines]
    assert {(letter["source"], letter["text"]) for letter in letters} == {
        ("doors", "{"),
        ("gates", "AQ=="),
    }
    first, second = found(spark, server, "found")
    assert (first["room"], first["type"], first["end"]) == (1, "Through", "1970-01-01T00:00:03.000000Z")
    assert first["id"] == first["header"] != second["id"] == second["header"]

    def run_again() -> None:
        """As if the machine had gone down before the first micro-batch was noted."""
        for name in ("commits/0", "commits/.0.crc", "tocsin/ledger/000000000.json"):
            (checkpoint / name).unlink()
        assert run_pipeline(file, session=spark, once=True).matches == {"Through": 2}

    # Everything was sent: nothing is sent again.
    run_again()
    assert found(spark, server, "found") == [first, second]
    # Only one message was sent, and one of somebody else's: the other follows. Another topic, because Kafka forgets nothing.
    notes = checkpoint / "tocsin" / "sent"
    (notes / f"{quote('kafka:again/Through', safe='')}.json").write_text('{"batch": 0, "position": {}}')
    sent = [(json.dumps(first), first["id"], '{"room": 1}')]
    write_kafka(spark.createDataFrame(sent, "value string, id string, key string"), server, "again")
    file.write_text(PIPELINE.format(server.servers).replace('topic = "found"', 'topic = "again"'))
    run_again()
    assert [one["id"] for one in found(spark, server, "again")] == [first["id"], second["id"]]
    assert sum(end_offsets(spark, server, "again").values()) == 2
    assert end_offsets(spark, server, "nobody-wrote-to-it") == {}


def test_a_task_that_is_run_again_does_not_send(spark: SparkSession, server: KafkaServer) -> None:
    messages = spark.range(3).select(F.col("id").cast("string").alias("value"))
    write_kafka(messages, server, "once", once=True)
    assert sum(end_offsets(spark, server, "once").values()) == 3
    with pytest.raises(BrokerError) as raised:
        refuse_second(1)
    assert raised.value.code == "sending-interrupted"


def test_what_is_sent_once_depends_on_no_stage_that_could_be_run_again(spark: SparkSession) -> None:
    moved = spark.range(9).groupBy((F.col("id") % 3).alias("key")).count()
    assert "Exchange" in moved._jdf.queryExecution().executedPlan().toString()
    kept = settled(moved)
    assert "Exchange" not in kept._jdf.queryExecution().executedPlan().toString()
    # Shuffles would show as further steps of indentation in what Spark says of the origin of the rows.
    assert "ShuffledRowRDD" not in kept._jdf.rdd().toDebugString()
    assert sorted(tuple(row) for row in kept.collect()) == [(0, 3), (1, 3), (2, 3)]


def test_a_broker_that_is_not_there_is_told(spark: SparkSession, server: KafkaServer, tmp_path: Path) -> None:
    (tmp_path / "gate.avsc").write_text(SCHEMA)
    text = PIPELINE.format("127.0.0.1:1").replace('topics = "doors"', 'topics = "doors"\npatience = "2s"')
    (tmp_path / "pipeline.toml").write_text(text)
    with pytest.raises(StreamError) as raised:
        run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True)
    assert raised.value.code == "broker-unreachable"
