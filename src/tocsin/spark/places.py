"""Which numbers Spark's partitioning by hash sends where, so that each shard gets a partition of its own."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


@cache
def shard_places(shards: int) -> list[int]:
    """For each shard a number that Spark's partitioning by hash sends to the partition of the shard's number.

    Spark hashes a column of whole numbers with Murmur3 and the seed 42, and takes the rest by the number of partitions. With
    the shard numbers themselves, several shards would share a partition and others stay empty.
    """
    places = np.full(shards, -1, np.int64)
    first = 0
    while (places < 0).any():
        numbers = np.arange(first, first + 4 * shards + 64, dtype=np.uint32)
        partitions = _murmur3(numbers).astype(np.int32).astype(np.int64) % shards
        # Backwards, so that of several numbers the first is kept, and the places do not depend on how many are tried.
        new = np.full(shards, -1, np.int64)
        new[partitions[::-1]] = numbers[::-1]
        places = np.where(places < 0, new, places)
        first += len(numbers)
    return [int(place) for place in places]


def _murmur3(numbers: np.ndarray[Any, np.dtype[np.uint32]]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The hash of each number as Spark computes it: Murmur3, 32 bits, seed 42."""

    def rotated(words: np.ndarray[Any, np.dtype[np.uint32]], by: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
        return (words << np.uint32(by)) | (words >> np.uint32(32 - by))

    mixed = rotated(numbers * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed = rotated(mixed ^ np.uint32(42), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed ^= np.uint32(4)  # the length of a whole number in bytes
    mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return mixed ^ (mixed >> np.uint32(16))
