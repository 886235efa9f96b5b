"""Detection over a complete set of events: one call per partition, shard or chunk of Parquet."""

DOORS = (
    "chain_rows",
    "count_uses",
    "hold_back",
    "leftmost_chain",
    "looked_up_events",
    "parquet_chunks",
    "partition",
)
