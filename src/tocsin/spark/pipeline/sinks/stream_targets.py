"""Targets for the rows of a micro-batch that hold each row exactly once, whatever fails.

An interrupted micro-batch is run again, with the same rows. So a target receives its number, and replaces the rows it
got for that number before. A target that cannot replace anything, such as a broker, sends the `match_id` along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.spark.pipeline.file.model import Entry, Mode, Pipeline, SideOutput, Sink, SinkFormat
from tocsin.spark.pipeline.file.read_outputs import BATCH
from tocsin.spark.pipeline.sinks.broker_sinks import broker_target, parts_sent
from tocsin.spark.pipeline.sinks.ownership import as_files, begin_folder, check_table, mark_table
from tocsin.spark.pipeline.sinks.rule_rows import tells_of_rules
from tocsin.spark.session.storage import Storage

_FEW = 100_000  # rows that go into a single file


class Target(Protocol):
    """A destination for the rows of one subscription, of one type that it sends, or of one side output."""

    def begin(self) -> None:
        """Prepare for a new stream: delete what another one left if that is allowed; otherwise raise an error."""
        ...

    def write(self, rows: DataFrame, count: int, batch: int) -> None:
        """Write the rows of a micro-batch, at least one, replacing any written for it before."""
        ...

    def clear(self, batch: int) -> None:
        """Delete what was written for a micro-batch before, because it has no rows."""
        ...


@dataclass(frozen=True)
class Files:
    """A folder with a subfolder of files for each micro-batch that has rows."""

    storage: Storage
    path: str
    format: SinkFormat
    mode: Mode

    def begin(self) -> None:
        begin_folder(self.storage, self.path, self.mode)

    def write(self, rows: DataFrame, count: int, batch: int) -> None:
        # Spark ignores folders whose names begin with a dot, so rows become visible only when all are there.
        staged = f"{self.path}/.batch-{batch:06d}"
        as_files(_few_files(rows, count).write.mode("overwrite"), staged, self.format)
        self.storage.move(staged, self._folder(batch))

    def clear(self, batch: int) -> None:
        self.storage.delete(self._folder(batch))

    def _folder(self, batch: int) -> str:
        return f"{self.path}/{BATCH}{batch:06d}"


@dataclass(frozen=True)
class Table:
    """A Spark table, partitioned by the number of the micro-batch."""

    session: SparkSession
    name: str
    mode: Mode

    def begin(self) -> None:
        check_table(self.session, self.name, self.mode)
        self.session.sql("drop table if exists identifier(:name)", {"name": self.name})

    def write(self, rows: DataFrame, count: int, batch: int) -> None:
        session = rows.sparkSession  # the query's own session, whose settings affect nothing else
        numbered = _few_files(rows, count).withColumn("batch", F.lit(batch).cast("long"))
        if not session.catalog.tableExists(self.name):
            numbered.write.partitionBy("batch").saveAsTable(self.name)
            mark_table(session, self.name)
            return
        # Replaces only the micro-batch's partition. Columns are selected by name, because a table has its partition
        # columns last.
        session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        columns = session.table(self.name).columns
        numbered.select(*columns).write.mode("overwrite").insertInto(self.name)

    def clear(self, batch: int) -> None:
        if self.session.catalog.tableExists(self.name):
            drop = f"alter table identifier(:name) drop if exists partition (batch = {batch:d})"
            self.session.sql(drop, {"name": self.name})


def _few_files(rows: DataFrame, count: int) -> DataFrame:
    return rows.coalesce(1) if count <= _FEW else rows


# One line for each format of files and tables. A new format needs a line here, one in `model.SinkFormat`, and its keys
# in `read_outputs`. Brokers are in `broker_sinks`.
_TARGETS: dict[SinkFormat, Callable[[SparkSession, Storage, Sink, str], Target]] = {
    "parquet": lambda session, storage, sink, place: Files(storage, place, sink.format, sink.mode),
    "jsonl": lambda session, storage, sink, place: Files(storage, place, sink.format, sink.mode),
    "table": lambda session, storage, sink, place: Table(session, place, sink.mode),
}


@dataclass(frozen=True)
class Destination:
    """The target of a part of a micro-batch: the matches of a subscription, or of several, or events that one sends.

    Args:
        subscriptions: several only if their matches go into one table.
        grows: whether subscriptions that come while the stream runs belong to them.
        rules: whether the rows have the columns of `rule_rows`.
    """

    subscriptions: tuple[str, ...]
    sent: str | None
    place: str
    target: Target
    together: bool = False
    grows: bool = False
    rules: bool = False


def destinations(
    session: SparkSession,
    storage: Storage,
    pipeline: Pipeline,
    sent: Mapping[str, tuple[str, ...]],
    kinds: Mapping[str, Mapping[str, str]],
) -> tuple[Destination, ...]:
    """Return the destinations of all sinks.

    Args:
        sent: the types that each subscription sends.
        kinds: the attributes that its matches have as events.
    """
    entries = {entry.name: entry for entry in pipeline.subscriptions}
    found: list[Destination] = []
    for sink in (sink for sink in pipeline.sinks if sink.writes):
        if sink.together:
            place = sink.place_of("")
            target = _TARGETS[sink.format](session, storage, sink, place)
            grows = set(sink.subscriptions) == entries.keys()
            found.append(Destination(sink.subscriptions, None, place, target, True, grows, True))
            continue
        for name in sink.subscriptions:
            found += destinations_of(
                session, storage, pipeline, sink, entries[name], sent.get(name, ()), kinds[name]
            )
    return tuple(found)


def destinations_of(
    session: SparkSession,
    storage: Storage,
    pipeline: Pipeline,
    sink: Sink,
    entry: Entry,
    sent: Sequence[str],
    kinds: Mapping[str, str],
) -> Iterator[Destination]:
    """Yield the destinations of one subscription in one sink."""
    assert pipeline.stream is not None
    for table in parts_sent(sink, entry.sends, sent):
        place = sink.place_of(entry.name, table)
        target: Target
        if sink.topic is not None:
            target = broker_target(session, storage, pipeline.stream.checkpoint, sink, place, entry, kinds)
        else:
            target = _TARGETS[sink.format](session, storage, sink, place)
        rules = table is None and tells_of_rules(pipeline, sink)
        yield Destination((entry.name,), table, place, target, rules=rules)


def side_target(storage: Storage, output: SideOutput) -> Target:
    """Return the target for dead letters or late events."""
    return Files(storage, output.path, output.format, output.mode)
