"""Read and check the pipeline file; the result is plain values."""

DOORS = (
    "broker",
    "document",
    "model",
    "read",
    "read_events",
    "read_outputs",
    "read_patterns",
    "read_senders",
    "rename_types",
    "section",
    "warnings",
)
