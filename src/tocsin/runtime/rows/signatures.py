"""The distinct sets of predicate bits that events have: few, however many events there are."""

from __future__ import annotations

import numpy as np

from tocsin.runtime.compiling import kernel
from tocsin.runtime.program import Array

_PLAIN = 1024


def signatures(bits: Array) -> tuple[Array, Array]:
    """For each row of `bits` (uint64, R by words) its index among the distinct rows, and the distinct rows.

    >>> which, distinct = signatures(np.array([[5], [7], [5]], np.uint64))
    >>> which.tolist(), distinct.tolist()
    ([0, 1, 0], [[5], [7]])
    """
    which, first = _numbered(np.ascontiguousarray(bits))
    return which, bits[first]


def narrow_signatures(answers: Array) -> tuple[Array, Array]:
    """Signatures, like `signatures`, of bits that fit a byte (int8): the byte itself is the number, which takes no search.

    >>> which, distinct = narrow_signatures(np.array([2, 1, 2], np.int8))
    >>> which.tolist(), distinct.tolist()
    ([2, 1, 2], [[0], [1], [2]])
    """
    own = answers.view(np.uint8)
    there = np.flatnonzero(_there(own))
    bits = np.zeros(
        (int(there[-1]) + 1 if len(there) else 0, 1), np.uint64
    )  # no bits for bytes that do not occur
    bits[there, 0] = there
    return own.astype(np.int32), bits


@kernel
def _there(values):  # type: ignore[no-untyped-def]
    """Which bytes occur."""
    there = np.zeros(256, np.bool_)
    for value in values:
        there[value] = True
    return there


@kernel
def _numbered(bits):  # type: ignore[no-untyped-def]
    """A number for each row, from 0 in order of first appearance, and the row of that appearance."""
    size = 64
    plain = np.full(_PLAIN, -1, np.int32)  # by the bits themselves, where they are one small number
    while True:
        slots = np.full(size, -1, np.int64)
        which = np.empty(len(bits), np.int32)
        first = np.empty(size, np.int64)
        count = 0
        full = False
        plain[:] = -1
        for row in range(len(bits)):
            small = bits.shape[1] == 1 and bits[row, 0] < _PLAIN
            if small and plain[bits[row, 0]] >= 0:
                which[row] = plain[bits[row, 0]]
                continue
            mixed = np.uint64(1469598103934665603)
            for word in range(bits.shape[1]):
                mixed = (mixed ^ bits[row, word]) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
            at = np.int64(mixed & np.uint64(size - 1))
            while slots[at] >= 0:
                same = True
                for word in range(bits.shape[1]):
                    same = same and bits[first[slots[at]], word] == bits[row, word]
                if same:
                    break
                at = (at + 1) & (size - 1)
            if slots[at] < 0:
                if 2 * (count + 1) > size:
                    full = True
                    break
                slots[at] = count
                first[count] = row
                count += 1
            which[row] = slots[at]
            if small:
                plain[bits[row, 0]] = slots[at]
        if not full:
            return which, first[:count]
        size *= 16
