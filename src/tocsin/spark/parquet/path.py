"""Parquet files by path. Spark opens them as a table only where it has to read them itself."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tocsin.errors import InputError
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.spark.events.event_files import whole_path
from tocsin.spark.parquet.read_plan import plan_reading
from tocsin.spark.parquet.row_groups import CannotReadError, is_nanos, plain_files, read_with_arrow, schema_of
from tocsin.spark.query import Query, Refusal


class ParquetPath:
    """A Parquet file or folder with the session, schema and files that a Spark table of it would have.

    Schema and files come from the folder and a footer where Spark would get the same, which saves it work in each
    query.
    """

    def __init__(self, spark: SparkSession, path: str | Path) -> None:
        self.sparkSession = spark
        self._given, self._path = path, whole_path(str(path))

    @cached_property
    def frame(self) -> DataFrame:
        """The files as a Spark table."""
        read = self.sparkSession.read
        try:
            if self.has_nanos and self._told is not None:
                return read_with_arrow(self.sparkSession, [str(file) for file in self._files], self._told)
            return (read if self._told is None else read.schema(self._told)).parquet(self._path)
        except AnalysisException as problem:
            said = (problem.getMessage() or str(problem)).splitlines()[0]
            hint = "give the path of a Parquet file, or of a folder of such files"
            raise InputError("bad-file", f"{self._given} cannot be read: {said}", hint=hint) from None
        except CannotReadError as problem:
            hint = "give all files the same columns"
            raise InputError("bad-file", f"{self._given} cannot be read: {problem}", hint=hint) from None

    @property
    def schema(self) -> T.StructType:
        """The columns of the files."""
        return self.frame.schema if self._told is None else self._told

    def inputFiles(self) -> list[str]:  # noqa: N802  (as a table of Spark calls it)
        """Return the URIs of the files."""
        if self._told is None:
            return self.frame.inputFiles()
        return [file.as_uri() for file in self._files]

    def reading(self, query: Query) -> ReadJob | Refusal:
        """Plan how tasks read the events of a query with Arrow, or return why they cannot."""
        return plan_reading(self, query)

    @cached_property
    def _files(self) -> list[Path]:
        return plain_files(self._path)

    @cached_property
    def has_nanos(self) -> bool:
        """Whether there are times in nanoseconds, which Spark refuses to read."""
        try:
            return any(map(is_nanos, pq.read_schema(self._files[0]).types)) if self._files else False
        except (OSError, pa.ArrowException):
            return False

    @cached_property
    def _told(self) -> T.StructType | None:
        """The schema according to a footer; None if Spark has to infer it."""
        if not self._files:
            return None
        return schema_of(self._files[0], lambda name: str(self.sparkSession.conf.get(name)))
