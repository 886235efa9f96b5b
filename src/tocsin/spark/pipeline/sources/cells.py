"""Access to the values of a row from any format: a table, a JSON object, a CSV line.

A value that cannot be read is null, and `given` distinguishes it from a missing one. Nothing here stops a
job: every conversion is one of Spark's `try_` kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from tocsin.spark.events.columns import micros_of
from tocsin.spark.pipeline.file.model import TimeUnit
from tocsin.spark.pipeline.plan.schema import SPARK_TYPES

# Shapes of JSON values that are of a type. A number in quotes is a text, and a text is no number.
_JSON_SHAPES = {
    "string": "STRING",
    "int": "BIGINT",
    "float": "BIGINT|DECIMAL.*|DOUBLE|FLOAT",
    "bool": "BOOLEAN",
    "timestamp": "STRING",
}
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_DAY = r"^\d{4}-\d{2}-\d{2}$"
_ZONE = r"(Z|[+-]\d{2}(:?\d{2})?)$"
_MOMENT = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?\s?(Z|[+-]\d{2}(:?\d{2})?)?$"
_NO_SECONDS = r"^(.{10}[T ]\d{2}:\d{2})(?!:)"
_MICROSECONDS = {"s": Decimal(1_000_000), "ms": Decimal(1_000), "us": Decimal(1), "ns": Decimal("0.001")}


class Cells(Protocol):
    """A row whose values are looked up by the names of columns after renaming."""

    def given(self, name: str) -> Column:
        """Return a condition: whether there is a value."""
        ...

    def value(self, name: str, kind: str | None, type: T.DataType) -> Column:
        """Return the value. With a declared `kind` it must be of that kind; otherwise it is converted to the type."""
        ...

    def may_misfit(self, name: str, kind: str) -> bool:
        """Whether a value may be present without being of the kind."""
        ...

    def moment(self, name: str, unit: TimeUnit | None) -> Column:
        """Return the value as a time in microseconds."""
        ...


@dataclass(frozen=True)
class TableCells:
    """Columns that already have types."""

    columns: Mapping[str, Column]
    types: Mapping[str, T.DataType]

    def _column(self, name: str) -> Column:
        return self.columns[name] if name in self.columns else F.lit(None).cast("string")

    def given(self, name: str) -> Column:
        return self._column(name).isNotNull()

    def value(self, name: str, kind: str | None, type: T.DataType) -> Column:
        if name not in self.types:
            return F.lit(None).cast(type)
        if kind is not None and isinstance(self.types[name], T.StringType):
            return from_text(self._column(name), kind)
        return self._column(name).try_cast(type)

    def may_misfit(self, name: str, kind: str) -> bool:
        return kind != "string" and isinstance(self.types.get(name), T.StringType)

    def moment(self, name: str, unit: TimeUnit | None) -> Column:
        type = self.types.get(name, T.StringType())
        if isinstance(type, T.TimestampType | T.TimestampNTZType | T.DateType):
            return micros_of(self._column(name), type)
        return (
            text_micros(self._column(name), unit)
            if isinstance(type, T.StringType)
            else _counted(self._column(name), unit)
        )


@dataclass(frozen=True)
class JsonCells:
    """Fields of a JSON object, which Spark holds as a variant."""

    object: Column
    paths: Mapping[str, str]

    def _found(self, name: str, type: str) -> Column:
        path = self.paths.get(name, name)
        steps = path.split(".") if name in self.paths else [path]
        quoted = "".join("['" + step.replace("'", "\\'") + "']" for step in steps)
        return F.try_variant_get(self.object, "$" + quoted, type)

    def given(self, name: str) -> Column:
        found = self._found(name, "variant")
        return found.isNotNull() & ~F.is_variant_null(found)

    def value(self, name: str, kind: str | None, type: T.DataType) -> Column:
        if kind is None:
            return self._found(name, type.simpleString())
        shape = F.schema_of_variant(self._found(name, "variant"))
        if kind == "timestamp":
            value = F.timestamp_micros(text_micros(self._found(name, "string"), None))
        else:
            value = self._found(name, SPARK_TYPES[kind].simpleString())
            value = finite(value) if kind == "float" else value
        return F.when(shape.rlike(f"^({_JSON_SHAPES[kind]})$"), value)

    def may_misfit(self, name: str, kind: str) -> bool:
        return True

    def moment(self, name: str, unit: TimeUnit | None) -> Column:
        return text_micros(self._found(name, "string"), unit)


@dataclass(frozen=True)
class CsvCells:
    """Fields of a CSV line, a struct of texts. An empty field is a missing value."""

    fields: Column
    paths: Mapping[str, str]

    def _text(self, name: str) -> Column:
        return self.fields.getField(self.paths[name]) if name in self.paths else F.lit(None).cast("string")

    def given(self, name: str) -> Column:
        return self._text(name).isNotNull()

    def value(self, name: str, kind: str | None, type: T.DataType) -> Column:
        if name not in self.paths or not isinstance(type, T.AtomicType):
            return F.lit(None).cast(type)
        return from_text(self._text(name), kind) if kind else self._text(name).try_cast(type)

    def may_misfit(self, name: str, kind: str) -> bool:
        return kind != "string" and name in self.paths

    def moment(self, name: str, unit: TimeUnit | None) -> Column:
        return text_micros(self._text(name), unit)


def from_text(text: Column, kind: str) -> Column:
    """Parse a value from text; null if it is not of the kind."""
    if kind == "string":
        return text
    plain = F.trim(text)
    if kind == "timestamp":
        return F.timestamp_micros(text_micros(plain, None))
    if kind == "bool":
        return F.when(F.lower(plain).isin("true", "false"), F.lower(plain) == "true")
    # Spark itself would take 1d and NaN for numbers.
    value = plain.try_cast(SPARK_TYPES[kind])
    return F.when(plain.rlike(_NUMBER), finite(value) if kind == "float" else value)


def finite(number: Column) -> Column:
    """Return a double parsed from text; null if the number is out of range."""
    return F.when(F.abs(number) < F.lit(float("inf")), number)


def text_micros(text: Column, unit: TimeUnit | None) -> Column:
    """Parse a time to microseconds: ISO 8601, in UTC unless it has an offset; or a number, if there is a unit."""
    if unit is not None:
        return _counted(text, unit)
    plain = F.trim(text)
    # Spark itself would take "10:30" for today and "2004" for New Year, but not a zone without seconds.
    full = F.regexp_replace(plain, _NO_SECONDS, "$1:00")
    zoned = (
        F.when(plain.rlike(_DAY), F.concat(plain, F.lit("T00:00:00Z")))
        .when(plain.rlike(_MOMENT) & plain.rlike(_ZONE), full)
        .when(plain.rlike(_MOMENT), F.concat(full, F.lit("Z")))
    )
    return F.unix_micros(F.try_to_timestamp(zoned))


def _counted(number: Column, unit: TimeUnit | None) -> Column:
    """Convert a number of units since 1970-01-01 UTC to microseconds."""
    assert unit is not None
    # So few digits that a product with the factor always fits: an overflow would stop the job.
    exact = number.try_cast("decimal(28,9)") * F.lit(_MICROSECONDS[unit])
    return (F.floor(exact) if unit == "ns" else F.round(exact)).try_cast("long")
