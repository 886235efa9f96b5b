"""Detection over a table: the route it takes, and the job that runs."""

DOORS = (
    "route",
    "shard_numbers",
)
