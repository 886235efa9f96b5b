"""Parquet files that Arrow reads inside the Python tasks."""

DOORS = (
    "path",
    "read_plan",
    "row_groups",
    "time_layout",
)
