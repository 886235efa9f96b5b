"""Tables that grow inside a kernel."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel


@kernel
def grown(old, size):  # type: ignore[no-untyped-def]
    """A table with room for `size` rows that begins with the rows of `old`."""
    new = np.empty((size, old.shape[1]), old.dtype)
    new[: len(old)] = old
    return new
