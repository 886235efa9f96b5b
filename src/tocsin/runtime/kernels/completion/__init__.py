"""Each key has one state in a table, and registers that hold events. `memory` is the interface (see `kernels.protocol`)."""

DOORS = ("table",)
