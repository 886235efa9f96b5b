"""The brokers of the chaos run: real servers that are killed and restarted while events are sent to them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL, SIGTERM
from threading import Lock
from typing import IO

from support.brokers import Broker, make_certificates, nats_server
from support.kafka_node import connector_jars, kafka_node, kafka_tool
from tocsin.spark.brokers.message import Outgoing
from tocsin.spark.brokers.nats_client import NatsServer, NatsSession, publish

_TOPIC = "doors"


class Field:
    """Where the events go: a broker, the lines of a pipeline that read from it, and how to send to it."""

    settings: dict[str, str] = {}  # noqa: RUF012  of Spark

    def __init__(self, broker: Broker, source: str) -> None:
        self.broker, self.source = broker, source

    def restart(self, random: Random) -> None:
        """Kill the broker, or ask it to stop, and start it again after a while."""
        self.broker.stop(random.choice((SIGKILL, SIGTERM)))
        time.sleep(random.uniform(0, 2))
        self.broker.start()

    def send(self, messages: Sequence[bytes]) -> None:
        raise NotImplementedError

    def finish(self) -> None:
        """Return when the broker has all messages."""


class NatsField(Field):
    """A NATS stream. Messages are numbered, so one that the client sends again is stored only once."""

    def __init__(self, broker: Broker) -> None:
        address = f"nats://127.0.0.1:{broker.port}"
        source = f'format = "nats"\nservers = "{address}"\njetstream = "DOORS"\n'
        super().__init__(broker, source)
        self._session = NatsSession(NatsServer((address,), patience=120))
        self._session.run(lambda client: client.jetstream().add_stream(name="DOORS", subjects=[_TOPIC]))
        self._sent = 0

    def send(self, messages: Sequence[bytes]) -> None:
        numbered = enumerate(messages, self._sent)
        publish(self._session, [Outgoing(value, _TOPIC, str(number), {}) for number, value in numbered])
        self._sent += len(messages)

    def finish(self) -> None:
        self._session.close()


class KafkaField(Field):
    """A Kafka topic, fed line by line through Kafka's own console producer."""

    def __init__(self, broker: Broker) -> None:
        address = f"127.0.0.1:{broker.port}"
        # In one partition messages stay in the order in which they were sent.
        create = ["TopicCommand", "--create", "--partitions", "1", "--replication-factor", "1"]
        where = ["--topic", _TOPIC, "--bootstrap-server", address]
        subprocess.run(kafka_tool(*create, *where), check=True, capture_output=True)
        super().__init__(broker, f'format = "kafka"\nservers = "{address}"\ntopics = "{_TOPIC}"\n')
        self.settings = {"jars": ",".join(connector_jars(fetch=True))}
        self._log = (broker.folder / "producer.log").open("wb")
        self._producer = subprocess.Popen(
            kafka_tool("ConsoleProducer", *where), stdin=subprocess.PIPE, stdout=self._log, stderr=self._log
        )
        self._turn = Lock()

    def send(self, messages: Sequence[bytes]) -> None:
        with self._turn:
            lines: IO[bytes] | None = self._producer.stdin
            assert lines is not None
            lines.write(b"".join(message + b"\n" for message in messages))
            lines.flush()

    def finish(self) -> None:
        assert self._producer.stdin is not None
        self._producer.stdin.close()
        if self._producer.wait(timeout=300):
            raise SystemExit(f"chaos: the producer failed: {Path(self._log.name).read_text()[-2000:]}")


@contextmanager
def open_broker(name: str, folder: Path) -> Iterator[Field]:
    """Run a broker with an empty stream or topic."""
    if name == "nats":
        with nats_server(folder / "nats") as broker:
            yield NatsField(broker)
        return
    certificates = make_certificates(folder / "certificates")
    broker, _, _ = kafka_node(folder / "kafka", "open sesame", certificates)
    with broker:
        yield KafkaField(broker)
