"""The memory of a shard, cut into buckets of keys, so that only buckets that a micro-batch touches are read and written.

A shard begins with one bucket. When its memory grows, every bucket is cut in two by one more bit of the hash of its keys. The
*head* is small, is written each time, and records the size of every bucket and when something in it is due: other buckets
need not be read.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tocsin.runtime.program import Array
from tocsin.runtime.stream.shard import (
    ShardJob,
    advance,
    buckets_of,
    late_error,
    parted,
    relevant,
    split,
    with_reason,
)

GROWN = 1 << 20  # buckets are cut when they have more bytes than this on average
MOST_BITS = 12

Store = MutableMapping[tuple[int, int], bytes]  # the memories, by pace group and bucket


class Entry(NamedTuple):
    """The record of a bucket in the head."""

    wakeup: int | None
    size: int  # bytes
    keys: int
    partial_matches: int
    waiting: int
    oldest: int | None  # end of the oldest event in the state


class Head(NamedTuple):
    """The records of all buckets of one pace group."""

    until: int
    bits: int = 0  # bits of the hash of a key that select its bucket
    entries: dict[int, Entry] = {}  # noqa: RUF012  (never changed: a new head has a new one)


class Step(NamedTuple):
    """The result of a micro-batch for one pace group."""

    head: Head
    matches: list[pa.Table]
    late: pa.Table | None  # with the reason
    repeated: list[pa.Table]


def step(job: ShardJob, number: int, head: Head, store: Store, arrived: pa.Table | None, until: int) -> Step:
    """Feed arrived events to one pace group of a shard, and advance the watermark to `until`."""
    group = job.groups[number]
    too_late = None
    if arrived is not None:
        # Where rules may change, all events wait, to be decided by the rules that are in force then.
        arrived = relevant(group, arrived) if len(job.groups) > 1 and not group.asks else arrived
        if not group.at_once:
            arrived, late = parted(arrived, head.until)
            late = relevant(group, late) if group.asks and late.num_rows else late
            if late.num_rows and job.late == "fail":
                raise late_error(late, head.until)
            too_late = with_reason(late, head.until) if late.num_rows else None
    until = max(until, head.until)
    entries = dict(head.entries)
    found: list[pa.Table] = []
    repeated: list[pa.Table] = []
    for bucket, own in _touched(job, head, arrived, until).items():
        done = advance(job, group, store.get((number, bucket)), own, until)
        if done.matches.num_rows:
            found.append(done.matches)
        if done.repeated is not None:
            repeated.append(done.repeated)
        if done.memory is None:
            store.pop((number, bucket), None)
            entries.pop(bucket, None)
        else:
            store[number, bucket] = done.memory
            entries[bucket] = Entry(
                done.wakeup,
                len(done.memory),
                done.keys,
                done.partial_matches,
                done.waiting,
                done.oldest,
            )
    after = Head(until, head.bits, entries)
    return Step(_cut(job, number, after, store), found, too_late, repeated)


def _touched(job: ShardJob, head: Head, arrived: pa.Table | None, until: int) -> dict[int, pa.Table | None]:
    """The buckets for which events arrived or something is due, with the events that arrived."""
    touched: dict[int, pa.Table | None] = {}
    if arrived is not None and arrived.num_rows:
        for bucket, rows in _by_bucket(buckets_of(job, arrived, head.bits)):
            touched[bucket] = arrived.take(pa.array(rows)) if head.bits else arrived
    for bucket, entry in head.entries.items():
        if entry.wakeup is not None and entry.wakeup <= until:
            touched.setdefault(bucket, None)
    return touched


def _by_bucket(buckets: Array) -> list[tuple[int, Array]]:
    order = np.argsort(buckets, kind="stable")
    numbers, first = np.unique(buckets[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(order, first[1:]), strict=True))


def _cut(job: ShardJob, number: int, head: Head, store: Store) -> Head:
    """Cut every bucket in two until they are small enough."""
    while (
        job.keys and head.bits < MOST_BITS and sum(e.size for e in head.entries.values()) > GROWN << head.bits
    ):
        entries: dict[int, Entry] = {}
        for bucket, entry in head.entries.items():
            parts = split(job, job.groups[number], store.pop((number, bucket)), head.bits)
            for one, memory in zip((bucket, bucket | 1 << head.bits), parts, strict=True):
                if memory is not None:
                    store[number, one] = memory
                    # Each half may be due when the whole was; it gets exact numbers when it is next touched.
                    entries[one] = Entry(
                        entry.wakeup,
                        len(memory),
                        entry.keys // 2,
                        entry.partial_matches // 2,
                        entry.waiting // 2,
                        entry.oldest,
                    )
        head = Head(head.until, head.bits + 1, entries)
    return head
