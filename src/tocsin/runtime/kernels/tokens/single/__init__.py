"""Each partial match on its own: variables, timers, strong links. `memory` is the interface (see `kernels.protocol`)."""

DOORS = (
    "memory",
    "paths",
    "token",
)
