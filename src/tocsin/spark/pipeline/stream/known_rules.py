"""The metadata of the rules of a stream: those of its file, and those added while it runs.

What a change says of its rule is kept in the checkpoint, `tocsin/rules.json`, so that it is there after a restart, too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError

from tocsin.errors import InputError
from tocsin.languages.rule_file import Metadata
from tocsin.runtime.stream.rule_book import file_change, read_change
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.stream.checkpoint_files import read_json, write_json
from tocsin.spark.session.storage import Storage

_FORMAT = 1
_METADATA = ("description", "severity", "tags", "quiet")


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
        said = self._said({int(one["number"]) for one in made if one["action"] != "remove"})
        for one in made:
            name = str(one["name"])
            own = {} if one["action"] == "remove" else said.get(int(one["number"]), {})
            self._came[name] = {key: own[key] for key in _METADATA if key in own}
            self._learn(name, self._came[name])
        write_json(self._storage, self._path, {"rules": self._came}, _FORMAT)

    def _learn(self, name: str, said: Mapping[str, Any]) -> None:
        tags = tuple(said.get("tags") or ())
        self.metadata[name] = Metadata(said.get("description"), said.get("severity"), tags)
        self.quiet.pop(name, None)
        if said.get("quiet"):
            self.quiet[name] = round(said["quiet"] * 1_000_000)

    def _said(self, numbers: Collection[int]) -> dict[int, dict[str, Any]]:
        """Read the changes with these numbers. The folder may hold very many files, so it is listed once."""
        found: dict[int, dict[str, Any]] = {}
        for name in self._storage.names(self._folder or "") if numbers else ():
            digits = name[: len(name) - len(name.lstrip("0123456789"))]
            if not name.endswith(".json") or not digits or int(digits) not in numbers:
                continue
            try:
                text = self._storage.read(f"{self._folder}/{name}")
                # Whoever writes rules may have put something else there since the change was made.
                read_change(file_change(name, text.encode()))
                found.setdefault(int(digits), json.loads(text))
            except (InputError, Py4JJavaError):
                continue
        return found
