"""Sinks of a pipeline: files, brokers, the targets of a stream."""

DOORS = (
    "stream_targets",
    "write_files",
)
