"""Write the results of a pipeline: matches to sinks, and unusable events to the dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import PipelineError, PipelineErrors
from tocsin.spark.pipeline.added_columns import BLOCK, DEAD, FILE, PROBLEM, ROW, SOURCE, TEXT, USE
from tocsin.spark.pipeline.file.model import Mode, Pipeline, SinkFormat
from tocsin.spark.pipeline.file.read_outputs import check_folder
from tocsin.spark.pipeline.file.section import Table
from tocsin.spark.pipeline.plan.jobs import Plan
from tocsin.spark.pipeline.sources.text_files import Split
from tocsin.spark.sent import sent_tables


@dataclass(frozen=True, slots=True)
class Written:
    """A folder or a table that was written."""

    what: str
    path: str
    rows: int


def write_matches(
    pipeline: Pipeline, matches: Mapping[str, DataFrame], counts: Mapping[str, int]
) -> list[Written]:
    """Write each subscription of each sink to its own folder or table, because their columns may differ."""
    written = []
    for sink in pipeline.sinks:
        for name in sink.subscriptions if sink.writes else ():
            place = sink.place_of(name)
            _write(matches[name], place, sink.format, sink.mode)
            written.append(Written(name, place, counts[name]))
    return written


def check_sent_folders(pipeline: Pipeline, plan: Plan) -> None:
    """Raise an error for folders that already exist, before detection. Their names depend on the patterns."""
    errors: list[PipelineError] = []
    for sink in pipeline.sinks:
        table = Table(pipeline.document, errors, {}, sink.place)
        for job in (job for job in plan.jobs if job.sends and sink.path):
            for name in (name for name in sink.subscriptions if name in job.patterns):
                for sent in (t for p in job.patterns[name] for t in sent_tables(job.compiled, p)):
                    check_folder(table, sink.place_of(name, sent), sink.mode)
    if errors:
        raise PipelineErrors(errors)


def write_sent(pipeline: Pipeline, tables: Mapping[str, Mapping[str, DataFrame]]) -> list[Written]:
    """Write the events that subscriptions sent, each type to its own folder."""
    written = []
    for sink in pipeline.sinks:
        for name in sink.subscriptions if sink.writes else ():
            for table, events in tables.get(name, {}).items():
                place = sink.place_of(name, table)
                _write(events, place, sink.format, sink.mode)
                written.append(Written(f"{name} {table}", place, events.count()))
    return written


def dead_letters(
    session: SparkSession, classified: Iterable[DataFrame], splits: Iterable[Split]
) -> DataFrame:
    """Return the unusable events as rows: source, reason, file, line and the text itself.

    In a Parquet file the line is the number of the row; a table has neither file nor line.
    """
    offsets = offsets_of(session, splits)
    columns = (SOURCE, PROBLEM, FILE, BLOCK, ROW, TEXT)
    found = reduce(
        DataFrame.union, (events.where(F.col(USE) == DEAD).select(*columns) for events in classified)
    )
    return with_lines(found, offsets)


def offsets_of(session: SparkSession, splits: Iterable[Split]) -> DataFrame:
    """Return the splits of the files as a table."""
    cuts = [(split.file, split.block, split.offset) for split in splits]
    return session.createDataFrame(cuts, f"{FILE} string, {BLOCK} long, offset long")


def with_lines(dead: DataFrame, offsets: DataFrame) -> DataFrame:
    """Turn dead rows into letters; `offsets` holds for each block of a file the number of lines before it."""
    placed = dead.join(F.broadcast(offsets), [FILE, BLOCK], "left")
    # Spark returns URIs, in which a blank is %20; but its decoder also takes + for a blank.
    path = F.url_decode(F.replace(F.regexp_replace(FILE, "^file:/+", "/"), F.lit("+"), F.lit("%2B")))
    return placed.select(
        F.col(SOURCE).alias("source"),
        F.col(PROBLEM).alias("reason"),
        path.alias("file"),
        (F.col(ROW) + F.coalesce(F.col("offset"), F.lit(0))).alias("line"),
        F.col(TEXT).alias("text"),
    )


def write_dead_letters(pipeline: Pipeline, letters: DataFrame, count: int) -> list[Written]:
    """Write the dead letters, if the pipeline says where; even if there are none, so that old ones are replaced."""
    target = pipeline.dead_letters
    if target is None:
        return []
    _write(
        letters.coalesce(1).sortWithinPartitions("source", "file", "line"),
        target.path,
        target.format,
        target.mode,
    )
    return [Written("dead letters", target.path, count)]


def _write(frame: DataFrame, place: str, format: SinkFormat, mode: Mode) -> None:
    writer = frame.write.mode("overwrite" if mode == "overwrite" else "errorifexists")
    if format == "table":
        writer.saveAsTable(place)
    else:
        as_files(writer, place, format)


def as_files(writer: DataFrameWriter, path: str, format: SinkFormat) -> None:
    """Write a table as files of a format."""
    if format == "jsonl":
        writer.option("ignoreNullFields", "true").json(path)
    else:
        writer.parquet(path)
