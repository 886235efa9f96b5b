"""Everything that can run a workload: Tocsin on its paths, Spark's own sort, and other engines.

An engine is a module with `prepare(job)`, which gets everything ready and returns a round (see `job`). It is loaded in a
process of its own, so that nothing here loads Spark, DuckDB or a kernel.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

from tocsin.bench.peers import flink_python
from tocsin.bench.workloads import Workload

BASELINE = "spark-sort"


@dataclass(frozen=True, slots=True)
class Engine:
    """Description of an engine, without loading it.

    Args:
        home: the module with `prepare`.
        peer: whether it is a third-party engine.
        missing: why it cannot be used on this machine, or None.
        unable: why it cannot run a workload, or None.
        one_core: whether it uses one core, however many there are.
    """

    name: str
    says: str
    home: str
    peer: bool = False
    missing: Callable[[], str | None] = lambda: None
    unable: Callable[[Workload], str | None] = lambda workload: None
    one_core: bool = False


def _without_duckdb() -> str | None:
    if importlib.util.find_spec("duckdb") is None:
        return "DuckDB is not installed: pip install 'tocsin[bench]'"
    return None


def _without_flink() -> str | None:
    return None if flink_python() else "Flink is not installed: tocsin bench --install-peers"


def _too_many(workload: Workload) -> str | None:
    if workload.family != "tokens":
        return "its SQL knows no consumption of events"
    return (
        "one query a pattern, so more than 100 tell nothing new" if len(workload.thresholds) > 100 else None
    )


def _no_asof(workload: Workload) -> str | None:
    if workload.shape == "abc_any":
        return "an ASOF join finds one partner, not all"
    return _too_many(workload)


def _no_flink(workload: Workload) -> str | None:
    if workload.family != "tokens":
        return "its MATCH_RECOGNIZE knows no consumption of events"
    if workload.shape == "abc_any":
        return "its MATCH_RECOGNIZE has no skip till any match"
    return "one query a pattern, at the speed of one each" if len(workload.thresholds) > 1 else None


_HOME = __name__
_KNOWN = (
    Engine(
        "tocsin-kernel",
        "our kernels alone, one core: from sorted columns in memory to matches in memory",
        f"{_HOME}.kernel",
        one_core=True,
    ),
    Engine("tocsin-dataframe", "tocsin.detect over a DataFrame of the Parquet file", f"{_HOME}.on_spark"),
    Engine("tocsin-parquet", "tocsin.detect over the path of the Parquet file", f"{_HOME}.on_spark"),
    Engine(
        BASELINE,
        "Spark alone: the same columns, repartitioned by key and sorted by time",
        f"{_HOME}.on_spark",
    ),
    Engine(
        "duckdb",
        "SQL by hand, with window functions and a fold",
        f"{_HOME}.in_duckdb",
        peer=True,
        missing=_without_duckdb,
        unable=_too_many,
    ),
    Engine(
        "duckdb-asof",
        "SQL by hand, with ASOF joins",
        f"{_HOME}.in_duckdb",
        peer=True,
        missing=_without_duckdb,
        unable=_no_asof,
    ),
    Engine(
        "flink",
        "MATCH_RECOGNIZE of Flink SQL in batch mode, from CSV",
        f"{_HOME}.in_flink",
        peer=True,
        missing=_without_flink,
        unable=_no_flink,
    ),
    Engine(
        "flink-streaming",
        "the same in streaming mode",
        f"{_HOME}.in_flink",
        peer=True,
        missing=_without_flink,
        unable=_no_flink,
    ),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _KNOWN}
