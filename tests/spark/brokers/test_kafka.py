"""Kafka with Spark's own connector, on a real node."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from support.broker_queries import rows, run_available, start, wait_for_rows
from support.brokers import Broker, Certificates, cannot_have
from support.kafka_node import connector_jars, kafka_node
from tocsin.errors import BrokerError, InputError
from tocsin.spark.brokers.avro import read_avro, write_avro
from tocsin.spark.brokers.kafka import (
    KafkaInput,
    KafkaServer,
    kafka_error,
    kafka_sink,
    read_kafka,
    stream_kafka,
    write_kafka,
)
from tocsin.spark.brokers.message import Access
from tocsin.spark.brokers.values import read_json, write_json

pytestmark = [pytest.mark.slow, pytest.mark.spark]
PASSWORD = "open sesame"
SCHEMA = """{"type": "record", "name": "Reading", "fields": [
    {"name": "room", "type": "string"},
    {"name": "celsius", "type": ["null", "double"]},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}}]}"""


@dataclass(frozen=True)
class Kafka:
    """The node of this run, and its three doors."""

    broker: Broker
    plain: KafkaServer
    secret_port: int
    tls_port: int


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[Kafka]:
    if not connector_jars(fetch=True):
        cannot_have("Spark's Kafka connector could not be fetched with Maven")
    broker, secret, tls = kafka_node(tmp_path_factory.mktemp("kafka"), PASSWORD, certificates)
    with broker:
        yield Kafka(broker, KafkaServer(f"127.0.0.1:{broker.port}"), secret, tls)


def test_json_across_a_restart_of_the_query_and_of_the_broker(
    spark: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    events = spark.range(400).select("id", (F.col("id") * 0.5).alias("celsius"))
    write_kafka(write_json(events), kafka.plain, "readings")
    messages = stream_kafka(spark, kafka.plain, KafkaInput(("readings",), max_per_batch=150))
    read = read_json(messages, StructType.fromDDL("id bigint, celsius double"))
    wanted = read.select("topic", "partition", "sequence", "problem", "event.*")
    batches = run_available(wanted, tmp_path)
    # Kafka shares the limit out over the partitions, and rounds.
    assert max(batches) <= 151
    assert sum(batches) == 400
    query = start(wanted, tmp_path, processingTime="200 milliseconds")
    kafka.broker.stop()
    kafka.broker.start()
    write_kafka(write_json(spark.range(400, 600)), kafka.plain, "readings")
    wait_for_rows(spark, query, tmp_path, 600)
    query.stop()
    assert rows(spark, tmp_path, "id") == list(range(600))
    written = spark.read.parquet(str(tmp_path / "rows"))
    assert written.where("problem is not null").count() == 0
    assert written.where("id = 7").select("celsius").head() == (3.5,)


def test_values_that_are_not_json_are_kept_with_the_reason(spark: SparkSession, kafka: Kafka) -> None:
    table = spark.createDataFrame([('{"id": 1}',), ("{",), ('{"id": "one"}',)], "value string")
    write_kafka(table, kafka.plain, "mixed")
    read = read_json(read_kafka(spark, kafka.plain, KafkaInput(("mixed",))), StructType.fromDDL("id bigint"))
    found = {bytes(row.value): (row.event, row.problem) for row in read.collect()}
    reason = "the value is not JSON with fields of these types"
    assert found == {
        b'{"id": 1}': ((1,), None),
        b"{": (None, reason),
        b'{"id": "one"}': (None, reason),
    }


@pytest.mark.parametrize("registry", [False, True])
def test_avro_there_and_back(spark: SparkSession, kafka: Kafka, registry: bool) -> None:
    events = spark.range(50).select(
        F.concat(F.lit("room "), F.col("id")).alias("room"),
        F.when(F.col("id") % 2 == 0, F.col("id").cast("double")).alias("celsius"),
        F.timestamp_micros(F.col("id") * 1_000_001).alias("at"),
    )
    values = write_avro(events, SCHEMA)
    if registry:
        values = values.select(F.concat(F.unhex(F.lit("0000000007")), F.col("value")).alias("value"))
    topic = f"avro-{registry}"
    write_kafka(values.unionAll(spark.sql("select cast('zz' as binary) as value")), kafka.plain, topic)
    back = read_avro(read_kafka(spark, kafka.plain, KafkaInput((topic,))), SCHEMA, registry_header=registry)
    bad = back.where("problem is not null").collect()
    assert [bytes(row.value) for row in bad] == [b"zz"]
    good = back.where("problem is null").select("event.*")
    assert good.exceptAll(events).count() == 0
    assert good.count() == 50


def test_keys_headers_and_topics_travel(spark: SparkSession, kafka: Kafka) -> None:
    table = spark.sql(
        "select 'v' as value, 'k' as key, 'keyed' as topic, 'm-1' as id, map('unit', '°C') as headers"
    )
    write_kafka(table, kafka.plain)
    row = read_kafka(spark, kafka.plain, KafkaInput(("keyed",))).head()
    assert row is not None
    assert (bytes(row.value), bytes(row.key), row.topic, row.sequence) == (b"v", b"k", "keyed", 0)
    assert row.headers == {"unit": "°C", "id": "m-1"}


def test_a_stream_is_written(spark: SparkSession, kafka: Kafka, tmp_path: Path) -> None:
    spark.range(300).select(F.col("id").cast("string").alias("value")).write.parquet(str(tmp_path / "in"))
    streaming = spark.readStream.schema("value string").parquet(str(tmp_path / "in"))
    writer = kafka_sink(streaming, kafka.plain, "copied").option("checkpointLocation", str(tmp_path / "c"))
    assert writer.trigger(availableNow=True).start().awaitTermination(60)
    back = read_kafka(spark, kafka.plain, KafkaInput(("copied",))).select(F.col("value").cast("string"))
    assert sorted(int(row.value) for row in back.collect()) == list(range(300))


def error_of(spark: SparkSession, server: KafkaServer) -> BrokerError:
    with pytest.raises(Exception) as caught:  # noqa: PT011  whatever Spark wraps it into
        read_kafka(spark, server, KafkaInput(("readings",))).count()
    error = kafka_error(caught.value)
    assert error is not None
    return error


def test_passwords(spark: SparkSession, kafka: Kafka) -> None:
    address = f"127.0.0.1:{kafka.secret_port}"
    right = KafkaServer(address, Access(user="tocsin", password=PASSWORD))
    write_kafka(spark.sql("select 'x' as value"), right, "secret")
    assert read_kafka(spark, right, KafkaInput(("secret",))).count() == 1
    told = error_of(spark, KafkaServer(address, Access(user="tocsin", password='gu"ess'), patience=5))
    assert str(told) == (
        "broker-refused: Kafka: Authentication failed: Invalid username or password\n"
        "hint: check user, password and mechanism"
    )


def test_certificates(spark: SparkSession, kafka: Kafka, certificates: Certificates) -> None:
    address = f"127.0.0.1:{kafka.tls_port}"
    right = KafkaServer(address, Access(ca=str(certificates.ca)))
    write_kafka(spark.sql("select 'x' as value"), right, "encrypted")
    assert read_kafka(spark, right, KafkaInput(("encrypted",))).count() == 1
    told = error_of(spark, KafkaServer(address, Access(ca=str(certificates.other_ca)), patience=5))
    assert str(told) == (
        "broker-not-trusted: Kafka: SSL handshake failed\n"
        "hint: ca must hold the authority that signed the certificate"
    )


def test_bad_options_are_refused_at_once(spark: SparkSession) -> None:
    server = KafkaServer("127.0.0.1:1")
    for wrong in (KafkaInput(()), KafkaInput(("t",), max_per_batch=0), KafkaInput(("t",), missing="panic")):
        with pytest.raises(InputError) as caught:
            stream_kafka(spark, server, wrong)
        assert caught.value.code == "bad-option"
    with pytest.raises(InputError, match="mechanism cannot be 'ROT13'"):
        read_kafka(spark, KafkaServer("127.0.0.1:1", mechanism="ROT13"), KafkaInput(("t",)))


def test_a_session_without_the_connector_says_what_to_do() -> None:
    # Another process: the session of the tests has the connector.
    code = (
        "from tocsin.errors import SetupError\n"
        "from tocsin.spark.session.session import local_session\n"
        "from tocsin.spark.brokers.kafka import *\n"
        "spark = local_session(cores=1)\n"
        "for use in (lambda: read_kafka(spark, KafkaServer('x:1'), KafkaInput(('t',))),\n"
        "            lambda: write_kafka(spark.sql('select 1 as value'), KafkaServer('x:1'), 't')):\n"
        "    try:\n        use()\n    except SetupError as error:\n        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    told = (
        "no-kafka-connector: this Spark session has no usable Kafka connector\nhint: start the session with "
    )
    assert done.stdout.count(told) == 2
