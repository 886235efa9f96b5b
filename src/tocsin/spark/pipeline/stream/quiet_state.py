"""The state of quiet subscriptions of a stream: for each key, the end of the last reported match.

It is a file a micro-batch in the checkpoint, `tocsin/quiet/000000012.json`, written before the micro-batch is entered in the
ledger. One that is run again starts from what the micro-batch before it left, so it holds back the same matches.

| field | value |
|---|---|
| last | subscription → key as JSON → the end of the last match that was reported, in microseconds |
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tocsin.runtime.results.quiet_rows import hold_back
from tocsin.spark.pipeline.stream.checkpoint_files import read_json, write_json
from tocsin.spark.session.storage import Storage

_FORMAT = 1
_KEPT = 100  # as of the ledger

Last = dict[str, dict[str, int]]


class Alert(NamedTuple):
    """A match of a quiet subscription; alerts sort in the order in which they are reported."""

    end: int
    start: int
    match_id: str
    subscription: str
    key: str


class QuietState:
    """Read the state from a checkpoint."""

    def __init__(self, storage: Storage, checkpoint: str) -> None:
        self._storage, self._folder = storage, f"{checkpoint}/tocsin/quiet"

    def hold_back(
        self,
        alerts: Iterable[Alert],
        quiet: Mapping[str, int],
        batch: int,
        until: int | None,
        in_order: Collection[str],
    ) -> set[tuple[str, str]]:
        """Return subscription and id of the matches of a micro-batch that are held back, and update the state.

        Args:
            until: up to when everything is decided; a key whose quiet time is over by then is forgotten.
            in_order: the subscriptions that never report a match that ended before that.
        """
        last = self._before(batch)
        groups: dict[tuple[str, str], list[Alert]] = {}
        for alert in sorted(alerts):
            groups.setdefault((alert.subscription, alert.key), []).append(alert)
        held: set[tuple[str, str]] = set()
        for (name, key), own in groups.items():
            known = last.setdefault(name, {})
            flags, latest = hold_back([alert.end for alert in own], quiet[name], known.get(key))
            held |= {(name, alert.match_id) for alert, heard in zip(own, flags, strict=True) if not heard}
            if latest is not None:
                known[key] = latest
        left = {
            name: {
                key: end
                for key, end in known.items()
                if until is None or name not in in_order or end + quiet[name] > until
            }
            for name, known in last.items()
            if name in quiet
        }
        write_json(self._storage, self._path(batch), {"last": left}, _FORMAT)
        self._storage.delete(self._path(batch - _KEPT))
        return held

    def _before(self, batch: int) -> Last:
        names = [
            name for name in self._storage.names(self._folder) if name[:9].isdigit() and name.endswith("json")
        ]
        earlier = [name for name in names if int(name[:9]) < batch]
        if not earlier:
            return {}
        found: Last = read_json(self._storage, f"{self._folder}/{earlier[-1]}", _FORMAT)["last"]
        return found

    def _path(self, batch: int) -> str:
        return f"{self._folder}/{batch:09d}.json"
