"""Write the results of a pipeline: matches to sinks, and unusable events to the dead letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tocsin.errors import InputError, PipelineError, PipelineErrors, counted
from tocsin.spark.pipeline.added_columns import BLOCK, DEAD, FILE, PROBLEM, ROW, SOURCE, TEXT, USE
from tocsin.spark.pipeline.file.model import Mode, Pipeline, Sink, SinkFormat
from tocsin.spark.pipeline.file.read_outputs import check_folder
from tocsin.spark.pipeline.file.section import Table
from tocsin.spark.pipeline.plan.jobs import Plan
from tocsin.spark.pipeline.sinks.ownership import Staging, check_table, check_unread, mark_table
from tocsin.spark.pipeline.sources.open import Opened
from tocsin.spark.pipeline.sources.text_files import Split
from tocsin.spark.sent import sent_tables


@dataclass(frozen=True, slots=True)
class Written:
    """A folder or a table that was written."""

    what: str
    path: str
    rows: int


def write_matches(
    pipeline: Pipeline,
    matches: Callable[[Sink, str], DataFrame],
    counts: Mapping[str, int],
    together: Callable[[Sequence[str]], DataFrame],
    staging: Staging,
) -> list[Written]:
    """Write each subscription of each sink to its own folder or table, because their columns may differ, or all to one.

    Args:
        matches: returns the matches of a subscription, as a sink has them.
        together: returns the matches of several subscriptions as one table, with the columns of rules.
    """
    written = []
    for sink in pipeline.sinks:
        if sink.together:
            place = sink.place_of("")
            _write(together(sink.subscriptions), place, sink.format, sink.mode, staging)
            rows = sum(counts[name] for name in sink.subscriptions)
            written.append(Written(counted(len(sink.subscriptions), "subscription"), place, rows))
            continue
        for name in sink.subscriptions if sink.writes else ():
            place = sink.place_of(name)
            _write(matches(sink, name), place, sink.format, sink.mode, staging)
            written.append(Written(name, place, counts[name]))
    return written


def check_outputs(session: SparkSession, pipeline: Pipeline, plan: Plan, sources: Iterable[Opened]) -> None:
    """Raise an error for outputs that must not be written, before detection: what they replace may not be read or foreign.

    The pipeline file alone does not give the names of all folders, nor the contents of tables.
    """
    errors: list[PipelineError] = []
    opened = list(sources)
    for sink in (sink for sink in pipeline.sinks if sink.path or sink.table):
        table = Table(pipeline.document, errors, {}, sink.place)
        for place in _places(sink, plan):
            if sink.path:
                check_folder(table, place, sink.mode)
            try:
                if sink.table:
                    check_table(session, place, sink.mode)
                if sink.mode == "overwrite":
                    _check_unread(session, place, sink, opened)
            except InputError as problem:
                key = "path" if sink.path else "table"
                table.note(problem.code, problem.message, key, problem.hint, value=True)
    if errors:
        raise PipelineErrors(errors)


def _places(sink: Sink, plan: Plan) -> Iterator[str]:
    """The folders or tables of a sink."""
    if sink.together:
        yield sink.place_of("")
        return
    for job in plan.jobs:
        for name in (name for name in sink.subscriptions if name in job.patterns):
            yield sink.place_of(name)
            if job.sends:
                tables = dict.fromkeys(t for p in job.patterns[name] for t in sent_tables(job.compiled, p))
                yield from (sink.place_of(name, sent) for sent in tables)


def _check_unread(session: SparkSession, place: str, sink: Sink, sources: Iterable[Opened]) -> None:
    """Raise an error if anything that is read would be replaced: a table can be read under many names, and as files."""
    if sink.table and not session.catalog.tableExists(place):
        return
    own = set(session.table(place).inputFiles()) if sink.table else set()
    for source in sources:
        read = source.frame.inputFiles()
        if sink.path:
            check_unread(place, read)
        elif not own.isdisjoint(read):
            hint = "write to another table"
            raise InputError("overwrites-source", f"{place} is read by {source.source.name}", hint=hint)


def write_sent(
    pipeline: Pipeline, tables: Mapping[str, Mapping[str, DataFrame]], staging: Staging
) -> list[Written]:
    """Write the events that subscriptions sent, each type to its own folder."""
    written = []
    for sink in pipeline.sinks:
        for name in sink.subscriptions if sink.writes and not sink.together else ():
            for table, events in tables.get(name, {}).items():
                place = sink.place_of(name, table)
                _write(events, place, sink.format, sink.mode, staging)
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


def write_dead_letters(pipeline: Pipeline, letters: DataFrame, count: int, staging: Staging) -> list[Written]:
    """Write the dead letters, if the pipeline says where; even if there are none, so that old ones are replaced."""
    target = pipeline.dead_letters
    if target is None:
        return []
    _write(
        letters.coalesce(1).sortWithinPartitions("source", "file", "line"),
        target.path,
        target.format,
        target.mode,
        staging,
    )
    return [Written("dead letters", target.path, count)]


def _write(frame: DataFrame, place: str, format: SinkFormat, mode: Mode, staging: Staging) -> None:
    if format != "table":
        staging.write(frame, place, format, mode)
        return
    session = frame.sparkSession
    check_table(session, place, mode)
    frame.write.mode("overwrite" if mode == "overwrite" else "errorifexists").saveAsTable(place)
    mark_table(session, place)
