"""Streams whose rules change while they run."""

DOORS = (
    "compile_rules",
    "folder",
    "rule_plan",
)
