"""Publish composite events as messages: exactly once to Kafka and NATS, at least once to MQTT.

A broker cannot replace the messages of an interrupted micro-batch. So the topic's position is written down before a
micro-batch is sent; if it is retried, the ids of all messages since then are read back, and only missing ones are sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import StreamError
from tocsin.runtime.results.match_rows import key_names, keys_among
from tocsin.spark.brokers.kafka import KafkaInput, end_offsets, kafka_error, read_kafka, write_kafka
from tocsin.spark.pipeline.file.broker import BrokerFormat, Connection
from tocsin.spark.pipeline.file.model import Entry, Sink
from tocsin.spark.pipeline.sinks.rule_rows import RULE_COLUMNS
from tocsin.spark.pipeline.sources.cells import from_text
from tocsin.spark.quoting import quoted
from tocsin.spark.session.storage import Storage

_FEW = 10_000  # messages that a single task sends
_MOMENT = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_ENVELOPE = ("id", "type", "start", "end", "time", "source", "constituents")


class Outlet(Protocol):
    """A topic that can be written to, and perhaps read back."""

    def position(self) -> Any:
        """Return the end of the topic as a JSON value; None if the topic cannot be read back."""
        ...

    def ids_since(self, position: Any) -> DataFrame:
        """Return the ids of the messages after a position, as a column `id`."""
        ...

    def send(self, messages: DataFrame) -> None:
        """Send rows `value, id, key`; the broker has all of them when this returns."""
        ...


@dataclass(frozen=True)
class Topic:
    """Publishes the matches of a subscription, or the events of one type that it sends, as events."""

    storage: Storage
    note: str  # the file with the topic's position before a micro-batch was sent
    outlet: Outlet
    entry: Entry
    type: str | None  # of matches; events that are sent have their own
    kinds: Mapping[str, str]  # of the attributes of composites

    def begin(self) -> None:
        self.storage.delete(self.note)

    def write(self, rows: DataFrame, count: int, batch: int) -> None:
        messages = _messages(rows, self.entry, self.type, self.kinds)
        noted = json.loads(self.storage.read(self.note)) if self.storage.exists(self.note) else {}
        if noted.get("batch") == batch:
            if noted["position"] is not None:
                messages = messages.join(self.outlet.ids_since(noted["position"]), "id", "left_anti")
        else:
            self.storage.write(self.note, json.dumps({"batch": batch, "position": self.outlet.position()}))
        self.outlet.send(messages.coalesce(1) if count <= _FEW else messages)

    def clear(self, batch: int) -> None:
        """Do nothing: a retried micro-batch has the same rows, so nothing was sent for it before."""


def broker_target(
    session: SparkSession,
    storage: Storage,
    checkpoint: str,
    sink: Sink,
    place: str,
    entry: Entry,
    kinds: Mapping[str, str],
) -> Topic:
    """Return the target to which a broker sink sends the results of one subscription."""
    assert sink.connection is not None
    assert sink.topic is not None
    note = f"{checkpoint}/tocsin/sent/{quote(place, safe='')}.json"
    outlet = _OUTLETS[sink.connection.format](session, sink.connection, sink.topic)
    return Topic(storage, note, outlet, entry, sink.event_type or entry.name, kinds)


def _messages(rows: DataFrame, entry: Entry, type: str | None, kinds: Mapping[str, str]) -> DataFrame:
    """Encode matches or sent events as JSON objects that a source can read: rows `value, id, key`."""
    matches = "constituents" in rows.columns
    last = [name.split(".")[-1] for name in entry.key]
    names = keys_among(rows.columns) if matches else [_sent_name(n) for n in key_names(last, sends=True)]
    key = {name: F.col(quoted(own)) for name, own in zip(entry.key, names, strict=True)}
    if matches:
        values = {
            name: from_text(F.try_element_at("variables", F.lit(name)), kind)
            for name, kind in kinds.items()
            if name not in entry.key
        }
        fields = {
            "id": F.col("match_id"),
            "type": F.lit(type),
            "start": F.col("start"),
            "end": F.col("end"),
            "source": F.lit(entry.name),
        }
        of_rule = {name: F.col(name) for name in RULE_COLUMNS[1:] if name in rows.columns}
        fields |= of_rule | _apart({**key, **values}, of_rule) | {"constituents": F.col("constituents")}
    else:
        fields = {name: F.col(quoted(name)) for name in rows.columns}
    value = F.to_json(F.struct(*(column.alias(name) for name, column in fields.items())), _MOMENT)
    sorted_by = F.to_json(F.struct(*(column.alias(name) for name, column in key.items()))) if key else None
    return rows.select(
        value.cast("binary").alias("value"),
        fields["id"].cast("string").alias("id"),
        (F.lit(None) if sorted_by is None else sorted_by).cast("binary").alias("key"),
    )


def _sent_name(name: str) -> str:
    """Return the name of a key column among the columns of sent events."""
    return f"{name}_" if name in ("id", "type", "time", "source") else name


def _apart(attributes: Mapping[str, Column], others: Collection[str] = ()) -> dict[str, Column]:
    """Append `_` to the names of attributes that clash with fields of every message, or with `others`."""
    taken = (*_ENVELOPE, *others)
    return {f"{name}_" if name in taken else name: column for name, column in attributes.items()}


@dataclass(frozen=True)
class KafkaTopic:
    session: SparkSession
    connection: Connection
    topic: str

    def position(self) -> dict[str, int]:
        ends = end_offsets(self.session, self.connection.kafka(), self.topic)
        return {str(partition): end for partition, end in ends.items()}

    def ids_since(self, position: Any) -> DataFrame:
        now = end_offsets(self.session, self.connection.kafka(), self.topic)
        # A partition that did not exist then is read from offset 0.
        since = {self.topic: {partition: position.get(str(partition), 0) for partition in now}}
        read = read_kafka(self.session, self.connection.kafka(), KafkaInput((self.topic,), since))
        return read.select(F.col("headers")["id"].alias("id")).where("id is not null").distinct()

    def send(self, messages: DataFrame) -> None:
        try:
            write_kafka(messages, self.connection.kafka(), self.topic, once=True)
        except Py4JJavaError as problem:
            raise kafka_error(problem) or problem from problem


@dataclass(frozen=True)
class NatsSubject:
    session: SparkSession
    connection: Connection
    topic: str

    def position(self) -> dict[str, Any]:
        from tocsin.spark.brokers.nats_client import NatsSession, stream_of, stream_state

        session = NatsSession(self.connection.nats())
        try:
            stream = stream_of(session, self.topic)
            return {"stream": stream, "last": stream_state(session, stream).last}
        finally:
            session.close()

    def ids_since(self, position: Any) -> DataFrame:
        from tocsin.spark.brokers.nats import NatsInput, read_nats

        since = NatsInput(position["stream"], self.topic, starting=position["last"] + 1, missing="skip")
        read = read_nats(self.session, self.connection.nats(), since)
        return read.select(F.col("headers")["Nats-Msg-Id"].alias("id")).where("id is not null").distinct()

    def send(self, messages: DataFrame) -> None:
        from tocsin.spark.brokers.nats import write_nats

        # A retried task sends the same ids again, and the server drops duplicates.
        write_nats(messages.drop("key"), self.connection.nats(), self.topic)


@dataclass(frozen=True)
class MqttTopic:
    session: SparkSession
    connection: Connection
    topic: str

    def position(self) -> None:
        """Return None: an MQTT broker keeps no record of the messages it has forwarded."""

    def ids_since(self, position: Any) -> DataFrame:
        raise StreamError("not-readable", f"{self.topic} cannot be read back")

    def send(self, messages: DataFrame) -> None:
        from tocsin.spark.brokers.mqtt import write_mqtt

        write_mqtt(messages.drop("key"), self.connection.mqtt(), self.topic)


_OUTLETS: dict[BrokerFormat, Callable[[SparkSession, Connection, str], Outlet]] = {
    "kafka": KafkaTopic,
    "nats": NatsSubject,
    "mqtt": MqttTopic,
}


def parts_sent(sink: Sink, sends: bool, tables: Sequence[str]) -> tuple[str | None, ...]:
    """Return the parts of a subscription's results that a sink takes: None for its matches, and the types it sends.

    A broker gets events only; the rows that explain why they were sent go to files and tables.
    """
    if sink.topic is not None and sends:
        return tuple(tables)
    return (None, *tables)
