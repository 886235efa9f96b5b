"""The row of a message, credentials for a broker, and the checks that all brokers share."""

from __future__ import annotations

import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tocsin.errors import BrokerError, InputError, did_you_mean

MESSAGES = StructType(
    [
        StructField("value", BinaryType()),
        StructField("key", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("sequence", LongType()),
        StructField("arrived", TimestampType()),
        StructField("headers", MapType(StringType(), StringType())),
    ]
)
_ARROW = to_arrow_schema(MESSAGES, timezone="UTC")
_OUTGOING = {
    "value": "binary",
    "key": "binary",
    "topic": "string",
    "id": "string",
    "headers": "map<string,string>",
}
T = TypeVar("T")


class Message(NamedTuple):
    """A message from a broker without partitions; `arrived` is in microseconds since 1970."""

    value: bytes
    topic: str
    sequence: int
    arrived: int
    headers: Mapping[str, str]


class Outgoing(NamedTuple):
    """A message to be sent. Brokers that can deduplicate drop a second one with the same `id`."""

    value: bytes
    topic: str
    id: str | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Access:
    """Credentials for a broker, and how to verify that it is the right one.

    Args:
        tls: encrypt, and trust the authorities this machine trusts; `ca` and `certificate` imply it.
        ca: a PEM file with the authorities to trust instead.
        certificate: a PEM file with the client certificate; `private_key` is the file with its key.

    The files are read where the connection is made: on the driver and on every worker.
    """

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    tls: bool = False
    ca: str | None = None
    certificate: str | None = None
    private_key: str | None = field(default=None, repr=False)

    @property
    def encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return self.tls or self.ca is not None or self.certificate is not None

    def options(self) -> dict[str, str]:
        """Return these as options of a Spark data source; Spark redacts those named after a password or token."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: str(value) for name, value in given.items() if value not in (None, False)}

    @staticmethod
    def from_options(options: Mapping[str, str]) -> Access:
        """Read back the options that `options` wrote."""
        texts = {f.name: options[f.name] for f in fields(Access) if f.name != "tls" and options.get(f.name)}
        return Access(**texts, tls=options.get("tls", "").lower() == "true")


def tls_context(access: Access) -> ssl.SSLContext | None:
    """Return the TLS context of a connection from Python; None if it is not encrypted."""
    if not access.encrypted:
        return None
    try:
        context = ssl.create_default_context(cafile=access.ca)
        if access.certificate:
            context.load_cert_chain(access.certificate, access.private_key)
    except (OSError, ssl.SSLError) as problem:
        names = ", ".join(name for name in (access.ca, access.certificate, access.private_key) if name)
        raise BrokerError(
            "tls-file",
            f"the TLS files cannot be used: {problem.strerror or problem} ({names})",
            hint="ca, certificate and private_key are PEM files on every machine that connects",
        ) from problem
    return context


def record_batch(messages: Sequence[Message]) -> pa.RecordBatch:
    """Return messages as an Arrow record batch, the form that Spark reads fastest."""
    nothing = [None] * len(messages)
    columns = [
        [m.value for m in messages],
        nothing,
        [m.topic for m in messages],
        [0] * len(messages),
        [m.sequence for m in messages],
        [m.arrived for m in messages],
        [list(m.headers.items()) for m in messages],
    ]
    arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, _ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)


def outgoing(frame: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Select the columns to be sent, in this order; missing ones are null.

    Raises `InputError` for a table without a column `value`, and for columns that would silently not be sent.
    """
    for name in frame.columns:
        if name not in columns:
            known = ", ".join(columns)
            raise InputError(
                "unknown-column",
                f"a message to this broker has no {name!r}",
                hint=did_you_mean(name, columns, f"a message has {known}; put all else into the value"),
            )
    if "value" not in frame.columns:
        raise InputError(
            "no-value", "the table has no column value", hint="value is the text or bytes to send"
        )
    return frame.select(
        *(
            (F.col(name) if name in frame.columns else F.lit(None)).cast(_OUTGOING[name]).alias(name)
            for name in columns
        )
    )


def to_send(rows: Iterable[Sequence[object]], topic: str | None) -> Iterator[Outgoing]:
    """Turn rows `value, topic, id, headers` of `outgoing` into messages; `topic` is the default."""
    for value, own, id, headers in rows:
        target = own or topic
        if not target:
            raise InputError(
                "no-topic",
                "a message names no topic, and there is none for all",
                hint="give the writer a topic, or the table a column topic without nulls",
            )
        if value is None:
            raise InputError(
                "no-value", f"a message to {target} has no value", hint="drop rows without a value"
            )
        yield Outgoing(bytes(value), str(target), None if id is None else str(id), dict(headers or {}))  # type: ignore[call-overload]  # Spark's rows are untyped


def groups(items: Iterator[T], size: int) -> Iterator[list[T]]:
    """Split items into lists of at most `size`.

    >>> list(groups(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    group: list[T] = []
    for item in items:
        group.append(item)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def at_least(name: str, value: float, least: float) -> None:
    """Raise an error if a number is too small."""
    if value < least:
        raise InputError("bad-option", f"{name} cannot be {value}", hint=f"{least} or more")


def unreachable(broker: str, where: str, patience: float, why: BaseException | str) -> BrokerError:
    """Return the error for a broker that did not respond in time."""
    return BrokerError(
        "broker-unreachable",
        f"{broker} at {where} has not answered for {patience:g} s: {why or type(why).__name__}",
        hint="is it running, and are the address and the port right? patience says how long to wait",
    )


def refused(broker: str, where: str, why: object) -> BrokerError:
    """Return the error for a broker that refuses our credentials."""
    return BrokerError(
        "broker-refused",
        f"{broker} at {where} refuses the connection: {why}",
        hint="check user, password or token, and what they may read and write",
    )


def not_trusted(broker: str, where: str, why: ssl.SSLError) -> BrokerError:
    """Return the error for a TLS handshake in which one side rejected the other's certificate."""
    reason = getattr(why, "verify_message", "") or why.reason or str(why)
    return BrokerError(
        "broker-not-trusted",
        f"no TLS connection to {broker} at {where}: {reason}",
        hint="ca must hold the authority that signed the broker's certificate, for the name in the address",
    )
