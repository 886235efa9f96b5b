"""Reading of files and messages into events, inside the workers."""

DOORS = (
    "json_values",
    "parquet_columns",
    "parquet_events",
    "pipeline_events",
)
