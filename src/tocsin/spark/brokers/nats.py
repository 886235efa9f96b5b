"""NATS JetStream as a Spark source and sink.

The offset of a streaming query is the sequence number of the stream, so a retried micro-batch reads exactly the
messages it read the first time. The server keeps no state for the query.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
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

from tocsin.errors import BrokerError, InputError, did_you_mean
from tocsin.spark.brokers.message import (
    MESSAGES,
    Access,
    at_least,
    groups,
    outgoing,
    record_batch,
    to_send,
)
from tocsin.spark.brokers.nats_client import (
    NatsServer,
    NatsSession,
    StreamState,
    messages_gone,
    publish,
    read_range,
    stream_state,
)

FORMAT = "tocsin_nats"
_PIECE = 5_000  # messages; fewer are not worth a task of their own
_AT_A_TIME = 1_000  # messages sent before waiting for their acknowledgements
_COLUMNS = ("value", "topic", "id", "headers")


@dataclass(frozen=True, slots=True)
class NatsInput:
    """The messages to read from a JetStream stream.

    Args:
        subject: read only messages to this subject, which may contain wildcards.
        starting: where a new query begins: `earliest`, `latest`, or the sequence number of its first message.
        max_per_batch: the most sequence numbers in a micro-batch.
        partitions: the most tasks that read at once.
        missing: what to do when the stream dropped messages before they were read: `fail` the query, or `skip` them.
    """

    stream: str
    subject: str | None = None
    starting: str | int = "earliest"
    max_per_batch: int = 100_000
    partitions: int = 2
    missing: str = "fail"


def read_nats(spark: SparkSession, server: NatsServer, what: NatsInput) -> DataFrame:
    """Read the messages currently in a stream as a table."""
    spark.dataSource.register(NatsDataSource)
    return spark.read.format(FORMAT).options(**_options(server, what)).load()


def stream_nats(spark: SparkSession, server: NatsServer, what: NatsInput) -> DataFrame:
    """Read a stream as a streaming table."""
    spark.dataSource.register(NatsDataSource)
    return spark.readStream.format(FORMAT).options(**_options(server, what)).load()


def write_nats(messages: DataFrame, server: NatsServer, subject: str | None = None) -> None:
    """Publish a table; returns when the streams have stored every message.

    A message whose `id` was sent within the stream's `duplicate_window` before is not stored again.
    """
    messages.sparkSession.dataSource.register(NatsDataSource)
    options = _server_options(server) | ({"subject": subject} if subject else {})
    outgoing(messages, _COLUMNS).write.format(FORMAT).options(**options).mode("append").save()


def nats_sink(messages: DataFrame, server: NatsServer, subject: str | None = None) -> DataStreamWriter:
    """Return a writer for a streaming table; the caller adds trigger and checkpoint."""
    messages.sparkSession.dataSource.register(NatsDataSource)
    options = _server_options(server) | ({"subject": subject} if subject else {})
    return outgoing(messages, _COLUMNS).writeStream.format(FORMAT).options(**options)


def _server_options(server: NatsServer) -> dict[str, str]:
    at_least("patience", server.patience, 0)
    if not server.servers:
        raise InputError("bad-option", "no NATS server is named", hint="as in nats://127.0.0.1:4222")
    return {
        "servers": json.dumps(server.servers),
        "patience": str(server.patience),
        **server.access.options(),
    }


def _options(server: NatsServer, what: NatsInput) -> dict[str, str]:
    at_least("max_per_batch", what.max_per_batch, 1)
    at_least("partitions", what.partitions, 1)
    if isinstance(what.starting, str) and what.starting not in ("earliest", "latest"):
        hint = did_you_mean(what.starting, ("earliest", "latest"), "earliest, latest or a sequence number")
        raise InputError("bad-option", f"starting cannot be {what.starting!r}", hint=hint)
    if what.missing not in ("fail", "skip"):
        raise InputError("bad-option", f"missing cannot be {what.missing!r}", hint="fail or skip")
    options = {
        "stream": what.stream,
        "starting": str(what.starting),
        "max_per_batch": str(what.max_per_batch),
        "partitions": str(what.partitions),
        "missing": what.missing,
    }
    return options | ({"subject": what.subject} if what.subject else {}) | _server_options(server)


def _server(options: Mapping[str, str]) -> NatsServer:
    return NatsServer(
        tuple(json.loads(options["servers"])), Access.from_options(options), float(options["patience"])
    )


def _input(options: Mapping[str, str]) -> NatsInput:
    starting = options["starting"]
    return NatsInput(
        options["stream"],
        options.get("subject"),
        starting if starting in ("earliest", "latest") else int(starting),
        int(options["max_per_batch"]),
        int(options["partitions"]),
        options["missing"],
    )


class NatsDataSource(DataSource):
    """The Spark data source `tocsin_nats`; the functions of this module set its options."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        return MESSAGES

    def reader(self, schema: StructType) -> DataSourceReader:
        return NatsTableReader(_server(self.options), _input(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        return NatsStreamReader(_server(self.options), _input(self.options))

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        return NatsWriter(_server(self.options), self.options.get("subject"))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        return NatsStreamWriter(_server(self.options), self.options.get("subject"))


class SequenceRange(InputPartition):
    """The messages from `after + 1` to `last`."""

    def __init__(self, after: int, last: int) -> None:
        self.after = after
        self.last = last


def pieces(after: int, last: int, most: int) -> list[SequenceRange]:
    """Split a range into at most `most` parts, none too small to be worth a task.

    >>> [(piece.after, piece.last) for piece in pieces(0, 12_000, 4)]
    [(0, 6000), (6000, 12000)]
    """
    count = max(1, min(most, (last - after) // _PIECE))
    cuts = [after + (last - after) * i // count for i in range(count + 1)]
    return [SequenceRange(a, b) for a, b in pairwise(cuts) if a < b]


def _read(server: NatsServer, what: NatsInput, piece: SequenceRange) -> Iterator[pa.RecordBatch]:
    session = NatsSession(server)
    try:
        skip = what.missing == "skip"
        for batch in read_range(session, what.stream, what.subject, piece.after, piece.last, skip):
            yield record_batch(batch)
    finally:
        session.close()


class NatsTableReader(DataSourceReader):
    """Reads the messages that the stream holds when the query is planned."""

    def __init__(self, server: NatsServer, what: NatsInput) -> None:
        self._server, self._what = server, what

    def partitions(self) -> Sequence[InputPartition]:
        session = NatsSession(self._server)
        try:
            state = stream_state(session, self._what.stream)
        finally:
            session.close()
        return pieces(_first_offset(self._what.starting, state), state.last, self._what.partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark needs at least one partition, and creates one without a range if there is nothing to read.
        if isinstance(partition, SequenceRange):
            yield from _read(self._server, self._what, partition)


def _first_offset(starting: str | int, state: StreamState) -> int:
    """Return the offset just before the first message to read."""
    if isinstance(starting, int):
        return min(max(0, starting - 1), state.last)
    return state.last if starting == "latest" else state.first - 1


class NatsStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches by sequence number; the tasks read their ranges themselves."""

    def __init__(self, server: NatsServer, what: NatsInput) -> None:
        self._server, self._what = server, what
        self._session: NatsSession | None = None
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return {"sequence": _first_offset(self._what.starting, self._state())}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._what.max_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = self._state().last

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        after, state = start["sequence"], self._state()
        if state.last < after:
            raise BrokerError(
                "stream-replaced",
                f"the stream {self._what.stream} ends at {state.last}, but {after} of its messages were already read",
                hint="it was created again: use a new checkpoint to read it from its start",
            )
        if self._what.missing == "fail" and state.first > after + 1:
            raise messages_gone(self._what.stream, after + 1, state.first)
        last = state.last if self._target is None else max(after, self._target)
        if not isinstance(limit, ReadAllAvailable):
            last = min(last, after + getattr(limit, "max_rows", self._what.max_per_batch))
        return {"sequence": last}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802
        return {"sequence": self._state().last}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        return pieces(start["sequence"], end["sequence"], self._what.partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, SequenceRange)
        return _read(self._server, self._what, partition)

    def stop(self) -> None:
        if self._session is not None:
            self._session.close()

    def _state(self) -> StreamState:
        # Only on the driver: this object is pickled for the tasks before it has a connection.
        if self._session is None:
            self._session = NatsSession(self._server)
        return stream_state(self._session, self._what.stream)


def _send(server: NatsServer, subject: str | None, rows: Iterator[Row]) -> WriterCommitMessage:
    session = NatsSession(server)
    try:
        for group in groups(to_send(rows, subject), _AT_A_TIME):
            publish(session, group)
    finally:
        session.close()
    return WriterCommitMessage()


class NatsWriter(DataSourceWriter):
    """Publishes the rows of a table."""

    def __init__(self, server: NatsServer, subject: str | None) -> None:
        self._server, self._subject = server, subject

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        return _send(self._server, self._subject, iterator)


class NatsStreamWriter(DataSourceStreamWriter):
    """Publishes the rows of a micro-batch; a retried micro-batch publishes them again, with the same ids."""

    def __init__(self, server: NatsServer, subject: str | None) -> None:
        self._server, self._subject = server, subject

    def write(self, iterator: Iterator[Row]) -> WriterCommitMessage:
        return _send(self._server, self._subject, iterator)

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """Do nothing: every message is stored when `write` returns."""
