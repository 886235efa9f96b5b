"""Reading of files and messages into events, inside the workers."""

DOORS = (
    "json_values",
    "parquet_columns",
    "parquet_events",
    "parquet_scan",
    "parquet_tables",
    "pipeline_events",
    "unreadable",
    "xml_documents",
)
