"""Tables that grow inside a kernel, and rows that are copied there.

They are copied by loops: for the assignment of a slice numba also compiles the message of an error, about shapes that do not
fit, which takes a second for each kind of table.
"""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel


@kernel
def grown(old, size):  # type: ignore[no-untyped-def]
    """A table with room for `size` rows that begins with the rows of `old`."""
    new = np.empty((size, old.shape[1]), old.dtype)
    for row in range(len(old)):
        for column in range(old.shape[1]):
            new[row, column] = old[row, column]
    return new


@kernel
def copy_row(values, into):  # type: ignore[no-untyped-def]
    """Copy the values of a row into another one of the same length."""
    for at in range(len(into)):
        into[at] = values[at]
