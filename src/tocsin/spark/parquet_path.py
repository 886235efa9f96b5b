"""Parquet files by their path. Spark makes a table of them only where it has to read them itself."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from tocsin.errors import InputError
from tocsin.spark.files import whole_path
from tocsin.spark.parquet_files import plain_files, schema_of


class ParquetPath:
    """A Parquet file or folder as Spark sees it, with what is told of a table without one: its session, schema and files.

    That is taken from the folder and a footer where Spark would come to the same, which spares it some work for each query.
    """

    def __init__(self, spark: SparkSession, path: str | Path) -> None:
        self.sparkSession = spark
        self._given, self._path = path, whole_path(str(path))

    @cached_property
    def frame(self) -> DataFrame:
        """The table."""
        read = self.sparkSession.read
        try:
            return (read if self._told is None else read.schema(self._told)).parquet(self._path)
        except AnalysisException as problem:
            said = (problem.getMessage() or str(problem)).splitlines()[0]
            hint = "give the path of a Parquet file, or of a folder of such files"
            raise InputError("unreadable-file", f"{self._given} cannot be read: {said}", hint=hint) from None

    @property
    def schema(self) -> T.StructType:
        """Its columns."""
        return self.frame.schema if self._told is None else self._told

    def inputFiles(self) -> list[str]:  # noqa: N802  (as a table of Spark calls it)
        """The addresses of the files."""
        if self._told is None:
            return self.frame.inputFiles()
        return [file.as_uri() for file in self._files]

    @cached_property
    def _files(self) -> list[Path]:
        return plain_files(self._path)

    @cached_property
    def _told(self) -> T.StructType | None:
        """The schema, if a footer tells it."""
        if not self._files:
            return None
        return schema_of(self._files[0], lambda name: str(self.sparkSession.conf.get(name)))
