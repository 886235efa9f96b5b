"""Tables that were repartitioned by the key: the events of a key are together already, and are not moved again.

What Spark says of where rows are is in its plan, and for people. So the plan is only a hint: the partitioning is asked for
again, and Spark itself leaves that out where it is there. If the hint were wrong, rows would be moved once more, and no match
would be lost.

Tables in buckets are not used. Spark 4 leaves the partitioning out for them, too, and then reads the files without regard to
their buckets, because nothing seems to need them any more ("disabled by query planner"): the events of a key would be apart.
"""

from __future__ import annotations

import re

from pyspark.sql import DataFrame
from pyspark.sql import types as T

# Keys that are equal where Spark's hashes are: of numbers that are not whole, 0.0 and -0.0 are not.
_PLAIN = (T.IntegralType, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType)
_OPERATOR = re.compile(r"^[\s:+|-]*(?:\*?\(\d+\) )?(\w+)")
_PASSED = ("AdaptiveSparkPlan", "Project", "Filter")
_PARTITIONS = re.compile(r"Exchange hashpartitioning\(.*, (\d+)\)")


def together(used: DataFrame, keys: int) -> DataFrame | None:
    """Prepared rows, those of a key in one partition, if Spark need not move them for that; otherwise None."""
    names = [f"key{number}" for number in range(keys)]
    if not all(_is_plain(used.schema[name].dataType) for name in names):
        return None
    plan = _plan(used)
    partitions = _partitions(plan)
    if partitions is None:
        return None
    placed = used.repartition(partitions, *names)
    return placed if _moves(_plan(placed)) == _moves(plan) else None


def _is_plain(type: T.DataType) -> bool:
    return isinstance(type, _PLAIN) or type == T.StringType()


def _plan(frame: DataFrame) -> list[str]:
    """The lines of Spark's plan; none where there is no way to ask for it."""
    if not hasattr(frame, "_jdf"):
        return []
    return str(frame._jdf.queryExecution().executedPlan().toString()).splitlines()


def _partitions(plan: list[str]) -> int | None:
    """Into how many partitions rows are put by hash just before, if they are only chosen and renamed since."""
    for line in plan:
        operator = _OPERATOR.match(line)
        if operator is None or operator[1] not in _PASSED:
            found = _PARTITIONS.search(line)
            return int(found[1]) if found else None
    return None


def _moves(plan: list[str]) -> int:
    return sum("Exchange " in line for line in plan)
