"""Events packed as Arrow bytes for a shuffle."""

DOORS = (
    "pack",
    "time_chunks",
)
