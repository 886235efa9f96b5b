"""Read the broker of a `[[source]]` or `[[sink]]` of a pipeline file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import get_args

from tocsin.errors import InputError
from tocsin.languages.attached import read_text
from tocsin.spark.pipeline.file.broker import (
    BrokerFormat,
    Connection,
    Feed,
    Missing,
    Secret,
    Starting,
    ValueFormat,
)
from tocsin.spark.pipeline.file.section import Table, resolved

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_EXAMPLES = {"kafka": "kafka1:9092", "nats": "nats://127.0.0.1:4222", "mqtt": "127.0.0.1:1883"}
_STARTING: tuple[Starting, ...] = get_args(Starting)
_MISSING: tuple[Missing, ...] = get_args(Missing)
_VALUES: tuple[ValueFormat, ...] = get_args(ValueFormat)
_WILD = {"nats": "*>", "mqtt": "+#", "kafka": ","}


def read_connection(table: Table, format: BrokerFormat) -> Connection:
    """Return the address of a broker, and the credentials for it."""
    servers = table.texts("servers") or ()
    if not servers and "servers" not in table.values:
        table.missing("servers", f'where the broker is, as in servers = "{_EXAMPLES[format]}"')
    if format == "mqtt" and not _is_address(servers):
        hint = 'one broker, as in servers = "127.0.0.1:1883"'
        table.note("bad-value", "servers is not the address of an MQTT broker", "servers", hint, value=True)
    user, password = table.text("user"), _secret(table, "password")
    token = _secret(table, "token") if format == "nats" else None
    if (user is None) != (password is None):
        missing = "password_env" if user else "user"
        table.missing(missing, "user and password must be given together")
    patience = table.duration("patience", required=False)
    return Connection(
        format,
        servers,
        user,
        password,
        token,
        bool(table.flag("tls")),
        _file(table, "ca"),
        _file(table, "certificate"),
        _file(table, "private_key"),
        table.choice("mechanism", _MECHANISMS, "PLAIN") or "PLAIN" if format == "kafka" else "PLAIN",
        60.0 if patience is None else patience / 1_000_000,
    )


def _is_address(servers: tuple[str, ...]) -> bool:
    if len(servers) > 1 or any("://" in server for server in servers):
        return False
    return all(server.rpartition(":")[2].isdigit() for server in servers if ":" in server)


def _secret(table: Table, what: str) -> Secret | None:
    """Return where a password or token is. One written in the file itself is an error, whose message does not repeat it."""
    if what in table.values:
        table.asked.add(what)
        hint = f'say {what}_env = "NAME" for a variable of the environment, or {what}_file = "path"'
        table.note("secret-in-file", f"a {what} does not belong in this file", hint=hint)
    variable, file = table.text(f"{what}_env"), table.text(f"{what}_file")
    if variable and file:
        table.note("bad-value", f"{what}_env and {what}_file cannot be combined", f"{what}_file")
    if file is not None:
        return Secret(file=resolved(table, file, f"{what}_file"))
    return None if variable is None else Secret(variable)


def _file(table: Table, key: str) -> str | None:
    path = table.text(key)
    if path is None:
        return None
    whole = resolved(table, path, key)
    if whole and not os.path.isfile(whole):
        table.note("no-file", f"there is no file {whole}", key, value=True)
    return whole


def read_feed(table: Table, format: BrokerFormat) -> Feed:
    """Return what a source reads from a broker."""
    connection = read_connection(table, format)
    topics = table.texts("topics") or ()
    jetstream = ""
    if format == "nats":
        jetstream = table.text("jetstream", required=True, hint="the name of the stream to read") or ""
        if len(topics) > 1:
            hint = "one subject, which may have wildcards, or a source for each"
            table.note("bad-value", "a source reads one subject of NATS", "topics", hint)
    elif not topics and "topics" not in table.values:
        table.missing("topics", "the names of the topics, as in topics = ['doors']")
    value = table.choice("value", _VALUES, "json") or "json"
    past = format != "mqtt"  # what came before us is gone
    return Feed(
        connection,
        topics,
        jetstream,
        table.choice("starting", _STARTING, "earliest") or "earliest" if past else "earliest",
        table.choice("missing", _MISSING, "fail") or "fail" if past else "fail",
        table.number("max_messages", 1),
        _spool(table) if format == "mqtt" else None,
        value,
        _avro_schema(table) if value == "avro" else None,
        bool(table.flag("registry_header")) if value == "avro" else False,
    )


def _spool(table: Table) -> str | None:
    path = table.text("spool")
    return None if path is None else resolved(table, path, "spool")


def _avro_schema(table: Table) -> str | None:
    path = table.text("schema", required=True, hint="a file with the Avro schema of the messages")
    file = resolved(table, path, "schema") if path else ""
    if not file:
        return None
    try:
        text = read_text(Path(file))
        json.loads(text)
    except InputError as problem:
        table.note(problem.code, problem.message, "schema", value=True)
        return None
    except (ValueError, RecursionError):
        table.note("bad-file", f"{path} cannot be read: it is not JSON", "schema", value=True)
        return None
    return text


def read_topic(table: Table, format: BrokerFormat) -> str:
    """Return the topic that a sink sends to."""
    hint = "the subject to publish to" if format == "nats" else "the topic to send to"
    topic = table.text("topic", required=True, hint=hint) or ""
    if any(sign in topic for sign in _WILD[format]):
        table.note("bad-value", f"{topic!r} is not one topic", "topic", "without wildcards", value=True)
    return topic
