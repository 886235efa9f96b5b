"""Kafka as a Spark source and sink, through Spark's own connector.

The connector is Java and not part of PySpark. It must be on the class path when Spark starts: pass
`connector_settings()` to `local_session(extra_conf=…)`, or to `spark-submit` as `--packages`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark
from py4j.protocol import Py4JJavaError
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from tocsin.errors import BrokerError, InputError, SetupError
from tocsin.spark.brokers.message import MESSAGES, Access, at_least, outgoing

_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
_COLUMNS = ("value", "key", "topic", "id", "headers")
_TAKEN_AT_ONCE = "10000"  # messages per poll; with the client's default, 500, reading takes 1.5 times as long
_PLAIN = "PLAIN"
_MECHANISMS = {
    _PLAIN: "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
# Exceptions of the Java client, and our error for each.
_FAILURES = (
    ("SaslAuthenticationException", "broker-refused", "check user, password and mechanism"),
    ("AuthorizationException", "broker-refused", "the user may not read or write this topic"),
    (
        "SslAuthenticationException",
        "broker-not-trusted",
        "ca must hold the authority that signed the certificate",
    ),
    ("SSLHandshakeException", "broker-not-trusted", "ca must hold the authority that signed the certificate"),
    ("UnknownTopicOrPartitionException", "no-topic", "create the topic, or check how it is spelled"),
    ("InvalidTopicException", "no-topic", "a topic has letters, digits, ., _ and -"),
    ("OffsetOutOfRangeException", "messages-gone", "let the topic keep more, or go on with missing='skip'"),
    ("failOnDataLoss", "messages-gone", "let the topic keep more, or go on with missing='skip'"),
    ("TimeoutException", "broker-unreachable", "is it running, and are address, port and TLS right?"),
    (
        "Failed to construct kafka",
        "broker-unreachable",
        "is it running, and are address, port and TLS right?",
    ),
)


@dataclass(frozen=True, slots=True)
class KafkaServer:
    """The address of a Kafka cluster, and how to authenticate.

    Args:
        servers: the bootstrap servers, as in `kafka1:9092,kafka2:9092`.
        mechanism: how user and password are sent: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512.
        patience: how many seconds to wait for a broker that does not respond.
    """

    servers: str
    access: Access = Access()
    mechanism: str = _PLAIN
    patience: float = 60.0


@dataclass(frozen=True, slots=True)
class KafkaInput:
    """The topics to read from Kafka, and where to start.

    Args:
        starting: where a new query begins: `earliest`, `latest`, or `{topic: {partition: offset}}`.
        max_per_batch: the most messages in a micro-batch, over all partitions.
        missing: what to do when Kafka dropped messages before they were read: `fail` the query, or `skip` them.
    """

    topics: tuple[str, ...]
    starting: str | Mapping[str, Mapping[int, int]] = "earliest"
    max_per_batch: int = 1_000_000
    missing: str = "fail"


def connector_settings(jars: Sequence[str] = ()) -> dict[str, str]:
    """Return session settings that load the connector: from Maven for this Spark version, or from the given jars.

    >>> connector_settings(["connector.jar", "kafka-clients.jar"])
    {'spark.jars': 'connector.jar,kafka-clients.jar'}
    """
    if jars:
        return {"spark.jars": ",".join(jars)}
    return {"spark.jars.packages": f"{_CONNECTOR}:{pyspark.__version__}"}


def read_kafka(spark: SparkSession, server: KafkaServer, what: KafkaInput) -> DataFrame:
    """Read the messages currently in the topics as a table."""
    return _messages(spark.read, server, what)


def stream_kafka(spark: SparkSession, server: KafkaServer, what: KafkaInput) -> DataFrame:
    """Read topics as a streaming table, whose offsets are Kafka's."""
    at_least("max_per_batch", what.max_per_batch, 1)
    return _messages(spark.readStream.option("maxOffsetsPerTrigger", str(what.max_per_batch)), server, what)


def write_kafka(
    messages: DataFrame, server: KafkaServer, topic: str | None = None, *, once: bool = False
) -> None:
    """Write a table to a topic, or each message to its own; returns when Kafka has them all.

    At least once: a task that is retried writes its messages again. The `id` is sent as a header.

    Args:
        once: fail instead of retrying a task, for callers that check themselves which messages have arrived.
    """
    _check_connector(messages.sparkSession)
    rows = _rows(messages, topic)
    if once:
        rows = settled(rows).mapInArrow(_first_time, rows.schema)
    rows.write.format("kafka").options(**_producer(server)).mode("append").save()


def settled(rows: DataFrame) -> DataFrame:
    """Compute the rows now, so that they are never recomputed.

    When a worker is lost, Spark recomputes what it held, and may run a whole stage again for that: its tasks would send
    their messages again without knowing it. The returned rows depend on no other stage. If they are lost, the job
    fails.
    """
    return rows.localCheckpoint()


def _first_time(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    task = TaskContext.get()
    refuse_second(0 if task is None else task.attemptNumber())
    yield from batches


def refuse_second(attempt: int) -> None:
    """Raise an error if the task is a retry, because it would send its messages a second time."""
    if attempt:
        raise BrokerError(
            "sending-interrupted",
            "a task was interrupted while it sent to Kafka",
            hint="run it again: what was sent is read back, and the rest is sent",
        )


def end_offsets(spark: SparkSession, server: KafkaServer, topic: str) -> dict[int, int]:
    """Return the end offset of each partition of a topic; empty if the topic does not exist."""
    _check_connector(spark)
    jvm: Any = spark.sparkContext._jvm
    settings = jvm.java.util.HashMap()
    for name, value in _client(server).items():
        settings.put(name.removeprefix("kafka."), value)
    settings.put("default.api.timeout.ms", str(int(server.patience * 1000)))
    for what in ("key", "value"):
        settings.put(f"{what}.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer")
    try:
        consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(settings)
        try:
            partitions = jvm.java.util.ArrayList()
            for one in consumer.partitionsFor(topic) or ():
                partitions.add(jvm.org.apache.kafka.common.TopicPartition(topic, one.partition()))
            ends = consumer.endOffsets(partitions)
            return {one.partition(): int(ends[one]) for one in ends}
        finally:
            consumer.close()
    except Py4JJavaError as problem:
        raise kafka_error(problem) or problem from problem


def kafka_sink(messages: DataFrame, server: KafkaServer, topic: str | None = None) -> DataStreamWriter:
    """Return a writer for a streaming table; the caller adds trigger and checkpoint."""
    _check_connector(messages.sparkSession)
    return _rows(messages, topic).writeStream.format("kafka").options(**_producer(server))


def kafka_error(error: BaseException) -> BrokerError | None:
    """Translate a failure of Kafka's Java client into our error; None if it comes from elsewhere."""
    text = str(error)
    if isinstance(error, Py4JJavaError):
        text = f"{error.java_exception.toString()}\n{text}"
    if "kafka" not in text.lower():
        return None
    for sign, code, hint in _FAILURES:
        if sign in text:
            line = next(line for line in text.splitlines() if sign in line)
            detail = line[line.index(sign) :].removeprefix(sign).strip(": ")
            return BrokerError(code, f"Kafka: {detail[:300] or sign}", hint=hint)
    return None


def _messages(reader: DataFrameReader | DataStreamReader, server: KafkaServer, what: KafkaInput) -> DataFrame:
    if not what.topics:
        raise InputError("bad-option", "no Kafka topic is named", hint="give the names of the topics")
    if what.missing not in ("fail", "skip"):
        raise InputError("bad-option", f"missing cannot be {what.missing!r}", hint="fail or skip")
    starting = what.starting if isinstance(what.starting, str) else json.dumps(what.starting)
    options = {
        "subscribe": ",".join(what.topics),
        "startingOffsets": starting,
        "failOnDataLoss": str(what.missing == "fail").lower(),
        "includeHeaders": "true",
        "kafka.default.api.timeout.ms": str(int(server.patience * 1000)),
        "kafka.max.poll.records": _TAKEN_AT_ONCE,
        **_client(server),
    }
    try:
        raw = reader.format("kafka").options(**options).load()
    except AnalysisException as problem:
        if "kafka" in str(problem) and "find" in str(problem):
            raise _no_connector() from problem
        raise
    except Py4JJavaError as problem:
        raise _no_connector(str(problem.java_exception)) from problem
    columns = {
        "sequence": F.col("offset"),
        "arrived": F.col("timestamp"),
        "headers": _headers(),
    }
    return raw.select(*(columns.get(name, F.col(name)).alias(name) for name in MESSAGES.names))


def _headers() -> Column:
    """Return Kafka's list of headers as a map. Spark refuses duplicate keys in a map, so the last one is kept."""
    listed = F.coalesce(F.col("headers"), F.expr("cast(array() as array<struct<key:string,value:binary>>)"))
    kept = F.filter(
        listed,
        lambda header, i: (
            ~F.exists(F.slice(listed, i + 2, F.size(listed)), lambda later: later["key"] == header["key"])
        ),
    )
    return F.map_from_entries(F.transform(kept, lambda h: F.struct(h["key"], h["value"].cast("string"))))


def _rows(messages: DataFrame, topic: str | None) -> DataFrame:
    """Select the columns that Spark's Kafka sink accepts; the id becomes a header."""
    if topic is None and "topic" not in messages.columns:
        raise InputError("no-topic", "no topic to write to is given", hint="give a topic, or a column topic")
    none = F.expr("cast(array() as array<struct<key:string,value:binary>>)")
    own = F.transform(F.map_entries("headers"), lambda h: _header(h["key"], h["value"]))
    ours = F.when(F.col("id").isNotNull(), F.array(_header(F.lit("id"), F.col("id"))))
    return outgoing(messages, _COLUMNS).select(
        "value",
        "key",
        F.coalesce("topic", F.lit(topic)).alias("topic"),
        F.concat(F.coalesce(own, none), F.coalesce(ours, none)).alias("headers"),
    )


def _header(name: Column, value: Column) -> Column:
    return F.struct(name.alias("key"), value.cast("binary").alias("value"))


def _producer(server: KafkaServer) -> dict[str, str]:
    milliseconds = int(server.patience * 1000)
    return {
        "includeHeaders": "true",
        "kafka.max.block.ms": str(milliseconds),
        "kafka.delivery.timeout.ms": str(2 * milliseconds),
        **_client(server),
    }


def _client(server: KafkaServer) -> dict[str, str]:
    """Return the options of every Kafka client: servers, credentials and encryption."""
    access = server.access
    if server.mechanism not in _MECHANISMS:
        known = ", ".join(_MECHANISMS)
        raise InputError("bad-option", f"mechanism cannot be {server.mechanism!r}", hint=f"one of {known}")
    if access.token is not None:
        raise InputError("bad-option", "Kafka is given user and password here, not a token", hint="use user")
    at_least("patience", server.patience, 1)
    encryption = "SSL" if access.encrypted else "PLAINTEXT"
    settings = {
        "kafka.bootstrap.servers": server.servers,
        "kafka.request.timeout.ms": str(int(server.patience * 1000)),
    }
    if access.user is not None:
        login = f'username="{_quoted(access.user)}" password="{_quoted(access.password or "")}"'
        settings["kafka.sasl.mechanism"] = server.mechanism
        settings["kafka.sasl.jaas.config"] = f"{_MECHANISMS[server.mechanism]} required {login};"
    settings["kafka.security.protocol"] = f"SASL_{encryption}" if access.user is not None else encryption
    # The contents of the files, not their names, so that workers do not need the files.
    if access.ca:
        settings["kafka.ssl.truststore.type"] = "PEM"
        settings["kafka.ssl.truststore.certificates"] = _file(access.ca)
    if access.certificate:
        settings["kafka.ssl.keystore.type"] = "PEM"
        settings["kafka.ssl.keystore.certificate.chain"] = _file(access.certificate)
        settings["kafka.ssl.keystore.key"] = _file(access.private_key or access.certificate)
    return settings


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _file(name: str) -> str:
    try:
        return Path(name).read_text()
    except OSError as problem:
        raise BrokerError(
            "tls-file", f"the TLS file {name} cannot be read: {problem.strerror}", hint="a PEM file"
        ) from problem


def _check_connector(spark: SparkSession) -> None:
    """Raise an error if the connector is not loaded; the sink would fail only when the query runs, with a Java error."""
    try:
        spark.read.format("kafka").option("subscribe", "x").option("kafka.bootstrap.servers", "x").load()
    except AnalysisException as problem:
        raise _no_connector() from problem
    except Py4JJavaError as problem:
        raise _no_connector(str(problem.java_exception)) from problem


def _no_connector(why: str = "") -> SetupError:
    reason = f": {why}" if why else ""
    return SetupError(
        "no-kafka-connector",
        f"this Spark session has no usable Kafka connector{reason}",
        hint="start the session with connector_settings() as extra_conf, or spark-submit with "
        f"--packages {_CONNECTOR}:{pyspark.__version__}",
    )
