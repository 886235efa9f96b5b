"""The metadata of the rules of a stream: those of its file, and those added while it runs.

What a change says of its rule is kept in the checkpoint, `tocsin/rules.json`, so that it is there after a restart, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tocsin.languages.rule_file import Metadata
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.stream.checkpoint_files import read_json, write_json
from tocsin.spark.session.storage import Storage

_FORMAT = 1


class KnownRules:
    """Metadata and quiet times of rules, by name."""

    def __init__(self, storage: Storage, pipeline: Pipeline) -> None:
        assert pipeline.stream is not None
        self._storage, self._folder = storage, pipeline.stream.rules
        self._path = f"{pipeline.stream.checkpoint}/tocsin/rules.json"
        self.metadata: dict[str, Metadata] = {e.name: e.metadata for e in pipeline.subscriptions}
        self.quiet: dict[str, int] = {e.name: e.quiet for e in pipeline.subscriptions if e.quiet is not None}
        self._came: dict[str, Any] = {}
        if self._folder is not None and storage.exists(self._path):
            self._came = read_json(storage, self._path, _FORMAT)["rules"]
            for name, known in self._came.items():
                self._learn(name, known)

    def take(self, decisions: Sequence[Mapping[str, Any]]) -> None:
        """Take over the metadata of changes that were made."""
        made = [one for one in decisions if "code" not in one and one.get("number") is not None]
        if self._folder is None or not made:
            return
        for one in made:
            name = str(one["name"])
            said = {} if one["action"] == "remove" else self._said(int(one["number"]))
            self._came[name] = {
                key: said[key] for key in ("description", "severity", "tags", "quiet") if key in said
            }
            self._learn(name, self._came[name])
        write_json(self._storage, self._path, {"rules": self._came}, _FORMAT)

    def _learn(self, name: str, said: Mapping[str, Any]) -> None:
        tags = tuple(said.get("tags") or ())
        self.metadata[name] = Metadata(said.get("description"), said.get("severity"), tags)
        self.quiet.pop(name, None)
        if said.get("quiet"):
            self.quiet[name] = round(said["quiet"] * 1_000_000)

    def _said(self, number: int) -> dict[str, Any]:
        """Read the change with this number from its file."""
        for name in self._storage.names(self._folder or ""):
            digits = name[: len(name) - len(name.lstrip("0123456789"))]
            if name.endswith(".json") and digits and int(digits) == number:
                found: dict[str, Any] = json.loads(self._storage.read(f"{self._folder}/{name}"))
                return found
        return {}
