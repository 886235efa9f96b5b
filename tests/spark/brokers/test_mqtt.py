"""MQTT with Spark, on a real broker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from support.broker_queries import failure, rows, run_available, start, wait_for_rows
from support.brokers import Broker, Certificates, mosquitto
from tocsin.spark.brokers.message import Access, Outgoing
from tocsin.spark.brokers.mqtt import MqttInput, mqtt_sink, stream_mqtt, write_mqtt
from tocsin.spark.brokers.mqtt_client import MqttServer, publish

pytestmark = [pytest.mark.slow, pytest.mark.spark]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with mosquitto(tmp_path / "mqtt") as broker:
        yield broker


def server_of(broker: Broker, access: Access = Access()) -> MqttServer:
    return MqttServer("127.0.0.1", broker.port, access, patience=20)


def wanted(folder: Path, most: int = 20_000) -> MqttInput:
    return MqttInput(("doors/#",), str(folder / "spool"), max_per_batch=most, settle=0.5)


def send(server: MqttServer, numbers: range) -> None:
    publish(server, [Outgoing(str(n).encode(), "doors/front", None, {}) for n in numbers], False)


def texts(numbers: range) -> list[str]:
    return sorted(str(n) for n in numbers)


def test_a_restarted_query_gets_what_came_while_it_was_away(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    server = server_of(broker)
    messages = stream_mqtt(spark, server, wanted(tmp_path, most=100))
    # The first run only makes the broker remember us.
    assert run_available(messages, tmp_path) == []
    send(server, range(250))
    assert run_available(messages, tmp_path) == [100, 100, 50]
    send(server, range(250, 300))
    assert run_available(messages, tmp_path) == [50]
    assert rows(spark, tmp_path, "value") == texts(range(300))
    assert rows(spark, tmp_path, "sequence") == list(range(1, 301))


def test_a_broker_that_is_restarted(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    messages = stream_mqtt(spark, server, wanted(tmp_path))
    assert run_available(messages, tmp_path) == []
    query = start(messages, tmp_path, processingTime="200 milliseconds")
    send(server, range(100))
    wait_for_rows(spark, query, tmp_path, 100)
    broker.stop()
    broker.start()
    send(server, range(100, 200))
    wait_for_rows(spark, query, tmp_path, 200)
    query.stop()
    # QoS 1 allows that a message comes twice around a broken connection, but not that it is lost.
    assert sorted(set(rows(spark, tmp_path, "value"))) == texts(range(200))


def test_written_messages_come_back(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    messages = stream_mqtt(spark, server, wanted(tmp_path))
    assert run_available(messages, tmp_path) == []
    table = spark.range(10).select(
        F.col("id").cast("string").alias("value"),
        F.concat(F.lit("doors/"), F.col("id") % 2).alias("topic"),
        F.concat(F.lit("id-"), F.col("id")).alias("id"),
    )
    write_mqtt(table, server)
    assert run_available(messages, tmp_path) == [10]
    found = spark.read.parquet(str(tmp_path / "rows")).orderBy("value").collect()
    assert [(bytes(r.value).decode(), r.topic, r.headers) for r in found] == [
        (str(n), f"doors/{n % 2}", {"id": f"id-{n}"}) for n in range(10)
    ]


def test_a_stream_is_sent_on(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    messages = stream_mqtt(spark, server, wanted(tmp_path))
    assert run_available(messages, tmp_path) == []
    source = tmp_path / "in"
    spark.range(1500).select(F.col("id").cast("string").alias("value")).write.parquet(str(source))
    streaming = spark.readStream.schema("value string").parquet(str(source))
    writer = mqtt_sink(streaming, server, "doors/back").option("checkpointLocation", str(tmp_path / "out"))
    assert writer.trigger(availableNow=True).start().awaitTermination(60)
    assert sum(run_available(messages, tmp_path)) == 1500
    assert rows(spark, tmp_path, "value") == texts(range(1500))


def test_a_lost_spool_is_noticed(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    messages = stream_mqtt(spark, server, wanted(tmp_path))
    assert run_available(messages, tmp_path) == []
    send(server, range(3))
    assert run_available(messages, tmp_path) == [3]
    shutil.rmtree(tmp_path / "spool")
    assert failure(messages, tmp_path) == (
        f"spool-lost: the spool {tmp_path / 'spool'} does not have message 3, which the checkpoint of the query counts on\n"
        "hint: spool and checkpoint belong together: use both of the same run, or two new ones"
    )


def test_passwords_and_certificates(spark: SparkSession, certificates: Certificates, tmp_path: Path) -> None:
    right = Access(user="tocsin", password="open sesame", ca=str(certificates.ca))
    with mosquitto(tmp_path / "mqtt", password="open sesame", tls=certificates) as broker:
        server = server_of(broker, right)
        messages = stream_mqtt(spark, server, wanted(tmp_path))
        assert run_available(messages, tmp_path) == []
        send(server, range(5))
        assert run_available(messages, tmp_path) == [5]
        wrong = server_of(broker, Access(user="tocsin", password="guess", ca=str(certificates.ca)))
        assert failure(stream_mqtt(spark, wrong, wanted(tmp_path / "a")), tmp_path / "a") == (
            f"broker-refused: MQTT at 127.0.0.1:{broker.port} refuses the connection: Not authorized\n"
            "hint: check user, password or token, and what they may read and write"
        )
        stranger = server_of(
            broker, Access(user="tocsin", password="open sesame", ca=str(certificates.other_ca))
        )
        told = failure(stream_mqtt(spark, stranger, wanted(tmp_path / "b")), tmp_path / "b")
        assert told.startswith(f"broker-not-trusted: no TLS connection to MQTT at 127.0.0.1:{broker.port}")
        assert told.count("\n") == 1
