"""JSON files of a pipeline's checkpoint, each with a version and a checksum.

A file of ours is one object: `format` is the version of its layout, `checksum` the CRC-32 of everything else in it, as eight
hexadecimal digits over the text that `json.dumps` gives with sorted keys and no blanks. The logs of Spark in the same folder
are only looked at: damage there would reach the user as an error from within Spark.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from tocsin.errors import InputError
from tocsin.runtime.encoding import damaged
from tocsin.spark.session.storage import Storage
from tocsin.spark.stream.damage import reading

_LOGS = ("offsets", "commits")


def write_json(storage: Storage, path: str, values: Mapping[str, Any], format: int) -> None:
    """Write values with their version and checksum."""
    storage.write(path, sealed({"format": format, **values}))


def sealed(values: Mapping[str, Any]) -> str:
    """Return the text of a file with these values, among them its version, and their checksum."""
    return json.dumps({**values, "checksum": _checksum(values)}, indent=1)


def read_json(storage: Storage, path: str, format: int) -> dict[str, Any]:
    """Return the values that `write_json` wrote; refuse another version, and a damaged file."""
    with reading(path):
        values = json.loads(storage.read(path))
        if not isinstance(values, dict):
            raise damaged("it is not a JSON object")
        if values.get("format") != format:
            raise InputError(
                "checkpoint-version",
                f"{path} has format {values.get('format', 'unknown')}; this build of tocsin reads format {format}",
                hint="go on with the version of tocsin that wrote it, or start with a new checkpoint folder",
            )
        checksum = values.pop("checksum", None)
        if checksum != _checksum(values):
            raise damaged("its checksum is wrong: something is missing or has changed")
        del values["format"]
        return values


def _checksum(values: Mapping[str, Any]) -> str:
    # Read back first, because JSON knows no tuples and no keys but texts.
    plain = json.loads(json.dumps(values))
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x}"


def check_logs(storage: Storage, checkpoint: str) -> None:
    """Refuse a checkpoint whose latest logs Spark cannot read."""
    path = f"{checkpoint}/metadata"
    if storage.exists(path):
        with reading(path):
            json.loads(storage.read(path))["id"]
    for log in _LOGS:
        numbers = [int(name) for name in storage.names(f"{checkpoint}/{log}") if name.isdigit()]
        if numbers:
            path = f"{checkpoint}/{log}/{max(numbers)}"
            with reading(path):
                version, first, *others = storage.read(path).splitlines()
                if version[:1] != "v":
                    raise damaged("it does not begin with its version")
                for line in (first, *others):
                    if line != "-":  # a source that has no offset yet
                        json.loads(line)
