"""What changes of rules say, read from a folder that may hold very many and that others write."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

from tocsin.languages.rule_file import Metadata
from tocsin.spark.pipeline.stream.known_rules import KnownRules


class Folder:
    """A storage that counts how often it lists."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files, self.listed, self.opened = files, 0, 0

    def exists(self, path: str) -> bool:
        return path.rpartition("/")[2] in self.files

    def names(self, _: str) -> list[str]:
        self.listed += 1
        return sorted(name for name in self.files if name != "rules.json")

    def read(self, path: str) -> str:
        self.opened += 1
        return self.files[path.rpartition("/")[2]]

    def write(self, path: str, text: str) -> None:
        self.files[path.rpartition("/")[2]] = text


def known(folder: Folder) -> KnownRules:
    stream = SimpleNamespace(rules="/rules", checkpoint="/checkpoint")
    pipeline = SimpleNamespace(stream=stream, subscriptions=())
    return KnownRules(cast(Any, folder), cast(Any, pipeline))


def added(name: str, **more: Any) -> str:
    return json.dumps({"action": "add", "name": name, "text": "[A]", **more})


def decided(number: int, name: str) -> dict[str, Any]:
    return {"number": number, "action": "add", "name": name}


def test_very_many_changes_list_the_folder_once_and_read_what_they_need() -> None:
    folder = Folder({f"{n:05}.json": added(f"R{n}", severity=f"s{n}") for n in range(3000)})
    rules = known(folder)
    rules.take([decided(n, f"R{n}") for n in range(1000, 2000)])
    assert (folder.listed, folder.opened) == (1, 1000)
    assert rules.metadata["R1999"] == Metadata(None, "s1999", ())
    assert len(rules.metadata) == 1000
    assert known(folder).metadata == rules.metadata


def test_what_was_put_in_the_place_of_a_change_stops_nothing() -> None:
    broken = ("[" * 100_000, "{", "[]", added("R1", quiet="soon"), added("R1", tags=3))
    folder = Folder(
        {f"{n}.json": text for n, text in enumerate(broken)} | {"9.json": added("Good", tags=["a"])}
    )
    rules = known(folder)
    rules.take([*(decided(n, f"R{n}") for n in range(len(broken))), decided(9, "Good"), decided(10, "Gone")])
    assert rules.metadata.pop("Good").tags == ("a",)
    assert set(rules.metadata.values()) == {Metadata()}
    assert rules.quiet == {}
