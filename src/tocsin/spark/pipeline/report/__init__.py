"""Progress of a run, and the report at its end."""

DOORS = (
    "match_text",
    "progress",
    "report",
)
