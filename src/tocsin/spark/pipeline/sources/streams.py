"""The sources of a stream: the schema inferred from their first files, and their events as they arrive."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import types as T

from tocsin.spark.pipeline.file.model import Pipeline, Source
from tocsin.spark.pipeline.sources import text_files as text_lines
from tocsin.spark.pipeline.sources.broker_messages import message_lines, stream_messages
from tocsin.spark.pipeline.sources.open import Opened, open_source, readable, with_columns, with_lines
from tocsin.spark.pipeline.sources.text_files import read_lines, stream_lines


@dataclass(frozen=True, slots=True)
class Known:
    """The properties of a source inferred from its first files. `schema` is Spark's, as JSON, if it is not declared."""

    schema: str | None = None
    header: str | None = None  # the first line of CSV files
    whole_ids: bool = False


def look_at(session: SparkSession, pipeline: Pipeline, source: Source) -> Known:
    """Infer from the present files the columns, unless they are declared, and whether ids are whole numbers.

    A broker is not asked: what its messages hold is declared, and their ids are texts.
    """
    if source.feed is not None:
        return Known()
    with readable(pipeline, source):
        if source.format == "parquet":
            opened = open_source(session, pipeline, source)
            if opened.columns is None:
                raise _nothing_there(pipeline, source)
            return Known(opened.frame.schema.json(), None, opened.whole_ids)
        lines = read_lines(session, source)
        types: dict[str, T.DataType] = {}
        if not pipeline.declarations.strict:
            types = text_lines.inferred_types(session, source, lines)
        if lines.header == "" or not (types or pipeline.declarations.strict):
            raise _nothing_there(pipeline, source)
        opened = with_lines(pipeline, source, lines, types or None)
        whole = opened.roles.id is None
        if opened.roles.id is not None:
            id = text_lines.cells(source, opened.paths).value(opened.roles.id, None, T.StringType())
            read, all_whole, _ = text_lines.measure(lines, id)
            # Without any file, ids are texts: those can hold anything.
            whole = read > 0 and all_whole
        struct = T.StructType([T.StructField(name, type) for name, type in types.items()])
        return Known(struct.json() if types else None, lines.header, whole)


def _nothing_there(pipeline: Pipeline, source: Source) -> Exception:
    message = f"{source.name} has no events yet, so its columns are not known"
    hint = "put a first file there"
    if source.format == "jsonl":
        hint += ", or declare the event types as [event.NAME]"
    return pipeline.error("no-columns", message, (*source.place, "path"), hint)


def open_stream(session: SparkSession, pipeline: Pipeline, source: Source, known: Known) -> Opened:
    """Return a source as a stream of events, with the columns of its first files."""
    if source.feed is not None:
        lines = message_lines(stream_messages(session, pipeline, source.name, source.feed), source)
        return with_lines(pipeline, source, lines, None)
    schema = None if known.schema is None else T.StructType.fromJson(json.loads(known.schema))
    with readable(pipeline, source):
        reader = session.readStream
        if source.max_files is not None:
            reader = reader.option("maxFilesPerTrigger", source.max_files)
        if source.format == "parquet":
            assert schema is not None
            return with_columns(pipeline, source, reader.schema(schema).parquet(source.location))
        types = None if schema is None else {field.name: field.dataType for field in schema.fields}
        lines = stream_lines(reader.text(source.location), source, known.header)
        return with_lines(pipeline, source, lines, types)
