"""What a shard of a stream remembers, in Spark's state store, and the figures that are told of it."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from tocsin.errors import InputError
from tocsin.events.pace import Pace, PaceSettings
from tocsin.runtime.buckets import Head
from tocsin.runtime.carry_over import outline
from tocsin.runtime.shard import LONG_AGO, Line, ShardJob
from tocsin.spark.places import shard_places

VERSION = 2  # of what a shard remembers
MEMORY = "buckets"  # the variable of Spark's state that holds it: buckets by line and number, and beside them
HEAD, OUTLINES, RULE_BOOK = (-1, 0), (-1, 1), (-1, 2)
# As types and not as text, which each task would ask Java to read, four times in every micro-batch.
_PLACE = T.StructType([T.StructField("line", T.IntegerType()), T.StructField("bucket", T.IntegerType())])
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
                "arrived",  # events that some pattern looks at
                "ahead",  # those of them too far ahead of the clock
                "late",  # those and the late
                "heard",  # events of the whole micro-batch, in whatever shard
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
    """How much came to a shard in a micro-batch, and what came of it."""

    arrived: int = 0
    ahead: int = 0
    late: int = 0
    heard: int = 0
    matches: dict[str, int] = {}  # noqa: RUF012  (never changed)


class Memory(MutableMapping[tuple[int, int], bytes]):
    """Spark's state as a mapping. Nobody asks which buckets there are: the heads know.

    One variable holds everything, because each costs Spark several milliseconds in every task.
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


def outlines_of(lines: Iterable[Line]) -> bytes:
    """What is kept beside memories, to understand them when patterns change."""
    return pickle.dumps([outline(line) for line in lines], protocol=5)


def begin(memory: Memory, lines: Iterable[Line]) -> None:
    """What a shard writes down before its first events."""
    if next(iter(memory), None) is not None:
        raise _other_version(1)  # which kept its heads elsewhere
    memory[OUTLINES] = outlines_of(lines)


def purpose_of(job: ShardJob, paces: tuple[PaceSettings, ...]) -> tuple[bytes, bytes]:
    """What a memory is for: with other columns or shards it means nothing, for other patterns it can be made to fit."""
    shape = hashlib.blake2b(job.schema, digest_size=16)
    shape.update(repr((job.shards, job.keys)).encode())
    patterns = hashlib.blake2b(repr((job.lines, paces)).encode(), digest_size=16)
    return shape.digest(), patterns.digest()


def known_buckets(heads: list[Head]) -> list[tuple[int, int]]:
    """Every memory there is, by line and bucket."""
    return [(number, bucket) for number, head in enumerate(heads) for bucket in head.entries]


class Home(NamedTuple):
    """Of which shard of which job of a query a memory is."""

    job: int
    shard: int


def home_at(job: ShardJob, key: tuple[Any, ...]) -> Home:
    """The shard that Spark has put at a place, in a query of one job."""
    return Home(0, shard_places(job.shards).index(int(key[0])))


def head_bytes(home: Home, purpose: tuple[bytes, bytes], heads: list[Head], paces: list[Pace]) -> bytes:
    """What is known of a shard without its buckets."""
    return pickle.dumps((VERSION, home, purpose, heads, paces), protocol=5)


def remembered_figures(head: bytes, operator: int) -> pa.Table:
    """The figures of a shard from the head that a checkpoint holds of it; several jobs are one operator, or several are."""
    home, _, heads, paces = _readable(head)
    own = figures(home.shard, heads, paces, Counted())
    return own.add_column(0, "job", pa.array([operator + home.job]))


def remembered(data: bytes, shape: bytes) -> tuple[tuple[bytes, bytes], list[Head], list[Pace]]:
    """What a head says, if it is of the same columns and shards."""
    _, purpose, heads, paces = _readable(data)
    if purpose[0] != shape:
        raise InputError(
            "other-checkpoint",
            "this checkpoint is of other columns or another number of shards, with rules that change or without",
            hint="go back to what it was made with, or start from a fresh checkpoint",
        )
    return purpose, heads, paces


def _readable(data: bytes) -> tuple[Home, tuple[bytes, bytes], list[Head], list[Pace]]:
    """What a head says: of which shard it is, its purpose, and of each line buckets and time."""
    version, *others = pickle.loads(data)
    if version != VERSION:
        raise _other_version(version)
    home, purpose, heads, paces = others
    return home, purpose, heads, paces


def _other_version(version: int) -> InputError:
    return InputError(
        "checkpoint-version",
        f"this checkpoint has version {version}, and this tocsin reads version {VERSION}",
        hint="start from a fresh checkpoint, or use the tocsin that wrote it",
    )


def figures(shard: int, heads: list[Head], paces: list[Pace], counted: Counted) -> pa.Table:
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
        # How far each source that is waited for has come; all paces heard the same.
        "reached": [
            (name, moment if moment > LONG_AGO else None)
            for name, moment in sorted({n: m for pace in paces for n, m in pace.reached.items()}.items())
        ],
    }
    return pa.Table.from_pylist([row], _FIGURES)
