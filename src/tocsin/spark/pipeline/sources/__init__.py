"""The sources of a pipeline as one table of events."""

DOORS = (
    "arrow_sources",
    "cells",
    "classify",
    "composites",
    "open",
    "plan_sources",
    "streams",
    "text_files",
)
