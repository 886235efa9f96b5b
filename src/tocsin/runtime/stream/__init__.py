"""Detection in a stream: the state of a shard of keys between micro-batches."""

DOORS = (
    "arrivals",
    "buckets",
    "carry_over",
    "fan_out",
    "rule_book",
    "shard",
    "tally",
)
