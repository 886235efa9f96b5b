"""Composite events as messages: to Kafka and NATS each once, to MQTT at least once.

A broker cannot replace what it got for a micro-batch that was cut short. So before a micro-batch is sent it is noted how far
the topic has come; if it is run again, the ids of what came since are read back, and only what is missing is sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import StreamError
from tocsin.spark.brokers.kafka import KafkaInput, end_offsets, kafka_error, read_kafka, write_kafka
from tocsin.spark.pipeline.broker import BrokerFormat, Connection
from tocsin.spark.pipeline.cells import from_text
from tocsin.spark.pipeline.model import Entry, Sink
from tocsin.spark.storage import Storage

_FEW = 10_000  # messages that one task sends
_MOMENT = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"}
_ENVELOPE = ("id", "type", "start", "end", "time", "source", "constituents")


class Outlet(Protocol):
    """A topic that can be written to, and perhaps read back."""

    def position(self) -> Any:
        """How far the topic has come, as JSON can hold it; None if it cannot be read back."""
        ...

    def ids_since(self, position: Any) -> DataFrame:
        """The ids of the messages that came since, as a column `id`."""
        ...

    def send(self, messages: DataFrame) -> None:
        """Send rows `value, id, key`; all of them are there when it returns."""
        ...


@dataclass(frozen=True)
class Topic:
    """Takes the matches of a subscription, or the events of a type that it sends, and publishes them as events."""

    storage: Storage
    note: str  # the file that tells how far the topic had come before a micro-batch was sent
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
        """Nothing was sent for it before: a micro-batch that is run again has the same rows."""


def broker_target(
    session: SparkSession,
    storage: Storage,
    checkpoint: str,
    sink: Sink,
    place: str,
    entry: Entry,
    kinds: Mapping[str, str],
) -> Topic:
    """Where a sink of a broker sends what one subscription finds."""
    assert sink.connection is not None
    assert sink.topic is not None
    note = f"{checkpoint}/tocsin/sent/{quote(place, safe='')}.json"
    outlet = _OUTLETS[sink.connection.format](session, sink.connection, sink.topic)
    return Topic(storage, note, outlet, entry, sink.event_type or entry.name, kinds)


def _messages(rows: DataFrame, entry: Entry, type: str | None, kinds: Mapping[str, str]) -> DataFrame:
    """Matches, or events that were sent, as JSON objects that a source can read: `value`, `id`, `key`."""
    key = {name: F.col("key") if len(entry.key) == 1 else F.col("key").getField(name) for name in entry.key}
    if "constituents" in rows.columns:
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
        fields |= _apart({**key, **values}) | {"constituents": F.col("constituents")}
    else:
        fields = {name: F.col(name) for name in rows.columns if name != "key"}
        fields |= {name: column for name, column in _apart(key).items() if name not in fields}
    value = F.to_json(F.struct(*(column.alias(name) for name, column in fields.items())), _MOMENT)
    sorted_by = F.to_json(F.struct(*(column.alias(name) for name, column in key.items()))) if key else None
    return rows.select(
        value.cast("binary").alias("value"),
        fields["id"].cast("string").alias("id"),
        (F.lit(None) if sorted_by is None else sorted_by).cast("binary").alias("key"),
    )


def _apart(attributes: Mapping[str, Column]) -> dict[str, Column]:
    """Attributes, with a `_` behind the name of one that every message has."""
    return {f"{name}_" if name in _ENVELOPE else name: column for name, column in attributes.items()}


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
        # What was not there then began later, at 0.
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

        # A task that is run again sends the same ids again, which the server drops.
        write_nats(messages.drop("key"), self.connection.nats(), self.topic)


@dataclass(frozen=True)
class MqttTopic:
    session: SparkSession
    connection: Connection
    topic: str

    def position(self) -> None:
        """Nobody knows what a broker of MQTT has passed on."""

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
    """What of a subscription a sink takes: its matches, and the types of what it sends.

    A broker gets events only: the rows that tell how a language came to send them are for files and tables.
    """
    if sink.topic is not None and sends:
        return tuple(tables)
    return (None, *tables)
