"""Rows of a Spark table as events: their columns, and predicates on them."""

DOORS = (
    "arrow_predicates",
    "columns",
    "event_files",
    "fields",
    "predicates",
    "prepare",
    "worker_job",
)
