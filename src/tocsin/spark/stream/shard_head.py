"""The state of a shard besides its buckets, in a versioned layout (see `runtime.encoding`).

`head`, written after every micro-batch:

| field | value |
|---|---|
| home | (number of the job, number of the shard) |
| purpose | (digest of columns and shards, digest of patterns and paces), 16 bytes each |
| heads | for each pace group (decided until, bits of the hash that number buckets, buckets) |
| paces | for each pace group the values of `events.pace.Pace.plain` |

A bucket is (number, wakeup or nil, bytes, keys, partial matches, waiting events, end of its oldest event or nil). Moments are
microseconds since 1970 UTC.

`outlines`, written when patterns change: for each pace group (used as they arrive, {identity of a subscription:
(numbers of its detectors, …)}, (predicate of each bit as text, …), words of bits).

`runtime.stream.shard` defines the buckets themselves, and `runtime.stream.rule_book` the book of rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tocsin.errors import InputError
from tocsin.events.pace import Pace
from tocsin.runtime.encoding import decode, encode
from tocsin.runtime.stream.buckets import Entry, Head
from tocsin.runtime.stream.carry_over import Outline, outline
from tocsin.runtime.stream.shard import PaceGroup
from tocsin.spark.stream.damage import reading

VERSION = 4  # of the head, and of the outlines
_HEAD, _OUTLINES = "head", "outlines"


class Home(NamedTuple):
    """The job and shard of a query that a memory belongs to."""

    job: int
    shard: int


class ShardHead(NamedTuple):
    """The state of a shard without its buckets."""

    home: Home
    purpose: tuple[bytes, bytes]
    heads: list[Head]
    paces: list[Pace]


def head_bytes(head: ShardHead) -> bytes:
    """Encode a head for the checkpoint."""
    plain = (
        tuple(head.home),
        head.purpose,
        tuple(_plain_head(one) for one in head.heads),
        tuple(pace.plain() for pace in head.paces),
    )
    # It is small, and every shard writes it after every micro-batch.
    return encode(plain, kind=_HEAD, version=VERSION, packed=False)


def read_head(data: bytes) -> ShardHead:
    """Decode a head written by `head_bytes`; raise an error for another version."""
    with reading("the head of a shard"):
        home, (shape, patterns), heads, paces = decode(data, kind=_HEAD, version=VERSION)
        return ShardHead(
            Home(*home),
            (shape, patterns),
            [_head(one) for one in heads],
            [Pace.of_plain(one) for one in paces],
        )


def _plain_head(head: Head) -> tuple[Any, ...]:
    buckets = (
        (int(bucket), *(None if value is None else int(value) for value in entry))
        for bucket, entry in head.entries.items()
    )
    return int(head.until), int(head.bits), tuple(buckets)


def _head(plain: tuple[Any, ...]) -> Head:
    until, bits, buckets = plain
    return Head(until, bits, {bucket: Entry(*entry) for bucket, *entry in buckets})


def outline_bytes(groups: Iterable[PaceGroup]) -> bytes:
    """Encode for the checkpoint what is needed of patterns to interpret memories made with them."""
    plain = []
    for at_once, detectors, predicates, words in map(outline, groups):
        own = {known: tuple(map(int, numbers)) for known, numbers in detectors.items()}
        plain.append((bool(at_once), own, tuple(predicates), int(words)))
    return encode(tuple(plain), kind=_OUTLINES, version=VERSION)


def read_outlines(data: bytes) -> list[Outline]:
    """Decode outlines written by `outline_bytes`."""
    with reading("the outlines of a shard"):
        return [
            Outline(at_once, dict(detectors), predicates, words)
            for at_once, detectors, predicates, words in decode(data, kind=_OUTLINES, version=VERSION)
        ]


def no_head() -> InputError:
    """Return the error for a memory without a head, which only version 1 wrote."""
    return InputError(
        "checkpoint-version",
        f"this checkpoint has version 1; this build of tocsin reads version {VERSION}",
        hint="go on with the version of tocsin that wrote it, or start with a new checkpoint folder",
    )
