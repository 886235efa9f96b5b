"""Prometheus metrics of a stream; the only module that uses the Prometheus client library.

| metric | labels | meaning |
|---|---|---|
| `tocsin_events_total` | query, source, use | events that were used, irrelevant, late, repeated or dead |
| `tocsin_matches_total` | query, subscription | matches |
| `tocsin_batch_seconds` | query | how long micro-batches take, a histogram |
| `tocsin_decided_timestamp_seconds` | query | the watermark: the time up to which everything is decided |
| `tocsin_lag_seconds` | query | how far the watermark is behind wall-clock time |
| `tocsin_source_timestamp_seconds` | query, source | the time of a source's latest event |
| `tocsin_source_silent` | query, source | 1 if a source is no longer waited for |
| `tocsin_state_keys`, `…_partial_matches`, `…_waiting_events`, `…_bytes` | query, job, shard | the state of a shard |

Counters start at zero with the process.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tocsin.errors import InputError
from tocsin.spark.observe.record import Seen

_BUCKETS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)
_STATE = {
    "keys": ("tocsin_state_keys", "keys that a shard remembers"),
    "partial_matches": ("tocsin_state_partial_matches", "partial matches that a shard remembers"),
    "waiting": ("tocsin_state_waiting_events", "events that have come but are not decided yet"),
    "bytes": ("tocsin_state_bytes", "bytes that a shard remembers"),
}


class Metrics:
    """Metrics of all queries of this process; called as a watcher with each record."""

    def __init__(self) -> None:
        try:
            # Imported here, because it is needed only if metrics are served.
            import prometheus_client as prometheus
        except ImportError:
            hint = "pip install 'tocsin[metrics]'"
            raise InputError("missing-package", "metrics need prometheus-client", hint=hint) from None
        self._start = prometheus.start_http_server
        self._server: Any = None
        self.registry = registry = prometheus.CollectorRegistry()

        def gauge(name: str, text: str, *labels: str) -> prometheus.Gauge:
            return prometheus.Gauge(name, text, ("query", *labels), registry=registry)

        by_use = ("query", "source", "use")
        self._events = prometheus.Counter(
            "tocsin_events", "events, by what became of them", by_use, registry=registry
        )
        by_name = ("query", "subscription")
        self._matches = prometheus.Counter("tocsin_matches", "matches", by_name, registry=registry)
        self._seconds = prometheus.Histogram(
            "tocsin_batch_seconds",
            "how long micro-batches take",
            ("query",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._decided = gauge("tocsin_decided_timestamp_seconds", "how far everything is decided")
        self._lag = gauge("tocsin_lag_seconds", "how far that lies behind wall-clock time")
        self._reached = gauge("tocsin_source_timestamp_seconds", "the latest event of a source", "source")
        self._silent = gauge("tocsin_source_silent", "1 if a source is not waited for any longer", "source")
        self._state = {what: gauge(name, text, "job", "shard") for what, (name, text) in _STATE.items()}

    def __call__(self, seen: Seen) -> None:
        """Add the record of a micro-batch to the metrics."""
        query = seen.query
        for name, counters in seen.sources.items():
            for use in ("used", "irrelevant", "late", "repeated", "dead"):
                self._events.labels(query, name, use).inc(getattr(counters, use))
        for name, count in seen.matches.items():
            self._matches.labels(query, name).inc(count)
        self._seconds.labels(query).observe(seen.seconds)
        if seen.until is not None:
            self._decided.labels(query).set(_unix(seen.until))
        if seen.lag is not None:
            self._lag.labels(query).set(seen.lag)
        for name, moment in seen.reached.items():
            self._silent.labels(query, name).set(name in seen.silent)
            if moment is not None:
                self._reached.labels(query, name).set(_unix(moment))
        for shard in seen.shards:
            for what, metric in self._state.items():
                metric.labels(query, shard["job"], str(shard["shard"])).set(shard[what])

    def serve(self, port: int, address: str = "127.0.0.1") -> int:
        """Serve the metrics over HTTP until `close`; return the port, which the system chooses if 0 is given."""
        try:
            self._server, self._thread = self._start(port, address, self.registry)
        except (OSError, OverflowError) as problem:
            hint = "choose another port, or end what listens there"
            raise InputError(
                "metrics-port", f"cannot listen on {address}:{port}: {problem}", hint=hint
            ) from None
        return int(self._server.server_port)

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._server = None


def _unix(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
