"""Mark the outputs of Tocsin: only folders and tables with the mark may ever be deleted.

A folder carries a file `_tocsin.json`, which Spark and Arrow leave out when they read; a table carries a property. What
has no mark is not deleted, whatever `mode` says. Files are written to a folder beside the output, which is renamed when all
are there, so an output that a run cannot finish is left as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from tocsin.errors import InputError
from tocsin.spark.pipeline.file.model import Mode, SinkFormat
from tocsin.spark.pipeline.file.read_outputs import MARK, is_output
from tocsin.spark.pipeline.places import places
from tocsin.spark.session.session import is_remote
from tocsin.spark.session.storage import Storage

_PROPERTY = "tocsin.output"


def mark_folder(storage: Storage, folder: str) -> None:
    """Make a folder with the mark."""
    storage.write(f"{folder}/{MARK}", json.dumps({"written_by": "tocsin"}) + "\n")


def check_free(storage: Storage, folder: str, mode: Mode) -> None:
    """Raise an error unless an output may be written to a folder, replacing what is there if that is allowed."""
    names = storage.names(folder) if storage.is_folder(folder) else None
    # One that holds the mark alone is what a stream leaves that was interrupted at its start.
    if names == [MARK] or (names is None and not storage.exists(folder)):
        return
    if mode == "error":
        raise is_there(folder)
    if names is None or (names and not is_output(storage.entries, folder)):
        raise _is_foreign(folder)


def begin_folder(storage: Storage, folder: str, mode: Mode) -> None:
    """An empty folder with the mark; an output that is there is deleted, if that is allowed and it is one."""
    check_free(storage, folder, mode)
    storage.delete(folder)
    mark_folder(storage, folder)


class Staging:
    """The files of a batch, beside the outputs until all of them are written.

    Through Spark Connect nothing can be renamed: there Spark writes to the output itself, which must not exist.
    """

    def __init__(self, session: SparkSession) -> None:
        self._storage = None if is_remote(session) else Storage(session)
        self._staged: dict[
            str, tuple[str, Mode]
        ] = {}  # by the folder beside it: the output, and what may become of it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._into_place()
        elif self._storage is not None:
            for beside in self._staged:
                self._storage.delete(beside)

    def write(self, frame: DataFrame, folder: str, format: SinkFormat, mode: Mode) -> None:
        """Write rows as files; they are in the folder once all is written."""
        if self._storage is None:
            as_files(frame.write.mode("errorifexists"), folder, format)
            return
        check_free(self._storage, folder, mode)
        staged = _beside(folder, "new")
        begin_folder(self._storage, staged, "overwrite")  # an interrupted run may have left one
        self._staged[staged] = folder, mode
        as_files(frame.write.mode("append"), staged, format)

    def _into_place(self) -> None:
        for staged, (folder, mode) in self._staged.items():
            assert self._storage is not None
            check_free(self._storage, folder, mode)
            before = _beside(folder, "old")
            if self._storage.exists(before):
                check_free(self._storage, before, "overwrite")
                self._storage.delete(before)
            if self._storage.exists(folder):
                self._storage.rename(folder, before)
            self._storage.rename(staged, folder)
            self._storage.delete(before)


def _beside(folder: str, what: str) -> str:
    parent, _, name = folder.rpartition("/")
    return f"{parent}/.{name}.tocsin-{what}"


def as_files(writer: DataFrameWriter, path: str, format: SinkFormat) -> None:
    """Write a table as files of a format."""
    if format == "jsonl":
        writer.option("ignoreNullFields", "true").json(path)
    else:
        writer.parquet(path)


def check_table(session: SparkSession, name: str, mode: Mode) -> None:
    """Raise an error unless an output may be written to a table, replacing one that is there if that is allowed."""
    if not session.catalog.tableExists(name):
        return
    if mode == "error":
        raise is_there(name)
    try:
        rows = session.sql("show tblproperties identifier(:name)", {"name": name}).collect()
    except AnalysisException:  # a temporary view has no properties
        rows = []
    if not any(row[0] == _PROPERTY for row in rows):
        raise _is_foreign(name)


def mark_table(session: SparkSession, name: str) -> None:
    """Give a table the mark."""
    session.sql(
        f"alter table identifier(:name) set tblproperties ('{_PROPERTY}' = 'true')", {"name": name}
    ).collect()


def check_unread(folder: str, files: Iterable[str]) -> None:
    """Raise an error if one of the files that are read lies in a folder that is to be replaced."""
    own = places(folder)
    for file in files:
        if any(one.overlaps(other) for one in own for other in places(file)):
            hint = "choose a folder outside of all sources"
            raise InputError("overwrites-source", f"{folder} holds {file}, which is read", hint=hint)


def is_there(place: str) -> InputError:
    """The error for an output that exists."""
    hint = 'delete it, choose another, or say mode = "overwrite"'
    return InputError("output-exists", f"{place} is there already", hint=hint)


def _is_foreign(place: str) -> InputError:
    hint = "only what Tocsin has written is overwritten; delete it, or choose another place"
    return InputError(
        "not-an-output", f"{place} does not carry Tocsin's mark, and is not overwritten", hint=hint
    )
