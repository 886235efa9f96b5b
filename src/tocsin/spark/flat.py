"""Matches as a plain table with one row for each of their events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.errors import InputError
from tocsin.runtime.results.match_rows import MATCH_COLUMNS
from tocsin.spark.quoting import quoted

_EVENT = ("role", "type", "id", "start", "end")
_PLACE = "position"
_COUNTED, _CONSTITUENT = "__position", "__constituent"  # no column of a match is called so


def flat(matches: DataFrame) -> DataFrame:
    """Return one row for each event of each match, in a table or a stream.

    Its columns are the id of the match, `pattern`, the key columns and the other columns that describe the rule;
    `position`, the place of the event in the match, from 1; `role`, `type`, `id`, `start` and `end` of the event; and its
    attributes under their own names, which are null for a timer. An attribute that is also a key column comes once;
    what clashes with another column gets a `_` appended: of a key `id`, the id of the event is `id_`.
    """
    if not isinstance(matches, DataFrame):
        message = f"matches cannot be a {type(matches).__module__}.{type(matches).__name__}"
        raise InputError(
            "bad-table", message, hint="detect in a table of Spark: spark.createDataFrame(events)"
        )
    if "constituents" not in matches.columns:
        hint = "take what tocsin.detect returns, with 'constituents' among the reported columns"
        raise InputError("unknown-column", "these matches do not contain their events", hint=hint)
    own = [name for name in matches.columns if name in ("match_id", "pattern") or name not in MATCH_COLUMNS]
    opened = matches.select(*map(quoted, own), F.posexplode("constituents").alias(_COUNTED, _CONSTITUENT))
    constituent = F.col(_CONSTITUENT)
    names = {name: f"{name}_" if name in own else name for name in (_PLACE, *_EVENT)}
    attributes = _attributes(matches.schema)
    return opened.select(
        *map(quoted, own),
        (F.col(_COUNTED) + 1).alias(names[_PLACE]),
        *(constituent.getField(name).alias(names[name]) for name in _EVENT),
        *_unlike(
            own,
            names.values(),
            {name: constituent.getField("attributes").getField(name) for name in attributes},
        ),
    )


def _attributes(schema: T.StructType) -> list[str]:
    """Return the names of the attributes that constituents carry."""
    constituents = schema["constituents"].dataType
    assert isinstance(constituents, T.ArrayType)
    assert isinstance(constituents.elementType, T.StructType)
    if "attributes" not in constituents.elementType.names:
        return []
    carried = constituents.elementType["attributes"].dataType
    assert isinstance(carried, T.StructType)
    return carried.names


def _unlike(own: Sequence[str], of_event: Iterable[str], attributes: dict[str, Column]) -> list[Column]:
    """Return the attributes that are not key columns, with `_` appended where the name is taken."""
    of_match = {"match_id", "pattern"}
    taken = of_match | {*of_event}
    return [
        column.alias(f"{name}_" if name in taken else name)
        for name, column in attributes.items()
        if name not in own or name in of_match
    ]
