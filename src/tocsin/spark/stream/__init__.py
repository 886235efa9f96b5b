"""Detection over a streaming DataFrame, with its state in Spark's state store."""

DOORS = (
    "damage",
    "detect_stream",
    "inspect",
    "recall",
    "shard_processor",
    "shared_query",
    "stream_options",
    "stream_plan",
    "stream_query",
)
