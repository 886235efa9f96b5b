"""Parquet sources of a pipeline that Arrow reads inside the Python tasks, as the events that Spark would make of them.

What has no such form is said, and then Spark reads the sources, with the same answers. `sources.normalise` is what is to be
equalled: `runtime.read.pipeline_events` does it in the tasks, by what is found out here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from tocsin.events import MICROSECONDS
from tocsin.runtime.read.parquet_columns import Moment
from tocsin.runtime.read.pipeline_events import Made, Normal
from tocsin.spark.events.naming import type_at
from tocsin.spark.parquet.read_plan import Cluster, arrow_type, cluster_of, hashable_type
from tocsin.spark.parquet.row_groups import (
    CannotReadError,
    Footer,
    RowGroup,
    footers,
    local_files,
    may_lack,
    row_groups,
)
from tocsin.spark.parquet.time_layout import reckoned
from tocsin.spark.pipeline.added_columns import END, ID, ORIGIN, START, TYPE
from tocsin.spark.pipeline.plan.schema import Schema
from tocsin.spark.pipeline.sources.open import Opened
from tocsin.spark.query import UTC_NAMES


@dataclass(frozen=True, slots=True)
class ArrowSources:
    """The sources of a pipeline, all of which Arrow can read, with the metadata of their files."""

    sources: tuple[Opened, ...]
    footers: tuple[tuple[Footer, ...], ...]
    schema: Schema
    whole_ids: bool
    time_zone: str
    cluster: Cluster

    @property
    def have_length(self) -> bool:
        """Whether some source has separate columns for start and end."""
        return any(one.roles.time[0] != one.roles.time[1] for one in self.sources)


class Placed(NamedTuple):
    """Return how the files of all sources are read, and their row groups, with times in microseconds."""

    sources: dict[str, Normal]
    groups: list[RowGroup]
    need_hash: bool  # whether some event may lack an id


def arrow_sources(
    session: SparkSession, sources: Sequence[Opened], schema: Schema, whole_ids: bool
) -> ArrowSources:
    """Return the sources as Arrow reads them; raise `CannotReadError` if it cannot."""
    for one in sources:
        name = one.source.name
        if one.source.format != "parquet":
            raise CannotReadError(f"the source {name} is not Parquet")
        if one.source.limits:
            raise CannotReadError(f"the source {name} has a limit")
        if one.columns is None:
            raise CannotReadError(f"the source {name} is empty")
        for attribute, kind in schema.kinds.items():
            if kind != "string" and isinstance(one.columns.get(attribute), T.StringType):
                raise CannotReadError(f"{attribute!r} is a text in {name}, and declared as {kind}")
    cluster = cluster_of(session)
    files = tuple(tuple(local_files(one.frame)) for one in sources)
    if not all(files):
        raise CannotReadError("a source has times in nanoseconds, or its files are not known")
    if len({file for several in files for file in several}) < sum(map(len, files)):
        raise CannotReadError("two sources read the same file")
    time_zone = str(session.conf.get("spark.sql.session.timeZone"))
    own_footers = tuple(tuple(footers(several)) for several in files)
    return ArrowSources(tuple(sources), own_footers, schema, whole_ids, time_zone, cluster)


def place(arrow: ArrowSources, names: Collection[str], coded: Collection[str]) -> Placed:
    """Return how to read event columns by name; raise `CannotReadError` if Arrow cannot.

    Args:
        coded: those of them that are texts with few values, to be read as dictionaries.
    """
    normals: dict[str, Normal] = {}
    groups: list[RowGroup] = []
    for one, own_footers in zip(arrow.sources, arrow.footers, strict=True):
        normal, own = _source(arrow, one, own_footers, names, coded)
        normals |= dict.fromkeys((footer.file for footer in own_footers), normal)
        groups += own
    return Placed(normals, groups, any(normal.hashed for normal in normals.values()))


def _source(
    arrow: ArrowSources,
    one: Opened,
    own_footers: Sequence[Footer],
    names: Collection[str],
    coded: Collection[str],
) -> tuple[Normal, list[RowGroup]]:
    own, file_schema = one.roles, one.frame.schema
    start, end = (_moment(one, name, arrow.time_zone) for name in own.time)
    type = None if own.type is None else _text(one, own.type, "type")
    made = tuple(_made(arrow, one, name) for name in names if name not in (START, END, TYPE))
    hashed: tuple[tuple[str, pa.DataType], ...] = ()
    if ID in names and (own.id is None or may_lack(own_footers, _path(one, own.id))):
        fields = [f for f in file_schema.fields if not isinstance(f.dataType, T.MapType | T.VariantType)]
        hashed = tuple((field.name, hashable_type(field)) for field in fields)
    paths = [start.column, end.column, *(path for path in (type, *(m.path for m in made)) if path)]
    read = tuple(dict.fromkeys([*(path.split(".")[0] for path in paths), *(name for name, _ in hashed)]))
    groups = row_groups(own_footers, file_schema, read, end.column)
    normal = Normal(
        source=one.source.name,
        columns=read,
        coded=_texts(file_schema, [type, *(one.path for one in made if one.name in coded)]),
        start=start,
        end=end,
        named=(TYPE, START, END),
        type=type,
        constant_type=own.constant_type,
        known_types=arrow.schema.known_types,
        made=made,
        hashed=hashed,
    )
    return normal, [_in_microseconds(group, end) for group in groups]


def _in_microseconds(group: RowGroup, end: Moment) -> RowGroup:
    """Return the row group with its times in microseconds, so that sources may use different time types."""
    if group.times is None:
        return group
    first, last = (reckoned(moment, end) for moment in group.times)
    return group._replace(times=(first, last))


def _path(one: Opened, name: str) -> str:
    """Return the path of a column in the files; raise `CannotReadError` if it is not a plain column or field."""
    path = one.paths[name]
    if path not in one.frame.columns and type_at(one.frame.schema, path) is None:
        raise CannotReadError(f"{path!r} is not the name of a plain column")
    return path


def _moment(one: Opened, name: str, time_zone: str) -> Moment:
    """Return how to convert a time column to microseconds, as `TableCells.moment` does."""
    assert one.columns is not None
    type, path, unit = one.columns[name], _path(one, name), one.source.time_unit
    if isinstance(type, T.TimestampType | T.TimestampNTZType | T.DateType):
        if not isinstance(type, T.TimestampType) and time_zone not in UTC_NAMES:
            raise CannotReadError(f"{name!r} has no time zone, and that of the session is not UTC")
        return Moment(path, "time")
    if not isinstance(type, T.IntegralType):
        raise CannotReadError(f"the time {name!r} is {type.simpleString()}")
    assert unit is not None
    return Moment(path, "nanoseconds") if unit == "ns" else Moment(path, "whole", MICROSECONDS[unit])


def _text(one: Opened, name: str, what: str) -> str:
    assert one.columns is not None
    if one.columns[name] != T.StringType():
        raise CannotReadError(f"the {what} {name!r} is {one.columns[name].simpleString()}")
    return _path(one, name)


def _made(arrow: ArrowSources, one: Opened, name: str) -> Made:
    """Return how to build a column of events, as Spark does in `sources.open`."""
    assert one.columns is not None
    own, schema = one.roles, arrow.schema
    if name == ID:
        type = T.LongType() if arrow.whole_ids else T.StringType()
        return Made(
            ID, arrow_type(type, arrow.time_zone), None if own.id is None else _as_text(one, own.id, type)
        )
    if name == ORIGIN:
        path = None if own.origin is None else _as_text(one, own.origin, T.StringType())
        return Made(ORIGIN, pa.string(), path, default=one.source.name)
    wanted = schema.attributes[name]
    target = arrow_type(wanted, arrow.time_zone)
    if name not in one.columns:
        return Made(name, target, None)
    if not _converts(one.columns[name], wanted, arrow.time_zone):
        held = one.columns[name].simpleString()
        raise CannotReadError(f"{name!r} is {held} in {one.source.name}, and becomes {wanted.simpleString()}")
    owners = schema.owners.get(name) if schema.known_types is not None else None
    if owners is not None and set(owners) >= set(schema.known_types or ()):
        owners = None
    return Made(name, target, _path(one, name), owners)


def _as_text(one: Opened, name: str, type: T.DataType) -> str:
    """Return how to read a whole number or a text that may be converted to the other."""
    assert one.columns is not None
    held = one.columns[name]
    if held != type and not isinstance(held, T.IntegralType):
        raise CannotReadError(f"{name!r} is {held.simpleString()}, and becomes {type.simpleString()}")
    return _path(one, name)


def _converts(held: T.DataType, wanted: T.DataType, time_zone: str) -> bool:
    """Whether Arrow converts values of one type to the other exactly as Spark does."""
    match wanted:
        case _ if held == wanted:
            return True
        case T.LongType():
            return isinstance(held, T.IntegralType)
        case T.DoubleType():
            return isinstance(held, T.IntegralType | T.FloatType)
        case T.TimestampType():
            return isinstance(held, T.TimestampNTZType | T.DateType) and time_zone in UTC_NAMES
        case _:
            return False


def _texts(schema: T.StructType, paths: Iterable[str | None]) -> tuple[str, ...]:
    """Return those of the columns that are texts."""
    texts = {field.name for field in schema.fields if field.dataType == T.StringType()}
    return tuple(dict.fromkeys(path for path in paths if path in texts))
