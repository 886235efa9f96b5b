"""The events of the workloads: generated from a seed, the same on every machine, cached for the next run.

Each key sees an event every two seconds on average, however many events and keys there are, so a window of a minute holds
about thirty events of a key. Times are milliseconds, and no two events of a key share one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from tocsin.errors import InputError

Array = np.ndarray[Any, Any]

SEED = 20261115
SHARES = {"A": 0.05, "B": 0.10, "C": 0.05, "D": 0.10, "E": 0.10, "F": 0.15, "G": 0.20, "H": 0.25}
"""How often each type comes. The patterns look at A, B and C: a fifth of the events."""

_BEGIN = 1_700_000_000_000  # milliseconds since 1970
_GAP = 2_000.0  # milliseconds between two events of a key
_JITTER, _JITTER_ALONE = 50.0, 1_500.0  # milliseconds; the second for events of one key
_ROW_GROUP = 250_000  # rows; small enough that all cores get a share of a million
_VERSION = 1  # of the files; changed contents must not meet old files
MAX_ROWS, MAX_KEYS = 1_000_000_000, 10_000_000


@dataclass(frozen=True)
class EventSet:
    """The parameters that determine the contents of the event files."""

    rows: int
    keys: int
    seed: int = SEED
    shares: tuple[tuple[str, float], ...] = field(default=tuple(SHARES.items()))

    def __post_init__(self) -> None:
        for name, value, most in (("rows", self.rows, MAX_ROWS), ("keys", self.keys, MAX_KEYS)):
            if not 1 <= value <= most:
                raise InputError("bad-option", f"{name} cannot be {value:,}", hint=f"1 to {most:,}")

    @property
    def name(self) -> str:
        """A name for files and tables, such as `1000000-10000`."""
        parts = [str(self.rows), str(self.keys)]
        if self.seed != SEED:
            parts.append(f"seed{self.seed}")
        if dict(self.shares) != SHARES:
            parts.append(self.types.replace("=", "").replace(",", ""))
        return "-".join(parts)

    @property
    def types(self) -> str:
        """The types as `shares_of` reads them."""
        if all(SHARES.get(name) == share for name, share in self.shares):
            return "".join(name for name, _ in self.shares)
        return ",".join(f"{name}={share:g}" for name, share in self.shares)

    def table(self) -> pa.Table:
        """The events, in time order."""
        rng = np.random.default_rng([self.seed, self.rows, self.keys])
        jitter = _JITTER if self.keys > 1 else _JITTER_ALONE
        late = rng.random(self.rows) * jitter
        moments = np.arange(self.rows) * (_GAP / self.keys) + late
        time = np.sort(moments.astype(np.int64)) + _BEGIN
        key = rng.integers(0, self.keys, self.rows).astype(np.int32)
        if self.keys == 1:
            # Each at least a millisecond after the one before it.
            step = np.arange(self.rows)
            time = np.maximum.accumulate(time - step) + step
        else:
            self._separate(time, key, rng)
        type = self._types(rng.random(self.rows))
        value = np.round(rng.random(self.rows) * 100, 3)
        return pa.table(
            {"key": pa.array(key), "ts": pa.array(time), "type": type.cast(pa.string()), "v": pa.array(value)}
        )

    def _separate(self, time: Array, key: Array, rng: np.random.Generator) -> None:
        """Give events that share a time and key with another a new key, until there are none left."""
        while True:
            place = time * self.keys + key
            order = np.argsort(place, kind="stable")
            ordered = place[order]
            again = order[1:][ordered[1:] == ordered[:-1]]
            if not len(again):
                return
            key[again] = rng.integers(0, self.keys, len(again))

    def _types(self, chance: Array) -> pa.DictionaryArray:
        names = [name for name, _ in self.shares]
        shares = np.array([share for _, share in self.shares])
        if dict(self.shares) != SHARES:
            shares = shares / shares.sum()  # dividing by a sum of nearly one would move the usual bounds
        code = np.searchsorted(np.cumsum(shares), chance, side="right").clip(0, len(names) - 1)
        return pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int8)), pa.array(names))


def shares_of(text: str) -> tuple[tuple[str, float], ...]:
    """The types and their frequencies, from a text: `ABC` keeps the default weights, `A=5,B=90,C=5` sets them.

    >>> shares_of("ABC"), shares_of("A=5,B=90")
    ((('A', 0.05), ('B', 0.1), ('C', 0.05)), (('A', 5.0), ('B', 90.0)))
    """
    hint = "letters of A to H, as in ABC, or weights, as in A=5,B=90,C=5"
    found: dict[str, float] = {}
    for part in text.split(",") if "=" in text else text:
        name, equals, weight = (piece.strip() for piece in part.partition("="))
        try:
            share = float(weight) if equals else SHARES[name]
        except (KeyError, ValueError):
            raise InputError("bad-option", f"--types cannot be {text!r}", hint=hint) from None
        if name not in SHARES or name in found or not 0 < share < float("inf"):
            raise InputError("bad-option", f"--types cannot be {text!r}", hint=hint)
        found[name] = share
    if not found:
        raise InputError("bad-option", "--types names no type", hint=hint)
    return tuple(sorted(found.items()))


# Files


def parquet_file(events: EventSet, folder: Path) -> Path:
    """The Parquet file of the events, generated if missing."""

    def write(path: Path) -> None:
        pa.parquet.write_table(events.table(), path, row_group_size=_ROW_GROUP, compression="snappy")

    return _made(folder / f"events-{_VERSION}-{events.name}.parquet", write)


def csv_files(parquet: Path) -> Path:
    """A folder beside a Parquet file with the same events in two CSV files, for engines that cannot read Parquet.

    The rows alternate between the files, so that two readers stay close together in time.
    """

    def write(path: Path) -> None:
        path.mkdir()
        table = pa.parquet.read_table(parquet)
        plain = pa.csv.WriteOptions(include_header=False, quoting_style="none")
        for part in range(2):
            rows = table.take(pa.array(np.arange(part, table.num_rows, 2)))
            pa.csv.write_csv(rows, path / f"part-{part}.csv", plain)

    return _made(parquet.with_suffix(".csv"), write)


def _made(target: Path, write: Callable[[Path], None]) -> Path:
    """A file or folder, written if missing; atomically, so that an interrupted run leaves no partial result."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as draft:
            write(Path(draft) / target.name)
            try:
                os.replace(Path(draft) / target.name, target)
            except OSError:
                if not target.exists():  # otherwise another run was faster
                    raise
    return target


# In memory


class Columns(NamedTuple):
    """Events sorted by key and time, as arrays."""

    key: Array  # int32
    time: Array  # int64, milliseconds
    code: Array  # int8, a number for the type
    names: tuple[str, ...]  # the type of each number
    value: Array  # float64

    def is_type(self, name: str) -> Array:
        """A mask of the events of a type."""
        if name not in self.names:
            return np.zeros(len(self.key), np.bool_)
        found: Array = self.code == self.names.index(name)
        return found


@dataclass(frozen=True)
class SortedEvents:
    """The events of a file in memory, sorted by key and time on first use."""

    path: Path

    @cached_property
    def columns(self) -> Columns:
        table = pa.parquet.read_table(self.path)
        key, time = table["key"].to_numpy(), table["ts"].to_numpy()
        order = np.lexsort((time, key))
        types = table["type"].combine_chunks().dictionary_encode()
        return Columns(
            key[order],
            time[order],
            types.indices.to_numpy()[order].astype(np.int8),
            tuple(types.dictionary.to_pylist()),
            table["v"].to_numpy()[order],
        )
