"""MQTT as a Spark source and sink.

An MQTT broker delivers a message and forgets it. So the reader, on the driver, spools messages to disk before it
acknowledges them, and the offsets of the query are numbers in the spool (`spool.py`). The broker keeps the session
while the query is not running. Delivery is at least once: after a lost connection the broker may deliver a message
again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StructType

from tocsin.errors import InputError
from tocsin.spark.brokers.message import (
    MESSAGES,
    Access,
    Message,
    at_least,
    groups,
    outgoing,
    record_batch,
    to_send,
)
from tocsin.spark.brokers.mqtt_client import MqttServer, Receiver, publish
from tocsin.spark.brokers.spool import Spool, spool_lost

FORMAT = "tocsin_mqtt"
_PIECE = 10_000  # messages per task
_AT_A_TIME = 1_000  # messages sent before waiting for their acknowledgements
_POLL_SECONDS = 0.02
_COLUMNS = ("value", "topic", "id", "headers")


@dataclass(frozen=True, slots=True)
class MqttInput:
    """The topics to read from a broker.

    Args:
        topics: topic filters, which may contain the wildcards + and #.
        spool: a local folder on the driver's machine for this query alone; it belongs to the checkpoint.
        client_id: the name of the session at the broker; by default one that is generated and kept in the spool.
        max_per_batch: the most messages in a micro-batch.
        max_spooled: stop receiving from the broker while Spark has not yet committed this many messages.
        settle: with the trigger `availableNow`, how many seconds of silence mean that the broker has sent everything.
    """

    topics: tuple[str, ...]
    spool: str
    client_id: str | None = None
    max_per_batch: int = 20_000
    max_spooled: int = 200_000
    settle: float = 1.0


def stream_mqtt(spark: SparkSession, server: MqttServer, what: MqttInput) -> DataFrame:
    """Read topics as a streaming table."""
    at_least("max_per_batch", what.max_per_batch, 1)
    at_least("max_spooled", what.max_spooled, 1)
    at_least("settle", what.settle, 0)
    if not what.topics or not all(what.topics):
        raise InputError(
            "bad-option", "no MQTT topic is named", hint="as in sensors/+/temperature or sensors/#"
        )
    options = {
        "topics": json.dumps(what.topics),
        "spool": what.spool,
        "client_id": what.client_id or "",
        "max_per_batch": str(what.max_per_batch),
        "max_spooled": str(what.max_spooled),
        "settle": str(what.settle),
    }
    spark.dataSource.register(MqttDataSource)
    return spark.readStream.format(FORMAT).options(**options, **_server_options(server)).load()


def write_mqtt(
    messages: DataFrame, server: MqttServer, topic: str | None = None, retain: bool = False
) -> None:
    """Publish a table with QoS 1; returns when the broker has acknowledged every message."""
    messages.sparkSession.dataSource.register(MqttDataSource)
    options = _sink_options(server, topic, retain)
    outgoing(messages, _COLUMNS).write.format(FORMAT).options(**options).mode("append").save()


def mqtt_sink(
    messages: DataFrame, server: MqttServer, topic: str | None = None, retain: bool = False
) -> DataStreamWriter:
    """Return a writer for a streaming table; the caller adds trigger and checkpoint."""
    messages.sparkSession.dataSource.register(MqttDataSource)
    options = _sink_options(server, topic, retain)
    return outgoing(messages, _COLUMNS).writeStream.format(FORMAT).options(**options)


def _sink_options(server: MqttServer, topic: str | None, retain: bool) -> dict[str, str]:
    return {"topic": topic or "", "retain": str(retain), **_server_options(server)}


def _server_options(server: MqttServer) -> dict[str, str]:
    at_least("patience", server.patience, 0)
    if server.access.token is not None:
        raise InputError("bad-option", "MQTT has no tokens", hint="give the token as the password")
    return {
        "host": server.host,
        "port": str(server.port),
        "patience": str(server.patience),
        **server.access.options(),
    }


def _server(options: Mapping[str, str]) -> MqttServer:
    return MqttServer(
        options["host"], int(options["port"]), Access.from_options(options), float(options["patience"])
    )


class MqttDataSource(DataSource):
    """The Spark data source `tocsin_mqtt`; the functions of this module set its options."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return MESSAGES

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        options = self.options
        what = MqttInput(
            tuple(json.loads(options["topics"])),
            options["spool"],
            options["client_id"] or None,
            int(options["max_per_batch"]),
            int(options["max_spooled"]),
            float(options["settle"]),
        )
        return MqttStreamReader(_server(options), what)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        return MqttWriter(_server(self.options), self.options["topic"], self.options["retain"] == "True")

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        return MqttStreamWriter(
            _server(self.options), self.options["topic"], self.options["retain"] == "True"
        )


class SpooledMessages(InputPartition):
    """The messages of a task, by value: it may run on a machine that cannot read the spool."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages


class MqttStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Receives messages on the driver, in a thread of its own, and plans micro-batches from the spool."""

    def __init__(self, server: MqttServer, what: MqttInput) -> None:
        self._server, self._what = server, what
        self._spool: Spool | None = None
        self._receiver: Receiver | None = None
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        # Called only for a query without a checkpoint, which has used none of the messages still in the spool.
        spool, _ = self._running()
        return {"sequence": spool.last - spool.waiting}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._what.max_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        spool, receiver = self._running()
        while (
            not receiver.ready.is_set() or time.monotonic() < receiver.heard + self._what.settle
        ) and spool.waiting < self._what.max_spooled:
            receiver.check()
            time.sleep(_POLL_SECONDS)
        self._target = spool.last

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        spool, receiver = self._running()
        receiver.check()
        after = start["sequence"]
        if spool.last < after:
            raise spool_lost(self._what.spool, after)
        last = spool.last if self._target is None else max(after, self._target)
        if not isinstance(limit, ReadAllAvailable):
            last = min(last, after + getattr(limit, "max_rows", self._what.max_per_batch))
        return {"sequence": last}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"sequence": self._running()[0].last}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        spool, _ = self._running()
        messages = spool.between(start["sequence"], end["sequence"])
        return [SpooledMessages(group) for group in groups(iter(messages), _PIECE)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, SpooledMessages)
        yield record_batch(partition.messages)

    def commit(self, end: dict[str, int]) -> None:
        self._running()[0].forget(end["sequence"])

    def stop(self) -> None:
        if self._receiver is not None:
            self._receiver.stop()
        if self._spool is not None:
            self._spool.close()

    def _running(self) -> tuple[Spool, Receiver]:
        # Only on the driver: this object is pickled for the tasks before it has a spool.
        if self._spool is None:
            self._spool = Spool(self._what.spool)
        if self._receiver is None:
            client_id = self._what.client_id or self._spool.client()
            self._receiver = Receiver(
                self._server, self._what.topics, client_id, self._spool, self._what.max_spooled
            )
        return self._spool, self._receiver


def _send(server: MqttServer, topic: str, retain: bool, rows: Iterator[Row]) -> WriterCommitMessage:
    for group in groups(to_send(rows, topic), _AT_A_TIME):
        publish(server, group, retain)
    return WriterCommitMessage()


class MqttWriter(DataSourceWriter):
    """Publishes the rows of a table."""

    def __init__(self, server: MqttServer, topic: str, retain: bool) -> None:
        self._server, self._topic, self._retain = server, topic, retain

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        return _send(self._server, self._topic, self._retain, iterator)


class MqttStreamWriter(DataSourceStreamWriter):
    """Publishes the rows of a micro-batch; a retried micro-batch publishes them again."""

    def __init__(self, server: MqttServer, topic: str, retain: bool) -> None:
        self._server, self._topic, self._retain = server, topic, retain

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        return _send(self._server, self._topic, self._retain, iterator)
