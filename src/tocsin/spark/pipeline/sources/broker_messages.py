"""The messages of a broker as lines of events: each one is counted as an event, even if it cannot be read."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.spark.pipeline.added_columns import BLOCK, FILE, ROW, TEXT
from tocsin.spark.pipeline.file.broker import Feed
from tocsin.spark.pipeline.file.model import Pipeline, Source
from tocsin.spark.pipeline.sources.text_files import MALFORMED, Lines, parse_lines


def stream_messages(session: SparkSession, pipeline: Pipeline, name: str, feed: Feed) -> DataFrame:
    """Return the messages of a source as a stream; `name` is that of the source."""
    # Only who uses a broker needs its client.
    connection = feed.connection
    most = {} if feed.max_messages is None else {"max_per_batch": feed.max_messages}
    if connection.format == "nats":
        from tocsin.spark.brokers.nats import NatsInput, stream_nats

        subject = feed.topics[0] if feed.topics else None
        read = NatsInput(feed.jetstream, subject, starting=feed.starting, missing=feed.missing, **most)
        return stream_nats(session, connection.nats(), read)
    if connection.format == "kafka":
        from tocsin.spark.brokers.kafka import KafkaInput, stream_kafka

        topics = KafkaInput(feed.topics, feed.starting, missing=feed.missing, **most)
        return stream_kafka(session, connection.kafka(), topics)
    from tocsin.spark.brokers.mqtt import MqttInput, stream_mqtt

    assert pipeline.stream is not None
    # What was acknowledged and what was used belong together.
    spool = feed.spool or f"{pipeline.stream.checkpoint}/tocsin/spool/{name}"
    filters = MqttInput(feed.topics, spool)
    if feed.max_messages is not None:
        filters = replace(filters, max_per_batch=feed.max_messages)
    return stream_mqtt(session, connection.mqtt(), filters)


def message_lines(messages: DataFrame, source: Source) -> Lines:
    """Convert messages to lines: the topic takes the place of the file, the number of the message that of the line."""
    feed = source.feed
    assert feed is not None
    # As the address of a file would be, which outputs read again.
    file = F.replace(F.url_encode(_topic(feed)), F.lit("+"), F.lit("%20"))
    place = [file.alias(FILE), F.col("partition").cast("long").alias(BLOCK), F.col("sequence").alias(ROW)]
    if feed.value == "json":
        frame = messages.select(F.col("value").cast("string").alias(TEXT), *place)
    else:
        from tocsin.spark.brokers.avro import read_avro

        assert feed.avro_schema is not None
        read = read_avro(messages, feed.avro_schema, registry_header=feed.registry_header)
        text = F.when(F.col("problem").isNull(), F.to_json("event")).otherwise(F.base64("value"))
        frame = read.select(text.alias(TEXT), *place, F.col("problem").alias(MALFORMED))
    return replace(parse_lines(frame, source, None), messages=True)


def _topic(feed: Feed) -> Column:
    """Return the topic of a message, for Kafka with the partition, because offsets are unique only within one."""
    if feed.connection.format != "kafka":
        return F.col("topic")
    return F.concat_ws("/", F.col("topic"), F.col("partition").cast("string"))
