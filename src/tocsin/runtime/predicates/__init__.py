"""Predicates on single events, looked up for many patterns at once."""

DOORS = (
    "at_decision",
    "build",
    "conditions",
    "index",
    "lookup",
    "value_classes",
)
