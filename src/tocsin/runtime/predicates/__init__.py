"""Predicates on single events, looked up for many patterns at once."""

DOORS = (
    "at_decision",
    "build",
    "conditions",
    "derived",
    "formula",
    "index",
    "lookup",
    "value_classes",
)
