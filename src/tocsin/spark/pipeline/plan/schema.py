"""The attributes of a pipeline's events, and the columns of each source that hold type, time and id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import types as T

from tocsin.errors import PipelineError, did_you_mean
from tocsin.events import EventType
from tocsin.spark.events.columns import DEFAULT_TYPE, kind_of, struct_kinds
from tocsin.spark.pipeline.added_columns import ORIGIN, PREFIX
from tocsin.spark.pipeline.file.model import Declarations, Pipeline, Source

Types = Mapping[str, T.DataType]
# The columns of declared attributes, by kind.
SPARK_TYPES: dict[str, T.DataType] = {
    "string": T.StringType(),
    "int": T.LongType(),
    "float": T.DoubleType(),
    "bool": T.BooleanType(),
    "timestamp": T.TimestampType(),
}


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a source's columns; None where it has no such column."""

    time: tuple[str, str]
    type: str | None
    constant_type: str
    id: str | None
    origin: str | None


@dataclass(frozen=True, slots=True)
class Schema:
    """The attributes of all events as columns. `owners`: the event types that have a declared attribute."""

    attributes: Types
    kinds: Mapping[str, str]  # those that values are held to
    owners: Mapping[str, tuple[str, ...]]
    known_types: tuple[str, ...] | None  # None if an event may have any type
    of_composites: frozenset[str] = frozenset()  # attributes that only composites have

    def kinds_of_columns(self) -> dict[str, str]:
        """Return all attributes with their kinds, against which patterns are checked."""
        return struct_kinds(
            T.StructType([T.StructField(name, type) for name, type in self.attributes.items()])
        )

    def with_composites(self, pipeline: Pipeline, composites: Iterable[EventType]) -> Schema:
        """Return the schema extended by the attributes of composites that become events."""
        attributes = dict(self.attributes)
        for composite in composites:
            for name, kind in composite.attributes.items():
                attributes[name] = _checked(pipeline, composite.name, name, attributes.get(name), kind)
        return replace(
            self, attributes=attributes, of_composites=frozenset(attributes.keys() - self.attributes.keys())
        )


def roles(pipeline: Pipeline, source: Source, columns: Types | None) -> Roles:
    """Return the columns that hold time and type of a source's events; those not named are inferred.

    Args:
        columns: the columns of the source, or None if only its rows can show them.
    """
    known = columns if columns is not None else {"time": T.StringType(), "type": T.StringType()}
    named = {"type": source.type, "id": source.id, "source": source.origin}
    for key, name in named.items():
        if name is not None and columns is not None:
            _require(pipeline, source, key, name, columns)
    type = source.type or ("type" if source.event_type is None and "type" in known else None)
    if type is not None and not isinstance(known.get(type, T.StringType()), T.StringType):
        message = (
            f"the column {type!r} of source {source.name} holds no texts, so it cannot be the type of events"
        )
        raise pipeline.error("bad-column", message, (*source.place, "type"))
    constant = source.event_type or DEFAULT_TYPE
    if type is None and pipeline.declarations.strict and source.event_type is None:
        message = f"the source {source.name} has no column 'type'"
        raise pipeline.error("no-type", message, source.place, "say type = 'column', or event_type = 'Name'")
    origin = source.origin or (ORIGIN if columns is None or ORIGIN in columns else None)
    return Roles(_times(pipeline, source, columns, known), type, constant, source.id, origin)


def _require(pipeline: Pipeline, source: Source, key: str, name: str, columns: Types) -> None:
    if name not in columns:
        message = f"the source {source.name} has no column {name!r}"
        raise pipeline.error("unknown-column", message, (*source.place, key), did_you_mean(name, columns))


def _times(pipeline: Pipeline, source: Source, columns: Types | None, known: Types) -> tuple[str, str]:
    times = source.time
    if times is None:
        moments = [
            n for n, t in known.items() if isinstance(t, T.TimestampType | T.TimestampNTZType | T.DateType)
        ]
        if "time" not in known and len(moments) != 1:
            hint = "say time = 'column', or start and end; columns: " + ", ".join(known)
            raise pipeline.error("no-time", f"which column of {source.name} is the time?", source.place, hint)
        time = "time" if "time" in known else moments[0]
        times = (time, time)
    keys = ("time", "time") if times[0] == times[1] else ("start", "end")
    for key, name in zip(keys, times, strict=True):
        if columns is None:
            continue
        _require(pipeline, source, key, name, columns)
        type, place = columns[name], (*source.place, key)
        if not isinstance(
            type, T.StringType | T.NumericType | T.TimestampType | T.TimestampNTZType | T.DateType
        ):
            message = (
                f"the column {name!r} of {source.name} is {type.simpleString()}, so it cannot be the time"
            )
            raise pipeline.error("bad-column", message, place)
        if isinstance(type, T.NumericType) and source.time_unit is None:
            message = f"the time column {name!r} of {source.name} holds numbers; of what?"
            raise pipeline.error(
                "no-time-unit", message, source.place, 'say time_unit = "s", "ms", "us" or "ns"'
            )
    return times


def build_schema(
    pipeline: Pipeline, found: Iterable[tuple[Source, Roles, Types | None]], *, hold_to_types: bool = False
) -> Schema:
    """Return the attributes of a pipeline: the declared ones if the declaration is strict, else all columns.

    Args:
        hold_to_types: whether values are held to the types of the columns, too, as those of a stream are that were found in
            its first files: what comes later and does not fit must not become a missing value.
    """
    declared = pipeline.declarations
    attributes: dict[str, T.DataType] = {
        name: SPARK_TYPES[kind] for name, kind in declared.attributes.items()
    }
    for source, own, columns in found:
        if declared.strict:
            _check_declared(pipeline, source, columns or {})
            continue
        for name, type in (columns or {}).items():
            if name in (*own.time, own.type, own.id, own.origin) or name in declared.attributes:
                continue
            if name.startswith(PREFIX) or "." in name:
                # A dot leads into a struct, and the prefix is for the columns of `added_columns`.
                message = f"the column {name!r} of {source.name} has a name that patterns cannot use"
                raise pipeline.error("bad-column", message, source.place, f'rename = {{ "{name}" = "…" }}')
            for other in attributes:
                if other != name and other.lower() == name.lower():
                    message = f"the column {name!r} of {source.name} and {other!r} differ in case only"
                    raise pipeline.error("attribute-clash", message, source.place, "rename one of them")
            attributes[name] = _merged(pipeline, source, name, attributes.get(name), type)
    attributes[ORIGIN] = T.StringType()
    types = [event_type.name for event_type in declared.types]
    kinds = dict(declared.attributes)
    if hold_to_types:
        # Anything can be taken for a text.
        held = SPARK_TYPES.keys() - {"string"}
        kinds = {name: kind for name, type in attributes.items() if (kind := kind_of(type)) in held} | kinds
    return Schema(attributes, kinds, _owners(declared), tuple(types) if declared.strict else None)


def _owners(declarations: Declarations) -> dict[str, tuple[str, ...]]:
    catalog = declarations.catalog()
    names = [event_type.name for event_type in declarations.types]
    return {a: tuple(n for n in names if a in catalog.attributes(n)) for a in declarations.attributes}


def _check_declared(pipeline: Pipeline, source: Source, columns: Types) -> None:
    """Raise an error if the declared type of an attribute cannot hold the values of its column."""
    accepted: dict[str, tuple[type[T.DataType], ...]] = {
        "string": (T.StringType,),
        "int": (T.StringType, T.IntegralType),
        "float": (T.StringType, T.NumericType),
        "bool": (T.StringType, T.BooleanType),
        "timestamp": (T.StringType, T.TimestampType, T.TimestampNTZType, T.DateType),
    }
    for event_type in pipeline.declarations.types:
        for name, kind in event_type.attributes.items():
            if name in columns and not isinstance(columns[name], accepted[kind]):
                message = (
                    f"{event_type.name}.{name} is declared as {kind}, "
                    f"but in source {source.name} it is {columns[name].simpleString()}"
                )
                raise pipeline.error("attribute-clash", message, ("event", event_type.name, name))


def _merged(
    pipeline: Pipeline, source: Source, name: str, before: T.DataType | None, type: T.DataType
) -> T.DataType:
    """Return a common type for a column that several sources have."""
    if before is None or before == type:
        return type
    kinds = {kind_of(before), kind_of(type)}
    if kinds == {"int", "float"}:
        return T.DoubleType()
    if len(kinds) == 1 and (kind := kinds.pop()) in SPARK_TYPES:
        return SPARK_TYPES[kind]
    raise _clash(pipeline, source.place, name, f"in source {source.name} it is {type.simpleString()}", before)


def _checked(
    pipeline: Pipeline, composite: str, name: str, before: T.DataType | None, kind: str
) -> T.DataType:
    """Return a type for an attribute of a composite, which may share its column with events."""
    if before is None or kind_of(before) == kind:
        return before or SPARK_TYPES[kind]
    place = next(entry.place for entry in pipeline.subscriptions if entry.name == composite)
    raise _clash(pipeline, place, name, f"in the composite {composite} it is {kind}", before)


def _clash(
    pipeline: Pipeline, place: tuple[str | int, ...], name: str, here: str, before: T.DataType
) -> PipelineError:
    message = f"{name!r} is {before.simpleString()} elsewhere, but {here}"
    return pipeline.error("attribute-clash", message, place, "give one of them another name")
