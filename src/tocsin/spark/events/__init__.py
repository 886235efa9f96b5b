"""Rows of a Spark table as events: their columns, and predicates on them."""

DOORS = (
    "arrow_predicates",
    "boolean_columns",
    "columns",
    "doubts",
    "event_files",
    "fields",
    "local_tables",
    "naming",
    "predicates",
    "prepare",
    "types_seen",
    "worker_job",
)
