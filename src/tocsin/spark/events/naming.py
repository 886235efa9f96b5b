"""Find the column or struct field that a name refers to, by Spark's own rules.

A name is that of a column, or a path into structs with dots between the parts. A column whose own name has dots is found
first. Upper and lower case are the same unless `spark.sql.caseSensitive` is set; a name that is written as the column is
wins in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.errors import InputError, did_you_mean
from tocsin.spark.query import HasSchema
from tocsin.spark.quoting import quoted


def names_at(schema: T.StructType, name: str) -> tuple[str, ...] | None:
    """Return the names of the column and the fields inside it that a name leads to; None if there is nothing.

    >>> user = T.StructType([T.StructField("Id", T.LongType())])
    >>> schema = T.StructType([T.StructField("user", user), T.StructField("a.b", T.LongType())])
    >>> names_at(schema, "user.id"), names_at(schema, "A.B"), names_at(schema, "user.name")
    (('user', 'Id'), ('a.b',), None)
    """
    own = _spelled(schema.names, name)
    if own is not None:
        return (own,)
    for first, rest in _splits(name):
        outer = _spelled(schema.names, first)
        type = None if outer is None else schema[outer].dataType
        if outer is not None and isinstance(type, T.StructType):
            inner = names_at(type, rest)
            if inner is not None:
                return (outer, *inner)
    return None


def _spelled(names: Sequence[str], name: str) -> str | None:
    """Return the name as it is spelled in a schema; None if there is none, or several and none of them exactly."""
    if name in names:
        return name
    alike = [one for one in names if one.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Cut a name at each of its dots, the last one first."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:count]), ".".join(parts[count:])


def type_at(schema: T.StructType, name: str) -> T.DataType | None:
    """Return the type of a column, or of a field inside a struct; None if the name is unknown."""
    names = names_at(schema, name)
    if names is None:
        return None
    type: T.DataType = schema
    for one in names:
        assert isinstance(type, T.StructType)
        type = type[one].dataType
    return type


def known_type(schema: T.StructType, name: str) -> T.DataType:
    """Return the type of a column or field that is known to be there."""
    type = type_at(schema, name)
    assert type is not None, name
    return type


def spelled(schema: T.StructType, name: str) -> str:
    """Return a name as the schema spells it; one that leads nowhere as it is.

    >>> spelled(T.StructType([T.StructField("Room", T.LongType())]), "room")
    'Room'
    """
    names = names_at(schema, name)
    return name if names is None else ".".join(names)


def column_at(schema: T.StructType, name: str) -> Column:
    """Return the column or struct field that a name leads to."""
    return F.col(".".join(map(quoted, names_at(schema, name) or (name,))))


def is_case_sensitive(table: HasSchema) -> bool:
    """Return whether the session of a table is case-sensitive."""
    session = getattr(table, "sparkSession", None)
    return session is not None and str(session.conf.get("spark.sql.caseSensitive")).lower() == "true"


def required_name(table: HasSchema, name: str) -> str:
    """Return the name of a column or struct field as the table spells it; raise `InputError` if it has none."""
    schema = table.schema
    found = spelled(schema, name)
    if names_at(schema, name) is None or (is_case_sensitive(table) and found != name):
        hint = did_you_mean(name, all_names(schema))
        raise InputError("unknown-column", f"the table has no column {name!r}", hint=hint)
    return found


def all_names(schema: T.StructType) -> list[str]:
    """Return the names of all columns, and of the fields inside structs."""
    names: list[str] = []
    for field in schema.fields:
        names.append(field.name)
        if isinstance(field.dataType, T.StructType):
            names += [f"{field.name}.{inner}" for inner in all_names(field.dataType)]
    return names


def check_unambiguous(table: HasSchema) -> None:
    """Refuse columns that differ only in case, in a session that is not case-sensitive."""
    if is_case_sensitive(table):
        return
    seen: dict[str, str] = {}
    for name in table.schema.names:
        other = seen.setdefault(name.lower(), name)
        if other != name or table.schema.names.count(name) > 1:
            message = f"the columns {other!r} and {name!r} have the same name"
            hint = "rename one of them, or set spark.sql.caseSensitive to true if they differ in case"
            raise InputError("duplicate-name", message, hint=hint)
