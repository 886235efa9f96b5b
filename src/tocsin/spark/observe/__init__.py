"""Observe a stream: counters, records of micro-batches, Prometheus metrics."""

DOORS = (
    "counters",
    "metrics",
    "record",
)
