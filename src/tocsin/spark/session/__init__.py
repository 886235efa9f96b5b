"""Spark sessions on this machine: Java, settings, workers, failures."""

DOORS = (
    "advice",
    "allowed_settings",
    "ending",
    "failures",
    "java",
    "run_folder",
    "session",
    "storage",
    "worker_python",
)
