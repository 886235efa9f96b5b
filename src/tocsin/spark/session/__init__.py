"""Spark sessions on this machine: Java, settings, workers, failures."""

DOORS = (
    "failures",
    "java",
    "session",
    "storage",
)
