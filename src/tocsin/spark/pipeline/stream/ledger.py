"""The ledger of a stream: one small file per micro-batch in the checkpoint, with its counts and the totals so far.

A micro-batch is in the ledger once all its outputs are written. So one that is run again is not counted twice, and not
written again unless its first run was cut short. A file holds the fields of `Page` (see `checkpoint_files`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.record import Seen
from tocsin.spark.pipeline.stream.checkpoint_files import read_json, write_json
from tocsin.spark.session.storage import Storage
from tocsin.spark.stream.damage import reading

_FORMAT = 2
_KEPT = 100  # files of the latest micro-batches; Spark itself goes back no further


@dataclass(frozen=True, slots=True)
class Numbers:
    """Counts of events by use, and of matches: for one micro-batch, or for all up to one."""

    sources: Mapping[str, Counters] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)
    matches: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, int] = field(default_factory=dict)  # rows, by the folder or table
    held: Mapping[str, int] = field(default_factory=dict)  # matches that quiet subscriptions held back
    gone: Mapping[str, int] = field(
        default_factory=dict
    )  # files deleted before they were read, by their folder

    def __add__(self, other: Numbers) -> Numbers:
        sources = dict(self.sources)
        for name, counters in other.sources.items():
            sources[name] = sources[name] + counters if name in sources else counters
        return Numbers(
            sources,
            _sum(self.reasons, other.reasons),
            _sum(self.matches, other.matches),
            _sum(self.written, other.written),
            _sum(self.held, other.held),
            _sum(self.gone, other.gone),
        )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Numbers:
        """Restore numbers from the plain values that `asdict` made."""
        sources = {name: Counters(**counters) for name, counters in values["sources"].items()}
        held, gone = values.get("held", {}), values.get("gone", {})  # ledgers of earlier builds have none
        return cls(sources, values["reasons"], values["matches"], values["written"], held, gone)


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {
        name: one.get(name, 0) + other.get(name, 0) for name in (*one, *(n for n in other if n not in one))
    }


@dataclass(frozen=True, slots=True)
class Page:
    """A micro-batch in the ledger. `state` are the figures of the stream's state."""

    batch: int
    time: str
    seconds: float
    until: str | None  # how far time has come
    numbers: Numbers
    state: Mapping[str, int]
    batches: int  # how many there were up to this one
    totals: Numbers
    reached: Mapping[str, str | None] = field(default_factory=dict)  # the latest event of each source so far
    silent: Sequence[str] = ()  # sources that are not waited for
    rules: Sequence[Mapping[str, Any]] = ()  # what became of changes of rules

    def seen(self, pipeline: str, shards: Sequence[Mapping[str, Any]], alerts: Sequence[str] = ()) -> Seen:
        """Return the record of this micro-batch, without totals, for watchers, with its latest matches as text."""
        numbers = self.numbers
        return Seen(
            pipeline,
            self.batch,
            self.time,
            self.seconds,
            self.until,
            numbers.sources,
            numbers.matches,
            self.reached,
            self.silent,
            numbers.reasons,
            numbers.written,
            self.state,
            shards,
            self.rules,
            numbers.held,
            alerts,
            numbers.gone,
        )


class Ledger:
    """The ledger of a checkpoint."""

    def __init__(self, storage: Storage, checkpoint: str) -> None:
        self._storage, self._folder = storage, f"{checkpoint}/tocsin/ledger"
        names = [name for name in storage.names(self._folder) if name.endswith(".json")]
        self.last = _page(storage, f"{self._folder}/{names[-1]}") if names else None

    def has(self, batch: int) -> bool:
        return self.last is not None and self.last.batch >= batch

    @property
    def batches(self) -> int:
        return 0 if self.last is None else self.last.batches

    @property
    def totals(self) -> Numbers:
        return Numbers() if self.last is None else self.last.totals

    def add(self, page: Page) -> None:
        write_json(self._storage, self._path(page.batch), asdict(page), _FORMAT)
        self._storage.delete(self._path(page.batch - _KEPT))
        self.last = page

    def _path(self, batch: int) -> str:
        return f"{self._folder}/{batch:09d}.json"


def _page(storage: Storage, path: str) -> Page:
    values = read_json(storage, path, _FORMAT)
    with reading(path):
        parts = {name: Numbers.of(values[name]) for name in ("numbers", "totals")}
        return Page(**values | parts)
