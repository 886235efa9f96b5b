"""The jobs of a pipeline, the checks that need them, and the columns of its events."""

DOORS = (
    "check_needs",
    "check_stream",
    "jobs",
    "schema",
)
