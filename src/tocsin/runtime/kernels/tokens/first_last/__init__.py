"""Finds the first n or the last match of each moment and no others. `memory` is the interface (see `kernels.protocol`)."""
