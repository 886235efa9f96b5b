"""Tables that are already partitioned by the key, so that no shuffle is needed.

Spark reports how rows are partitioned only in its plan, as text for people to read. So the plan is only a hint: we
request the partitioning again, and Spark itself skips the shuffle where the partitioning already exists. A wrong hint
costs one more shuffle, but no match.

Bucketed tables are not used. Spark 4 skips the shuffle for them, too, but then reads the files without regard to their
buckets, because nothing seems to need them any more ("disabled by query planner"): the events of a key would be
separated.
"""

from __future__ import annotations

import re

from pyspark.sql import DataFrame
from pyspark.sql import types as T

# Types whose equal values have equal hashes in Spark; floating-point 0.0 and -0.0 do not.
_PLAIN = (T.IntegralType, T.BooleanType, T.DateType, T.TimestampType, T.TimestampNTZType)
_OPERATOR = re.compile(r"^[\s:+|-]*(?:\*?\(\d+\) )?(\w+)")
_PASSED = ("AdaptiveSparkPlan", "Project", "Filter")
_PARTITIONS = re.compile(r"Exchange hashpartitioning\(.*, (\d+)\)")


def together(used: DataFrame, keys: int) -> DataFrame | None:
    """Return prepared rows with each key in one partition, or None if that would take a shuffle."""
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
    """Return the lines of Spark's plan; none where the session gives no access to it."""
    if not hasattr(frame, "_jdf"):
        return []
    return str(frame._jdf.queryExecution().executedPlan().toString()).splitlines()


def _partitions(plan: list[str]) -> int | None:
    """Return the partition count of the last hash partitioning, if only projections and filters follow it."""
    for line in plan:
        operator = _OPERATOR.match(line)
        if operator is None or operator[1] not in _PASSED:
            found = _PARTITIONS.search(line)
            return int(found[1]) if found else None
    return None


def _moves(plan: list[str]) -> int:
    return sum("Exchange " in line for line in plan)
