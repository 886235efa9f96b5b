"""Observe a stream: counters, records of micro-batches, Prometheus metrics."""

DOORS = (
    "counters",
    "few",
    "metrics",
    "record",
    "task_reports",
)
