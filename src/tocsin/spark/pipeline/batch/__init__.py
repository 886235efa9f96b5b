"""Run a pipeline once over the data of its sources."""

DOORS = ("run",)
