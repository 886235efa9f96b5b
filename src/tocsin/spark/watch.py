"""Watch the streams of a session: report each micro-batch of `tocsin.detect`, through a Spark listener."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

from tocsin.runtime.transport.pack import from_ipc
from tocsin.spark.observe.counters import Counters
from tocsin.spark.observe.metrics import Metrics
from tocsin.spark.observe.record import Seen, Watcher, decided, heard_of, moment, summed
from tocsin.spark.stream.stream_query import OBSERVED


def watch(spark: SparkSession, watcher: Watcher | None = None, *, metrics: int | None = None) -> Watch:
    """Report each micro-batch of every detecting stream of the session, including those already running.

    Args:
        watcher: called with the record of each micro-batch, a `tocsin.spark.observe.record.Seen`, in a Spark thread.
        metrics: a local port on which to serve the same figures for Prometheus; 0 for any free one.

    Returns:
        The watch. It ends with `close()`, or when left as a context manager. `last` holds the latest record of each
        query.
    """
    return Watch(spark, watcher, metrics)


class Watch(StreamingQueryListener):
    """Listens to micro-batches. `last` is the latest record of each query, `port` that of the metrics, if served."""

    def __init__(self, spark: SparkSession, watcher: Watcher | None, metrics: int | None) -> None:
        self.last: dict[str, Seen] = {}
        self.port: int | None = None
        self._watchers: list[Watcher] = [] if watcher is None else [watcher]
        self._metrics = None if metrics is None else Metrics()
        if self._metrics is not None and metrics is not None:
            self.port = self._metrics.serve(metrics)
            self._watchers.append(self._metrics)
        self._streams = spark.streams
        self._streams.addListener(self)

    def close(self) -> None:
        """Stop watching."""
        self._streams.removeListener(self)
        if self._metrics is not None:
            self._metrics.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        seen = seen_in(event.progress)
        if seen is not None:
            self.last[seen.query] = seen
            for watcher in self._watchers:
                watcher(seen)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        pass

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        pass


def seen_in(progress: StreamingQueryProgress) -> Seen | None:
    """Return the record of a micro-batch; None if it has no figures of a detection."""
    figures = list(_figures(progress.observedMetrics))
    if not figures:
        return None
    reached, silent = heard_of(figures)
    return Seen(
        query=progress.name or str(progress.id),
        batch=progress.batchId,
        time=moment(datetime.now(UTC)) or "",
        seconds=progress.durationMs.get("triggerExecution", 0) / 1000,
        until=decided(figures),
        sources={"all": _counters(figures)},
        matches=_matches(figures),
        reached=reached,
        silent=silent,
        state=summed(figures),
        shards=figures,
    )


def _figures(observed: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the figures of each shard of each detection in a query."""
    ours = sorted(name for name in observed if name.startswith(OBSERVED))
    for job, name in enumerate(ours):
        # A sink that reads the rows twice may make Spark observe them twice.
        by_shard = {
            row["shard"]: {**row, "job": str(job)}
            for packed in observed[name]["figures"]
            for row in from_ipc(pa.py_buffer(_bytes(packed))).to_pylist()
        }
        yield from (by_shard[shard] for shard in sorted(by_shard))


def _bytes(packed: bytes | str) -> bytes:
    """Return the bytes, which Spark Connect encodes as text."""
    return b64decode(packed) if isinstance(packed, str) else bytes(packed)


def _counters(figures: Iterable[Mapping[str, Any]]) -> Counters:
    """Count the events by use. One that is late for subscriptions of several policies is counted for each."""
    heard: dict[str, int] = {}
    arrived = late = 0
    for one in figures:
        heard[one["job"]] = one["heard"]  # the same in all shards
        arrived += one["arrived"]
        late += one["late"]
    read = sum(heard.values()) + sum(one["ahead"] for one in figures)
    return Counters(read, max(0, arrived - late), read - arrived, 0, 0, late)


def _matches(figures: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in figures:
        for name, count in one["matches"]:
            found[name] = found.get(name, 0) + count
    return found
