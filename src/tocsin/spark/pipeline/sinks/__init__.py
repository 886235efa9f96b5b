"""Sinks of a pipeline: files, brokers, the targets of a stream."""

DOORS = (
    "ownership",
    "quiet",
    "rule_rows",
    "stream_targets",
    "write_files",
)
