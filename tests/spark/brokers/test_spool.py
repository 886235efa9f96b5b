"""What stands between MQTT and a query that is killed: the spool, and the receiver that fills it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.brokers import Broker, mosquitto, wait_until
from tocsin.errors import BrokerError
from tocsin.spark.brokers.message import Message, Outgoing
from tocsin.spark.brokers.mqtt_client import MqttServer, Receiver, publish
from tocsin.spark.brokers.spool import Spool

pytestmark = pytest.mark.slow

# Receives into a spool until it is killed.
RECEIVE = """
import sys, time
from tocsin.spark.brokers.mqtt_client import MqttServer, Receiver
from tocsin.spark.brokers.spool import Spool
spool = Spool(sys.argv[1])
receiver = Receiver(MqttServer("127.0.0.1", int(sys.argv[2])), ["doors/#"], spool.client(), spool, 1_000_000)
receiver.ready.wait(30)
print("ready", flush=True)
while True:
    receiver.check()
    time.sleep(0.05)
"""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with mosquitto(tmp_path / "mqtt") as broker:
        yield broker


def message(text: str) -> Message:
    return Message(text.encode(), "doors/front", 0, 0, {"a": "b"})


def test_numbers_go_on_after_what_was_forgotten(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    spool.append([message("a"), message("b"), message("c")])
    assert [(m.sequence, m.value, m.headers) for m in spool.between(1, 3)] == [
        (2, b"b", {"a": "b"}),
        (3, b"c", {"a": "b"}),
    ]
    spool.forget(3)
    name = spool.client()
    spool.close()
    again = Spool(str(tmp_path))
    assert (again.last, again.waiting, again.client()) == (3, 0, name)
    again.append([message("d")])
    assert [m.sequence for m in again.between(3, 4)] == [4]
    with pytest.raises(BrokerError, match="spool-lost"):
        again.between(2, 4)
    again.close()


def test_a_spool_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrokerError, match="spool-failed") as caught:
        Spool(str(tmp_path / "file" / "spool"))
    assert caught.value.hint


def test_a_receiver_killed_at_any_moment_loses_nothing(broker: Broker, tmp_path: Path) -> None:
    server = MqttServer("127.0.0.1", broker.port)
    folder = str(tmp_path / "spool")
    sent = 0
    for kill in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", RECEIVE, folder, str(broker.port)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            # The kill comes while the messages arrive: publish returns when the broker has them, not the spool.
            publish(server, [outgoing(n) for n in range(sent, sent + 500)], False)
            sent += 500
            process.send_signal(signal.SIGKILL)
        # These come while nobody receives.
        publish(server, [outgoing(n) for n in range(sent, sent + 50 * kill)], False)
        sent += 50 * kill
    spool = Spool(folder)
    receiver = Receiver(server, ["doors/#"], spool.client(), spool, 1_000_000)
    wanted = {str(n).encode() for n in range(sent)}

    def all_there() -> bool:
        receiver.check()
        return {m.value for m in spool.between(0, spool.last)} == wanted

    wait_until(all_there, "every message is in the spool")
    receiver.stop()
    spool.close()


def outgoing(number: int) -> Outgoing:
    return Outgoing(str(number).encode(), "doors/front", None, {})


def test_a_full_spool_takes_no_more_until_spark_commits(broker: Broker, tmp_path: Path) -> None:
    server = MqttServer("127.0.0.1", broker.port)
    spool = Spool(str(tmp_path / "spool"))
    receiver = Receiver(server, ["doors/#"], spool.client(), spool, 300)
    assert receiver.ready.wait(30)
    publish(server, [outgoing(n) for n in range(2000)], False)
    wait_until(lambda: spool.waiting == 300, "the spool is full")
    for through in range(300, 2000, 300):
        spool.forget(through)
        wait_until(lambda through=through: spool.last == min(through + 300, 2000), "the next are spooled")  # type: ignore[misc]
    assert [m.value for m in spool.between(1800, 2000)] == [str(n).encode() for n in range(1800, 2000)]
    receiver.stop()
    spool.close()
