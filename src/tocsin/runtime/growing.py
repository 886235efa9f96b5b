"""Tables that grow inside a kernel."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True)
def grown(old, size):  # type: ignore[no-untyped-def]
    """A table with room for `size` rows, the first of which are those there were."""
    new = np.empty((size, old.shape[1]), old.dtype)
    new[: len(old)] = old
    return new
