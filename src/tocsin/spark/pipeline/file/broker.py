"""A broker as described in a pipeline file: how to connect to it, and what a source reads from it.

Passwords are not in the file. They are looked up in the environment, or in files, when the pipeline runs.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from tocsin.errors import SetupError

if TYPE_CHECKING:
    from tocsin.spark.brokers.kafka import KafkaServer
    from tocsin.spark.brokers.message import Access
    from tocsin.spark.brokers.mqtt_client import MqttServer
    from tocsin.spark.brokers.nats_client import NatsServer

BrokerFormat = Literal["kafka", "nats", "mqtt"]
ValueFormat = Literal["json", "avro"]
Missing = Literal["fail", "skip"]
Starting = Literal["earliest", "latest"]
BROKERS: tuple[BrokerFormat, ...] = get_args(BrokerFormat)
_MQTT_PORT = {False: 1883, True: 8883}


@dataclass(frozen=True, slots=True)
class Secret:
    """Where to find a password or token: an environment variable, or a file that contains nothing else."""

    variable: str | None = None
    file: str | None = None

    def reveal(self) -> str:
        """Return the secret itself."""
        if self.file is not None:
            try:
                return Path(self.file).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as problem:
                why = getattr(problem, "strerror", None) or "it is not text"
                raise SetupError(
                    "no-secret", f"{self.file} cannot be read: {why}", hint="a file with the password only"
                ) from problem
        found = os.environ.get(self.variable or "")
        if not found:
            raise SetupError(
                "no-secret", f"{self.variable} is not set", hint=f"export {self.variable}=… before it runs"
            )
        return found


@dataclass(frozen=True, slots=True)
class Connection:
    """How to connect to a broker. `patience` is how many seconds to wait for a response."""

    format: BrokerFormat
    servers: tuple[str, ...]
    user: str | None = None
    password: Secret | None = None
    token: Secret | None = None
    tls: bool = False
    ca: str | None = None
    certificate: str | None = None
    private_key: str | None = None
    mechanism: str = "PLAIN"
    patience: float = 60.0

    def nats(self) -> NatsServer:
        """Return the address for the NATS client. Clients are imported here, because only users of a broker need its client."""
        from tocsin.spark.brokers.nats_client import NatsServer

        return NatsServer(self.servers, self._access(), self.patience)

    def kafka(self) -> KafkaServer:
        from tocsin.spark.brokers.kafka import KafkaServer

        return KafkaServer(",".join(self.servers), self._access(), self.mechanism, self.patience)

    def mqtt(self) -> MqttServer:
        from tocsin.spark.brokers.mqtt_client import MqttServer

        access = self._access()
        host, _, port = (
            self.servers[0].rpartition(":") if ":" in self.servers[0] else (self.servers[0], "", "")
        )
        return MqttServer(host, int(port) if port else _MQTT_PORT[access.encrypted], access, self.patience)

    def _access(self) -> Access:
        from tocsin.spark.brokers.message import Access

        password, token = (
            None if secret is None else secret.reveal() for secret in (self.password, self.token)
        )
        return Access(self.user, password, token, self.tls, self.ca, self.certificate, self.private_key)


@dataclass(frozen=True, slots=True)
class Feed:
    """What a source reads from a broker."""

    connection: Connection
    topics: tuple[str, ...]  # names of Kafka, one subject of NATS or none, filters of MQTT
    jetstream: str = ""  # the stream of NATS
    starting: Starting = "earliest"
    missing: Missing = "fail"
    max_messages: int | None = None
    spool: str | None = None  # of MQTT, if it is not to be in the checkpoint
    value: ValueFormat = "json"
    avro_schema: str | None = None  # as JSON
    registry_header: bool = False

    @property
    def location(self) -> str:
        """The identity of what is read, independent of the broker's address."""
        return " ".join((*([self.jetstream] if self.jetstream else ()), *self.topics))
