"""Partial matches that wait in the same states advance together. `memory` is the interface (see `kernels.protocol`)."""

DOORS = (
    "eligible",
    "enumerate",
    "machine",
    "memory",
    "letter_tables",
)
