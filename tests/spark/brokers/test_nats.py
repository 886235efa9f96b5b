"""NATS JetStream with Spark, on a real server."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from support.broker_queries import failure, rows, run_available, start, wait_for_rows
from support.brokers import Broker, Certificates, nats_server
from tocsin.errors import InputError
from tocsin.spark.brokers.message import Access, Outgoing
from tocsin.spark.brokers.nats import NatsInput, nats_sink, read_nats, stream_nats, write_nats
from tocsin.spark.brokers.nats_client import NatsServer, NatsSession, publish

pytestmark = [pytest.mark.slow, pytest.mark.spark]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    with nats_server(tmp_path / "nats") as broker:
        yield broker


def server_of(broker: Broker, access: Access = Access(), scheme: str = "nats") -> NatsServer:
    return NatsServer((f"{scheme}://127.0.0.1:{broker.port}",), access, patience=20)


def make_stream(server: NatsServer, name: str, subjects: list[str], **limits: int) -> None:
    session = NatsSession(server)
    session.run(lambda client: client.jetstream().add_stream(name=name, subjects=subjects, **limits))
    session.close()


def send(server: NatsServer, numbers: range, subject: str = "doors.front") -> None:
    session = NatsSession(server)
    publish(session, [Outgoing(str(n).encode(), subject, None, {}) for n in numbers])
    session.close()


def texts(numbers: range) -> list[str]:
    return sorted(str(n) for n in numbers)


def test_a_restarted_query_goes_on_where_it_was(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    make_stream(server, "DOORS", ["doors.*"])
    send(server, range(500))
    messages = stream_nats(spark, server, NatsInput("DOORS", max_per_batch=200))
    # Back-pressure: no micro-batch has more than was asked for.
    assert run_available(messages, tmp_path) == [200, 200, 100]
    send(server, range(500, 800))
    assert run_available(messages, tmp_path) == [200, 100]
    assert rows(spark, tmp_path, "value") == texts(range(800))
    assert rows(spark, tmp_path, "sequence") == list(range(1, 801))


def test_a_batch_that_failed_is_read_again_the_same(
    spark: SparkSession, broker: Broker, checkpoint: Path
) -> None:
    server = server_of(broker)
    make_stream(server, "DOORS", ["doors.*"])
    send(server, range(30))
    seen: list[tuple[int, list[int]]] = []

    def note(batch: object, number: int) -> None:
        seen.append((number, sorted(row.sequence for row in batch.collect())))  # type: ignore[attr-defined]
        if len(seen) == 2:
            raise RuntimeError("the power is cut")

    messages = stream_nats(spark, server, NatsInput("DOORS", max_per_batch=20))
    writer = messages.writeStream.foreachBatch(note).option("checkpointLocation", str(checkpoint))
    with pytest.raises(Exception, match="the power is cut"):
        writer.trigger(availableNow=True).start().awaitTermination(60)
    # More has come meanwhile; the batch that is run again must not have it.
    send(server, range(30, 35))
    writer.trigger(availableNow=True).start().awaitTermination(60)
    first, second, third = list(range(1, 21)), list(range(21, 31)), list(range(31, 36))
    assert seen == [(0, first), (1, second), (1, second), (2, third)]


def test_a_broker_that_is_killed_and_started_again(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    server = server_of(broker)
    make_stream(server, "DOORS", ["doors.*"])
    send(server, range(100))
    query = start(stream_nats(spark, server, NatsInput("DOORS")), tmp_path, processingTime="200 milliseconds")
    wait_for_rows(spark, query, tmp_path, 100)
    broker.stop(signal.SIGKILL)
    broker.start()
    send(server, range(100, 250))
    wait_for_rows(spark, query, tmp_path, 250)
    query.stop()
    assert rows(spark, tmp_path, "value") == texts(range(250))


def test_written_messages_come_back_once(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    make_stream(server, "DOORS", ["doors.*"])
    table = spark.range(10).select(
        F.concat(F.lit("event "), F.col("id")).alias("value"),
        F.when(F.col("id") < 4, "doors.back").alias("topic"),
        F.col("id").cast("string").alias("id"),
        F.create_map(F.lit("unit"), F.lit("°C")).alias("headers"),
    )
    write_nats(table, server, "doors.front")
    write_nats(table, server, "doors.front")
    back = read_nats(spark, server, NatsInput("DOORS"))
    assert back.count() == 10
    found = back.where("topic = 'doors.back'").orderBy("value").collect()
    assert [bytes(row.value) for row in found] == [b"event 0", b"event 1", b"event 2", b"event 3"]
    assert found[0].headers == {"unit": "°C", "Nats-Msg-Id": "0"}
    assert (found[0].key, found[0].partition) == (None, 0)
    only = read_nats(spark, server, NatsInput("DOORS", subject="doors.front"))
    assert only.count() == 6


def test_a_stream_is_copied_to_another(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    server = server_of(broker)
    make_stream(server, "DOORS", ["doors.*"])
    make_stream(server, "ALARMS", ["alarms"])
    send(server, range(2000))
    messages = stream_nats(spark, server, NatsInput("DOORS", max_per_batch=700)).select(
        "value", F.col("sequence").cast("string").alias("id")
    )
    writer = nats_sink(messages, server, "alarms").option("checkpointLocation", str(tmp_path / "checkpoint"))
    assert writer.trigger(availableNow=True).start().awaitTermination(60)
    copied = read_nats(spark, server, NatsInput("ALARMS")).select("value").collect()
    assert sorted(bytes(row.value).decode() for row in copied) == texts(range(2000))


def test_messages_dropped_unread_are_an_error_or_left_out(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    server = server_of(broker)
    make_stream(server, "SHORT", ["short"], max_msgs=50)
    send(server, range(20), "short")
    assert run_available(stream_nats(spark, server, NatsInput("SHORT")), tmp_path) == [20]
    send(server, range(20, 120), "short")
    assert failure(stream_nats(spark, server, NatsInput("SHORT")), tmp_path) == (
        "messages-gone: the stream SHORT no longer has the messages 21 to 70: it dropped them before they were read\n"
        "hint: let the stream keep more (max_age, max_msgs, max_bytes), or go on without them with missing='skip'"
    )
    assert run_available(stream_nats(spark, server, NatsInput("SHORT", missing="skip")), tmp_path) == [50]
    assert rows(spark, tmp_path, "sequence") == [*range(1, 21), *range(71, 121)]


def test_passwords_and_certificates(spark: SparkSession, certificates: Certificates, tmp_path: Path) -> None:
    right = Access(user="tocsin", password="open sesame", ca=str(certificates.ca))
    with nats_server(tmp_path / "nats", password="open sesame", tls=certificates) as broker:
        server = server_of(broker, right)
        make_stream(server, "DOORS", ["doors.*"])
        send(server, range(5))
        assert read_nats(spark, server, NatsInput("DOORS")).count() == 5
        wrong = server_of(broker, Access(user="tocsin", password="guess", ca=str(certificates.ca)))
        assert failure(stream_nats(spark, wrong, NatsInput("DOORS")), tmp_path / "a") == (
            f"broker-refused: NATS at nats://127.0.0.1:{broker.port} refuses the connection: nats: 'Authorization Violation'\n"
            "hint: check user, password or token, and what they may read and write"
        )
        stranger = server_of(
            broker, Access(user="tocsin", password="open sesame", ca=str(certificates.other_ca))
        )
        told = failure(stream_nats(spark, stranger, NatsInput("DOORS")), tmp_path / "b")
        assert told.startswith(
            f"broker-not-trusted: no TLS connection to NATS at nats://127.0.0.1:{broker.port}"
        )
        assert told.count("\n") == 1


@pytest.mark.parametrize(
    "what",
    [NatsInput("S", starting="erliest"), NatsInput("S", max_per_batch=0), NatsInput("S", missing="panic")],
)
def test_bad_options_are_refused_at_once(spark: SparkSession, what: NatsInput) -> None:
    with pytest.raises(InputError) as caught:
        stream_nats(spark, NatsServer(("nats://127.0.0.1:1",)), what)
    assert caught.value.code == "bad-option"
    assert caught.value.hint


def test_a_column_that_would_not_be_sent_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InputError, match="a message to this broker has no 'key'"):
        write_nats(spark.range(1).selectExpr("'x' as value", "'k' as key"), NatsServer(("nats://x",)), "s")
