"""Messages from and to Kafka, NATS JetStream and MQTT, as Spark tables and streams.

`kafka.py` uses Spark's own connector, `nats.py` and `mqtt.py` are Python data sources and sinks, `values.py` and
`avro.py` turn the bytes of a message into an event and back. Whatever the broker, a message is one row:

| column | Kafka | NATS JetStream | MQTT |
|---|---|---|---|
| `value` binary | value | payload | payload |
| `key` binary | key | null | null |
| `topic` string | topic | subject | topic |
| `partition` int | partition | 0 | 0 |
| `sequence` long | offset in the partition | sequence in the stream | number in the spool |
| `arrived` timestamp | timestamp of the message | when the stream stored it | when the spool stored it |
| `headers` map<string, string> | headers | headers | user properties |

If a header occurs twice, the last one counts. `topic`, `partition` and `sequence` together identify a message.

Tables to be written have a column `value` and optionally `topic`, `id` and `headers`, and for Kafka `key`.
docs/reference/brokers.md describes the options and the delivery guarantees.
"""

DOORS = (
    "avro",
    "kafka",
    "message",
    "mqtt",
    "mqtt_client",
    "nats",
    "nats_client",
)
