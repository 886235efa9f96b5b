"""Counts the matches an event completes without listing them. `memory` is the interface (see `kernels.protocol`)."""
