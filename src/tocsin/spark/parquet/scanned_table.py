"""Recognise a table that is a plain scan of Parquet files: tasks can then read the files with Arrow, as if given their path.

A projection to columns, under other names if need be, and a filter that compares columns with constants are part of such a
scan. Spark itself reads any other table. The plan is inspected in Java, which a client of Spark Connect cannot do.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from tocsin.runtime.read.parquet_scan import Condition, Scan
from tocsin.spark.parquet.row_groups import CannotReadError
from tocsin.spark.session.session import is_remote

_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
# Options of a reader that only say which files there are.
_HARMLESS = {"path", "paths", "pathglobfilter", "recursivefilelookup", "modifiedbefore", "modifiedafter"}
_RELATIONS = {
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TEXT = {"StartsWith": "starts", "EndsWith": "ends", "Contains": "contains"}
_COMPARED = (
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "string",
    "boolean",
    "date",
    "timestamp",
    "timestamp_ntz",
)
_FLOATS = ("float", "double")
_DEEPEST = 100  # levels of a filter, which is followed by recursion
_MOST = 1000  # constants and conditions of a filter, each of which takes several calls into Java


def scan_of(table: DataFrame) -> tuple[Scan, T.StructType]:
    """Return how the rows of a table are made from those of its files, and the schema of the files.

    Raises `CannotReadError` if the table is more than a scan of Parquet files.
    """
    if is_remote(table.sparkSession):
        raise CannotReadError("through Spark Connect, the files of a table are not known")
    plan = table._jdf.queryExecution().optimizedPlan()
    names: list[tuple[str, int]] | None = None
    conditions: list[Any] = []
    while (kind := _kind(plan)) in ("Project", "Filter"):
        if kind == "Filter":
            conditions.append(plan.condition())
        else:
            names = _projected(names, plan)
        plan = plan.child()
    if kind != "LogicalRelation":
        raise CannotReadError(f"the table is more than a scan of Parquet files: {kind}")
    schema = _file_schema(plan.relation())
    columns = {one.exprId().id(): str(one.name()) for one in _items(plan.output())}
    for name in columns.values():
        if name not in schema.names:
            raise CannotReadError(f"{name!r} is not a column of the files")
    own = names if names is not None else [(name, number) for number, name in columns.items()]
    if [name for name, _ in own] != table.columns or any(number not in columns for _, number in own):
        raise CannotReadError("the columns of the table are not those of the files")
    reading = _Conditions(columns)
    where = None
    for one in conditions:
        found = reading.condition(one, 0)
        where = found if where is None else ("and", where, found)
    renamed = tuple((name, columns[number]) for name, number in own)
    return Scan(renamed, where, tuple(dict.fromkeys(reading.asked))), schema


def _kind(node: Any) -> str:
    return str(node.getClass().getSimpleName())


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(number) for number in range(sequence.size())]


def _projected(names: list[tuple[str, int]] | None, plan: Any) -> list[tuple[str, int]]:
    """Return the names of columns, and the attribute each is, below one more projection."""
    below: dict[int, tuple[str, int]] = {}
    for one in _items(plan.projectList()):
        kept = one.child() if _kind(one) == "Alias" else one
        if _kind(kept) != "AttributeReference":
            raise CannotReadError(f"the table has a computed column {str(one.name())!r}")
        below[one.exprId().id()] = (str(one.name()), kept.exprId().id())
    if names is None:
        return list(below.values())
    return [(name, below[number][1]) for name, number in names]


def _file_schema(relation: Any) -> T.StructType:
    if _kind(relation) != "HadoopFsRelation" or str(relation.fileFormat().getClass().getName()) != _PARQUET:
        raise CannotReadError("the table is not read from Parquet files")
    if relation.partitionSchema().size():
        raise CannotReadError("names of folders hold columns of the table")
    options = {str(one._1()).lower() for one in _items(relation.options().toSeq())}
    if options - _HARMLESS:
        raise CannotReadError(f"the files are read with the option {min(options - _HARMLESS)}")
    return T.StructType.fromJson(json.loads(relation.dataSchema().json()))


class _Conditions:
    """Turns Spark's expressions into conditions, and collects the columns they use."""

    def __init__(self, columns: dict[int, str]) -> None:
        self._columns = columns
        self._left = _MOST
        self.asked: list[str] = []

    def condition(self, one: Any, depth: int) -> Condition:
        """Return the condition of an expression; raises `CannotReadError` if Arrow might answer differently."""
        kind = _kind(one)
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise CannotReadError("the filter of the table is too large")
        if kind in ("And", "Or"):
            left, right = self.condition(one.left(), depth + 1), self.condition(one.right(), depth + 1)
            return (kind.lower(), left, right)
        if kind == "Not":
            return ("not", self.condition(one.child(), depth + 1))
        if kind in ("IsNull", "IsNotNull"):
            asked = ("null", self._column(one.child()))
            return asked if kind == "IsNull" else ("not", asked)
        if kind in _RELATIONS:
            return self._compare(_RELATIONS[kind], one.left(), one.right())
        if kind in _TEXT:
            return ("text", _TEXT[kind], self._column(one.left(), "string"), self._constant(one.right()))
        if kind == "In":
            name = self._column(one.value(), *_COMPARED)
            return ("among", name, [self._constant(value) for value in _items(one.list())])
        if kind == "AttributeReference":
            return ("compare", "=", self._column(one, "boolean"), True)
        raise CannotReadError(f"the filter of the table has {kind}")

    def _compare(self, relation: str, left: Any, right: Any) -> Condition:
        if _kind(left) == "Literal":
            relation, left, right = _TURNED[relation], right, left
        name, value = self._column(left, *_COMPARED, *_FLOATS), self._constant(right)
        return ("compare", relation, name, value)

    def _column(self, one: Any, *types: str) -> str:
        if _kind(one) != "AttributeReference" or one.exprId().id() not in self._columns:
            raise CannotReadError(f"the filter of the table has {_kind(one)}")
        type = str(one.dataType().simpleString())
        if types and type not in types:
            raise CannotReadError(f"the filter of the table compares {str(one.name())!r}, which is {type}")
        name = self._columns[one.exprId().id()]
        self.asked.append(name)
        return name

    def _constant(self, one: Any) -> int | float | str | bool:
        self._left -= 1
        if _kind(one) != "Literal" or one.value() is None:
            raise CannotReadError(f"the filter of the table has {_kind(one)}")
        value = one.value()
        if isinstance(value, int | float | bool) and value == value:
            return value
        if str(one.dataType().simpleString()) == "string":
            return str(value.toString())
        raise CannotReadError("the filter of the table has a constant of another kind")
