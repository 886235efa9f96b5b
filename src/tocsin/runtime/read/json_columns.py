"""The arrays that `json_text` reads and fills."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.runtime.program import Array


class Texts(NamedTuple):
    """The values to read."""

    data: Array  # uint8: the bytes of all values
    offsets: Array  # int32 (n + 1,): where each begins
    there: Array  # bool (n,): whether there is a value at all


class Fields(NamedTuple):
    """The fields to fill."""

    names: Array  # uint8: the bytes of all names
    name_offsets: Array  # int32 (fields + 1,): where each begins
    kinds: Array  # int8 (fields,)
    lows: Array  # int64 (fields,): the least whole number
    highs: Array  # int64 (fields,): the largest whole number


class Filled(NamedTuple):
    """The columns that are filled."""

    read: Array  # bool (n,), all false at first: which values were read
    filled: Array  # int8 (fields, n), all ABSENT at first: which fields they have
    numbers: Array  # int64 (fields, n): whole numbers and truths
    starts: Array  # int32 (fields, n): where texts and real numbers begin, as they are written
    stops: Array  # int32 (fields, n): and where they end
