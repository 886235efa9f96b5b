"""The memory of a shard in Spark's state store, and the figures that a shard reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, MutableMapping
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from tocsin.events.pace import Pace
from tocsin.runtime.moments import LONG_AGO
from tocsin.runtime.stream.buckets import Head
from tocsin.runtime.stream.shard import ShardJob

MEMORY = "buckets"  # the state variable that holds it: buckets by pace group and number, and besides them
HEAD, OUTLINES, RULE_BOOK = (-1, 0), (-1, 1), (-1, 2)
# As types and not as text, which each task would have Java parse, four times in every micro-batch.
_PLACE = T.StructType(
    [T.StructField("pace_group", T.IntegerType()), T.StructField("bucket", T.IntegerType())]
)
_PACKED = T.StructType([T.StructField("packed", T.BinaryType())])
_FIGURES = pa.schema(
    [
        pa.field("shard", pa.int32()),
        *(
            pa.field(name, pa.int64())
            for name in (
                "keys",
                "partial_matches",
                "waiting",
                "bytes",
                "arrived",  # relevant events
                "ahead",  # of these, the ones too far ahead of wall-clock time
                "late",  # the ones too far ahead, and the late ones
                "heard",  # events of the whole micro-batch, in all shards
            )
        ),
        pa.field("until", pa.timestamp("us", tz="UTC")),
        pa.field("oldest", pa.timestamp("us", tz="UTC")),
        pa.field("left_out", pa.list_(pa.string())),
        pa.field("reached", pa.map_(pa.string(), pa.timestamp("us", tz="UTC"))),
        pa.field("matches", pa.map_(pa.string(), pa.int64())),
    ]
)


class Counted(NamedTuple):
    """How many events a shard received in a micro-batch, and how many matches it found."""

    arrived: int = 0
    ahead: int = 0
    late: int = 0
    heard: int = 0
    matches: dict[str, int] = {}  # noqa: RUF012  (never changed)


class Memory(MutableMapping[tuple[int, int], bytes]):
    """Spark's state as a mapping. The heads list the buckets, so they need not be enumerated.

    One state variable holds everything, because each costs Spark several milliseconds in every task.
    """

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._state = handle.getMapState(MEMORY, _PLACE, _PACKED)

    def __getitem__(self, key: tuple[int, int]) -> bytes:
        value = self._state.getValue(key)
        if value is None:
            raise KeyError(key)
        return bytes(value[0])

    def __setitem__(self, key: tuple[int, int], value: bytes) -> None:
        self._state.updateValue(key, (value,))

    def __delitem__(self, key: tuple[int, int]) -> None:
        self._state.removeKey(key)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for key in self._state.keys():  # noqa: SIM118  (no mapping itself)
            yield (key[0], key[1])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def shape_of(job: ShardJob, columns: str) -> bytes:
    """Return a digest of what a memory depends on besides patterns: it is useless with other columns or shards.

    Args:
        columns: the schema of waiting events, if rules may change; otherwise "", as the patterns determine the columns.
    """
    shape = hashlib.blake2b(job.schema, digest_size=16)
    shape.update(repr((job.shards, job.keys, columns)).encode())
    return shape.digest()


def figures(shard: int, heads: list[Head], paces: list[Pace], counted: Counted) -> pa.Table:
    """Return one row with the figures of a shard after a micro-batch."""
    entries = [entry for head in heads for entry in head.entries.values()]
    until = min(head.until for head in heads)
    row = {
        "shard": shard,
        "keys": sum(entry.keys for entry in entries),
        "partial_matches": sum(entry.partial_matches for entry in entries),
        "waiting": sum(entry.waiting for entry in entries),
        "bytes": sum(entry.size for entry in entries),
        **counted._asdict(),
        "matches": list(counted.matches.items()),
        "until": until if until > LONG_AGO else None,
        "oldest": min((entry.oldest for entry in entries if entry.oldest is not None), default=None),
        "left_out": sorted({name for pace in paces for name in pace.left_out}),
        # How far each source that is waited for has come; all paces have received the same marks.
        "reached": [
            (name, moment if moment > LONG_AGO else None)
            for name, moment in sorted({n: m for pace in paces for n, m in pace.reached.items()}.items())
        ],
    }
    return pa.Table.from_pylist([row], _FIGURES)
