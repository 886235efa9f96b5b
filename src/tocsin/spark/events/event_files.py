"""Read files of events as tables, for a quick look; pipelines have their own sources, with dead letters."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tocsin.errors import InputError, did_you_mean
from tocsin.languages.attached import shortened

_FORMATS = {
    "parquet": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
}
_PACKED = (".gz", ".bz2", ".zst", ".xz")


def file_format(path: str, given: str | None = None) -> str:
    """Return the format of a file: the given one, or the one its extension stands for.

    >>> file_format("events.csv.gz"), file_format("day.jsonl"), file_format("events", "parquet")
    ('csv', 'json', 'parquet')
    """
    known = sorted(set(_FORMATS.values()))
    if given is not None:
        if given.lower() not in _FORMATS:
            raise InputError(
                "bad-format", f"there is no format {given!r}", hint=did_you_mean(given, _FORMATS)
            )
        return _FORMATS[given.lower()]
    ending = Path(next((path.removesuffix(end) for end in _PACKED if path.endswith(end)), path)).suffix
    if ending[1:].lower() not in _FORMATS:
        hint = "name it with --format: " + ", ".join(known)
        raise InputError("no-format", f"the ending of {path} does not say its format", hint=hint)
    return _FORMATS[ending[1:].lower()]


def whole_path(path: str) -> str:
    """Return the absolute path; raise an error if there is no such file. A path with a scheme is left to Spark."""
    if "://" in path:
        return path
    try:
        there = any(sign in path for sign in "*?[{") or os.path.exists(path)
    except ValueError:
        there = False
    if not there:
        raise InputError("no-file", f"there is no file {shortened(Path(path))}")
    # Spark would resolve it against the working directory of its Java process.
    return str(Path(path).absolute())


def read_file(session: SparkSession, path: str, format: str) -> DataFrame:
    """Read a file, folder or glob as a table. The types of CSV and JSON columns are inferred."""
    if format == "parquet":
        return session.read.parquet(path)
    if format == "csv":
        # By RFC 4180: a quoted field may hold line breaks, and a quote in it is doubled.
        return session.read.csv(
            path, header=True, inferSchema=True, mode="FAILFAST", escape='"', multiLine=True
        )
    frame = session.read.option("inferTimestamp", True).json(path)
    if "_corrupt_record" in frame.columns:
        raise InputError(
            "bad-json",
            f"{path} has lines that are not JSON objects",
            hint="one object a line; a pipeline (tocsin run) sets aside what cannot be read",
        )
    return frame
