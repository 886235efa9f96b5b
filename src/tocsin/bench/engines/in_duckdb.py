"""The workloads as an expert would write them in DuckDB's SQL.

Only the types that matter are read. Each start row finds the row that ends its match: with window functions, or with ASOF
joins. Where matches must not overlap, a fold over the candidates of a key then takes the leftmost again and again.
"""

from __future__ import annotations

from typing import Any

from tocsin.bench.job import Found, Job, Round
from tocsin.bench.workloads import Threshold, Workload

_UNBOUNDED = 1 << 60  # milliseconds: no window

# Every piece of the texts below is a constant of this module; what differs from run to run are parameters ($window, …).
# ruff: noqa: S608

_AFTER = "OVER (PARTITION BY key ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)"
_FROM = "OVER (PARTITION BY key ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"
_USED = "used AS (SELECT * FROM events WHERE type IN ('A', 'B', 'C'))"
_ABOVE_A, _ABOVE_B = "type = 'A' AND v >= $a", "type = 'B' AND v >= $b"

# Along a key, the time of the next C never decreases: its minimum over the B to come is that of the first of them.
_ABC = """
  with_c AS (SELECT *, min(ts) FILTER (type = 'C') {after} AS c FROM used),
  with_b AS (SELECT *, min(c) FILTER ({is_b}) {after} AS stop FROM with_c),
  candidate AS (SELECT key, ts AS start, stop FROM with_b WHERE {is_a} AND stop - ts < $window)"""
_ALL_THREE = f"""
  upcoming AS (
    SELECT key, ts, greatest(a, b, c) AS stop, a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL AS complete FROM (
      SELECT key, ts, min(ts) FILTER (type = 'A') {_FROM} AS a, min(ts) FILTER (type = 'B') {_FROM} AS b,
        min(ts) FILTER (type = 'C') {_FROM} AS c FROM used)),
  candidate AS (SELECT key, ts AS start, stop FROM upcoming WHERE complete AND stop - ts < $window)"""
_AC = f"""
  upcoming AS (
    SELECT key, ts, type, min(ts) FILTER (type = 'B') {_AFTER} AS b, min(ts) FILTER (type = 'C') {_AFTER} AS c FROM used),
  candidate AS (
    SELECT key, ts AS start, c AS stop FROM upcoming WHERE type = 'A' AND (b IS NULL OR b > c) AND c - ts < $window)"""

_EACH_TYPE = """
  a AS (SELECT key, ts FROM used WHERE {is_a}), b AS (SELECT key, ts FROM used WHERE {is_b}),
  c AS (SELECT key, ts FROM used WHERE type = 'C'),"""
_ABC_ASOF = f"""{_EACH_TYPE}
  pair AS (SELECT a.key, a.ts AS start, b.ts AS middle FROM a ASOF JOIN b ON a.key = b.key AND a.ts <= b.ts),
  candidate AS (
    SELECT pair.key, start, c.ts AS stop FROM pair ASOF JOIN c ON pair.key = c.key AND middle <= c.ts
    WHERE c.ts - start < $window)"""
_ALL_THREE_ASOF = f"""{_EACH_TYPE}
  candidate AS (
    SELECT used.key, used.ts AS start, greatest(a.ts, b.ts, c.ts) AS stop FROM used
    ASOF JOIN a ON used.key = a.key AND used.ts <= a.ts ASOF JOIN b ON used.key = b.key AND used.ts <= b.ts
    ASOF JOIN c ON used.key = c.key AND used.ts <= c.ts WHERE greatest(a.ts, b.ts, c.ts) - used.ts < $window)"""
_AC_ASOF = f"""{_EACH_TYPE}
  pair AS (SELECT a.key, a.ts AS start, c.ts AS stop FROM a ASOF JOIN c ON a.key = c.key AND a.ts <= c.ts),
  candidate AS (
    SELECT pair.key, start, stop FROM pair ASOF LEFT JOIN b ON pair.key = b.key AND start <= b.ts
    WHERE (b.ts IS NULL OR b.ts > stop) AND stop - start < $window)"""

_CANDIDATES = {"abc": _ABC, "all_three": _ALL_THREE, "ac_without_b": _AC}
_CANDIDATES_ASOF = {"abc": _ABC_ASOF, "all_three": _ALL_THREE_ASOF, "ac_without_b": _AC_ASOF}

_ALL = "SELECT count(*), sum(stop - start) FROM candidate"
# Candidates that share their end are one match, from the first of them, and those with other ends lie apart.
_FIRST_OF_END = """
SELECT count(*), sum(stop - start) FROM (SELECT stop, min(start) AS start FROM candidate GROUP BY key, stop)"""
_FOLD = """
SELECT sum(done.found), sum(done.spans) FROM (
  SELECT list_reduce(
    list({'start': start, 'stop': stop, 'found': 0::BIGINT, 'spans': 0::BIGINT} ORDER BY start),
    lambda done, next: CASE WHEN next.start > done.stop
      THEN {'start': next.start, 'stop': next.stop, 'found': done.found + 1, 'spans': done.spans + next.stop - next.start}
      ELSE done END,
    {'start': 0::BIGINT, 'stop': -1::BIGINT, 'found': 0::BIGINT, 'spans': 0::BIGINT}) AS done
  FROM candidate GROUP BY key)"""
# Pairs first: there are far fewer of them in a window than of B and C in all.
_EVERY_TRIPLE = f"""
WITH {_USED}, pair AS MATERIALIZED (
  SELECT a.key, a.ts AS start, b.ts AS middle FROM used a JOIN used b ON a.key = b.key AND b.ts > a.ts
  WHERE a.type = 'A' AND b.type = 'B' AND b.ts - a.ts < $window)
SELECT count(*), sum(c.ts - start) FROM pair JOIN used c ON pair.key = c.key AND c.ts > middle
WHERE c.type = 'C' AND c.ts - start < $window"""


def prepare(job: Job) -> Round:
    """Open a database in memory over the Parquet file; reading it is part of each round."""
    import duckdb  # only here: the package is optional

    database: Any = duckdb.connect(config={"threads": job.cores})
    database.read_parquet(job.path).create_view("events")
    text = statement(job.workload, asof=job.engine == "duckdb-asof")
    window = job.window if job.workload.windowed else _UNBOUNDED

    def round() -> Any:
        rows = [
            database.execute(text, _parameters(job.workload, window, one)).fetchone()
            for one in job.workload.thresholds
        ]
        matches, spans = (sum(int(row[i] or 0) for row in rows) for i in range(2))
        return lambda: Found(matches, spans)

    return round


def statement(workload: Workload, *, asof: bool) -> str:
    """The query for one threshold of a workload."""
    if workload.shape == "abc_any":
        return _EVERY_TRIPLE
    filtered = "v" in workload.columns
    candidates = (_CANDIDATES_ASOF if asof else _CANDIDATES)[workload.shape].format(
        after=_AFTER,
        is_a=_ABOVE_A if filtered else "type = 'A'",
        is_b=_ABOVE_B if filtered else "type = 'B'",
    )
    if workload.selection == "next":
        choice = _ALL
    else:
        choice = _FIRST_OF_END if workload.shape == "ac_without_b" else _FOLD
    return f"WITH {_USED},{candidates}{choice}"


def _parameters(workload: Workload, window: int, threshold: Threshold) -> dict[str, float]:
    given: dict[str, float] = {"window": window}
    return {**given, "a": threshold.a, "b": threshold.b} if "v" in workload.columns else given
