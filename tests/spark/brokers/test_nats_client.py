"""Reading ranges of a JetStream stream, without Spark around it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.brokers import Broker, nats_server
from tocsin.errors import BrokerError
from tocsin.spark.brokers.message import Outgoing
from tocsin.spark.brokers.nats_client import NatsServer, NatsSession, publish, read_range, stream_state

pytestmark = pytest.mark.slow


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with nats_server(tmp_path / "nats") as broker:
        yield broker


@pytest.fixture
def session(broker: Broker) -> Iterator[NatsSession]:
    session = NatsSession(NatsServer((f"nats://127.0.0.1:{broker.port}",), patience=20))
    yield session
    session.close()


def make(session: NatsSession, name: str, **settings: object) -> None:
    session.run(lambda client: client.jetstream().add_stream(name=name, **settings))


def send(session: NatsSession, numbers: range, subject: str = "s.a") -> None:
    publish(session, [Outgoing(str(n).encode(), subject, f"id-{n}", {}) for n in numbers])


def numbers(session: NatsSession, after: int, last: int, subject: str | None = None) -> list[int]:
    batches = read_range(session, "S", subject, after, last, False)
    return [message.sequence for batch in batches for message in batch]


def test_a_range_has_exactly_its_messages(session: NatsSession) -> None:
    make(session, "S", subjects=["s.*"])
    send(session, range(2500))
    assert numbers(session, 10, 2300) == list(range(11, 2301))
    assert numbers(session, 2500, 2500) == []


def test_messages_of_other_subjects_and_deleted_ones_are_no_gap(session: NatsSession) -> None:
    make(session, "S", subjects=["s.*"])
    for n in range(20):
        send(session, range(n, n + 1), "s.a" if n % 2 else "s.b")
    session.run(lambda client: client.jetstream()._jsm.delete_msg("S", 5))
    assert numbers(session, 0, 20, "s.a") == list(range(2, 21, 2))
    assert numbers(session, 0, 10) == [1, 2, 3, 4, 6, 7, 8, 9, 10]
    # The end of the range has no message of this subject, and nothing comes behind it.
    send(session, range(20, 23), "s.b")
    assert numbers(session, 18, 23, "s.a") == [20]


def test_a_range_goes_on_when_the_broker_is_killed_in_between(session: NatsSession, broker: Broker) -> None:
    make(session, "S", subjects=["s.*"])
    send(session, range(3000))
    reading = read_range(session, "S", None, 0, 3000, False)
    found = [message.sequence for message in next(reading)]
    broker.stop(signal.SIGKILL)
    broker.start()
    found += [message.sequence for batch in reading for message in batch]
    assert found == list(range(1, 3001))


def test_messages_dropped_while_they_are_read_are_noticed(session: NatsSession) -> None:
    make(session, "S", subjects=["s.*"], max_msgs=2000)
    send(session, range(2000))
    reading = read_range(session, "S", None, 0, 2000, False)
    assert [message.sequence for message in next(reading)][-1] == 1000
    send(session, range(2000, 3500))
    with pytest.raises(BrokerError, match="no longer has the messages 1001 to 1500"):
        list(reading)


def test_an_id_that_is_sent_again_is_stored_once(session: NatsSession) -> None:
    make(session, "S", subjects=["s.*"])
    send(session, range(10))
    send(session, range(5, 15))
    assert stream_state(session, "S") == (1, 15)


def test_a_stream_that_forgets_what_was_read_is_refused(session: NatsSession) -> None:
    make(session, "S", subjects=["s.*"], retention="workqueue")
    with pytest.raises(BrokerError, match="stream-not-replayable"):
        stream_state(session, "S")


def test_what_is_not_there_is_named(session: NatsSession) -> None:
    with pytest.raises(BrokerError) as caught:
        stream_state(session, "NONE")
    assert caught.value.code == "no-stream"
    with pytest.raises(BrokerError) as caught:
        publish(session, [Outgoing(b"", "nowhere", None, {})])
    assert caught.value.code == "no-stream"


def test_a_broker_that_is_not_there_is_named_when_patience_ends(session: NatsSession) -> None:
    silent = NatsSession(NatsServer(("nats://127.0.0.1:1",), patience=0.3))
    with pytest.raises(BrokerError) as caught:
        stream_state(silent, "S")
    silent.close()
    assert caught.value.code == "broker-unreachable"
    assert str(caught.value).startswith(
        "broker-unreachable: NATS at nats://127.0.0.1:1 has not answered for 0.3 s"
    )


@pytest.mark.parametrize(("package", "module"), [("nats", "nats"), ("paho", "mqtt"), ("fastavro", "avro")])
def test_a_missing_package_is_named(package: str, module: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from tocsin.errors import SetupError\n"
        f"try:\n    import tocsin.spark.brokers.{module}\nexcept SetupError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("which is not installed\nhint: pip install 'tocsin[brokers]'\n")
