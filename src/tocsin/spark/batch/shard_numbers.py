"""Numbers that Spark's hash partitioning sends to chosen partitions: shard 3 to partition 3, and so on.

Spark hashes an integer column with Murmur3 and seed 42, modulo the number of partitions. With the shard numbers
themselves, several shards would share a partition and other partitions would stay empty.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

_Words = np.ndarray[Any, np.dtype[np.uint32]]


def shard_places(shards: int, job: int = 0) -> list[int]:
    """Return for each shard a number that hashes to the partition of that index; each job has numbers of its own."""
    return _all_places(shards, job + 1)[job]


@cache
def _all_places(shards: int, jobs: int) -> list[list[int]]:
    """Return, as one list per job, the first numbers that hash to each partition."""
    found: list[list[int]] = [[] for _ in range(shards)]
    first = 0
    while min(map(len, found)) < jobs:
        numbers = np.arange(first, first + 4 * shards * jobs + 64, dtype=np.uint32)
        for number, partition in zip(numbers.tolist(), _partitions(numbers, shards).tolist(), strict=True):
            found[partition].append(number)
        first += len(numbers)
    return [[numbers[job] for numbers in found] for job in range(jobs)]


def _partitions(numbers: _Words, partitions: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return _murmur3(numbers).astype(np.int32).astype(np.int64) % partitions


def _murmur3(numbers: _Words) -> _Words:
    """Hash each number as Spark does: Murmur3, 32 bits, seed 42."""

    def rotated(words: _Words, by: int) -> _Words:
        return (words << np.uint32(by)) | (words >> np.uint32(32 - by))

    mixed = rotated(numbers * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed = rotated(mixed ^ np.uint32(42), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed ^= np.uint32(4)  # the length of the hashed integer in bytes
    mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return mixed ^ (mixed >> np.uint32(16))
