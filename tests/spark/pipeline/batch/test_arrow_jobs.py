"""Parquet sources of a pipeline read by Arrow: the same outputs, dead letters and counters as through Spark's rows."""

from __future__ import annotations

import datetime
import decimal
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tocsin.spark.batch.route import PARQUET
from tocsin.spark.parquet import time_layout as layout
from tocsin.spark.pipeline import Report, read_pipeline, run_pipeline
from tocsin.spark.pipeline.batch import run as batch
from tocsin.spark.pipeline.batch.arrow_jobs import ArrowJobs, arrow_jobs
from tocsin.spark.pipeline.sources.open import open_source
from tocsin.spark.pipeline.sources.plan_sources import PipelineEvents, carried_by_all, plan_sources, unite
from tocsin.spark.query import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NOON = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)


def random_events(
    seed: int, rows: int = 300, *, missing: float = 0.08, types: str = "AABBCCDE", mixed: bool = False
) -> pa.Table:
    """Events of a few keys with columns of several types, in which values may be missing."""
    chance = random.Random(seed)

    def column(type: pa.DataType, make: Any) -> pa.Array:
        return pa.array([None if chance.random() < missing else make(row) for row in range(rows)], type)

    def moment(row: int) -> datetime.datetime:
        return NOON + datetime.timedelta(seconds=row + chance.random())

    table = pa.table(
        {
            "time": column(pa.timestamp("us", "UTC"), moment),
            "type": column(pa.string(), lambda row: chance.choice(types)),
            "k": column(pa.string(), lambda row: chance.choice("pqr")),
            "n": column(pa.int32(), lambda row: chance.randrange(3)),
            "v": column(pa.float64(), lambda row: chance.choice([0.0, -0.0, 1.5, 3.0, float("nan")])),
            "s": column(pa.string(), lambda row: "x" * chance.randrange(40)),
            "number": pa.array(chance.sample(range(10 * rows), rows), pa.int64()),
            "day": column(pa.date32(), lambda row: datetime.date(2020, 1, 1 + row % 28)),
            "at": column(
                pa.struct({"floor": pa.int16(), "room": pa.string()}),
                lambda row: {"floor": row % 3, "room": chance.choice(["a", None])},
            ),
        }
    )
    return table.take(chance.sample(range(rows), rows)) if mixed else table


def written(folder: Path, table: pa.Table, files: int = 2, size: int = 60) -> Path:
    """The table as some files with small row groups."""
    folder.mkdir(parents=True)
    each = -(-table.num_rows // files)
    for number in range(files):
        part = table.slice(number * each, each)
        pq.write_table(part, folder / f"part {number}+.parquet", row_group_size=size)
    return folder


def pipeline(subscriptions: str, source: str = "", before: str = "") -> str:
    return f"""
{before}

[[source]]
name = "office"
format = "parquet"
path = "events"
{source}

{subscriptions}

[[sink]]
format = "parquet"
path = "out"
mode = "overwrite"

[dead_letters]
path = "dead"
mode = "overwrite"
"""


def subscription(name: str, pattern: str, more: str = "") -> str:
    return f'[[subscription]]\nname = "{name}"\npattern = "{pattern}"\n{more}\n'


SEQUENCE = "([A], [B(v > 1)][C])_{T1=40s}"
EACH = subscription("Each", SEQUENCE, 'key = "k"')
BY_TIME = (
    EACH
    + subscription("Leftmost", SEQUENCE + " with matches = leftmost", 'key = "n"')
    + subscription("Counted", SEQUENCE + " with matches = any, take = count", 'key = "k"')
    + subscription("Keyless", "([A], [T1 in {T1, C}])_{T1=9s}", 'attributes = ["at", "day", "v"]')
)
SENDER = r"subscribe Sender {repeat {push(x) {<type = A> /\\ <n > 0>}}}"
BY_KEY = (
    subscription("Next", SEQUENCE + " with matches = next", 'key = ["k", "n"]\nattributes = ["s", "source"]')
    + subscription("Unending", "[A(s < 'xxxxxxxxx')];[D(at.floor = 1)]", 'key = "n"\nattributes = []')
    + subscription("Sender", SENDER, 'language = "ecl"\nkey = "k"')
)


class Both:
    """A pipeline that runs both ways, and what must be equal."""

    def __init__(self, spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spark, self.folder, self.monkeypatch = spark, folder, monkeypatch

    def run(self, text: str, *, arrow: bool | None = True) -> Report:
        """The report of a run; `arrow` says whether all jobs are to be read by Arrow, None if only some."""
        (self.folder / "pipeline.toml").write_text(text)
        report = run_pipeline(self.folder / "pipeline.toml", session=self.spark)
        by_arrow = {route.why_not(PARQUET) is None for route in report.routes.values()}
        assert by_arrow == ({True, False} if arrow is None else {arrow}), report.routes
        seen = self.seen(report)

        def refuse(sources: Any, jobs: Any, events: Any) -> ArrowJobs:
            return ArrowJobs(None, {job.number: Refusal("the test says so") for job in jobs})

        with self.monkeypatch.context() as patch:
            patch.setattr(batch, "arrow_jobs", refuse)
            again = run_pipeline(self.folder / "pipeline.toml", session=self.spark)
        assert {route.why_not(PARQUET) for route in again.routes.values()} == {"the test says so"}
        other = self.seen(again)
        assert seen.keys() == other.keys()
        for name, value in seen.items():
            assert value == other[name], name
        return report

    def seen(self, report: Report) -> dict[str, Any]:
        """Everything a run tells and writes, as values that can be compared."""
        plain = replace(report, seconds=0.0, routes={}).as_dict()
        tables = {}
        for name in report.matches:
            table = self.spark.read.parquet(str(self.folder / "out" / name))
            # As text, because NaN is not even equal to itself.
            tables[name] = (table.schema.json(), sorted(map(str, table.toArrow().to_pylist())))
        return plain | tables | {"dead letters": letters(self.folder)}


@pytest.fixture
def both(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    return Both(spark, tmp_path, monkeypatch)


def letters(folder: Path) -> list[dict[str, Any]]:
    files = (folder / "dead").glob("part-*")
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_many_subscriptions_with_dead_letters(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "_FEW", 100)  # so that chunks are cut in so few events
    written(both.folder / "events", random_events(1))
    console = '[[sink]]\nformat = "console"\nrows = 3\n'
    report = both.run(pipeline(BY_TIME + console))
    assert min(report.matches.values()) > 2, report.matches
    (counters,) = report.sources.values()
    assert counters.read == 300
    assert min(counters.used, counters.irrelevant, counters.dead) > 5
    assert counters.dead == len(letters(both.folder)) == sum(report.reasons.values())
    assert len(report.reasons) >= 4
    assert all(letter["file"].endswith("+.parquet") for letter in letters(both.folder))


def test_row_groups_out_of_order_and_a_key_that_is_often_there(both: Both) -> None:
    table = random_events(2, mixed=True)
    heavy = pa.array([key if number % 6 == 0 else "p" for number, key in enumerate(table["k"].to_pylist())])
    written(both.folder / "events", table.set_column(2, "k", heavy))
    both.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        report = both.run(pipeline(BY_KEY, source='id = "number"'))
    finally:
        both.spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert min(report.matches.values()) > 2, report.matches


STRICT = """
[event.A]
v = "float"
n = "int"

[event.B]
extends = "A"
s = "string"

[event.C]
n = "int"
when = "timestamp"
nowhere = "bool"
"""


def test_strict_types_renames_and_intervals(both: Both) -> None:
    """Attributes belong to types, columns have other names, fields are taken out of structs, and some end too early."""
    table = random_events(3, types="AABBBCCD")
    begin = [None if t is None else int(t.timestamp() * 1000) for t in table["time"].to_pylist()]
    chance = random.Random(4)
    end = [None if t is None else t + chance.randrange(-40, 2000) for t in begin]
    begin[5], end[7], end[9] = 2**62, 2**63 - 1, -(2**62)  # too large for microseconds
    table = table.append_column("from", pa.array(begin)).append_column("to", pa.array(end, pa.int64()))
    table = table.rename_columns({"time": "moment", "type": "what", "n": "m"})
    table = table.set_column(
        6, "number", pa.array([None if n % 9 == 0 else n for n in table["number"].to_pylist()])
    )
    written(both.folder / "events", table)
    source = """
type = "what"
start = "from"
end = "to"
time_unit = "ms"
id = "number"
source = "spot"
rename = { m = "n", day = "when", "at.room" = "spot" }
"""
    subscriptions = (
        subscription("Strong", "([A(v < 9)], [B][C])_{T1=90s}", 'key = "n"')
        + subscription("Weak", "[B(s != 'xx')];[C(when > '2020-01-05')]", 'key = "source"')
        + subscription("Early", "[C(when < '2020-01-20')]")
    )
    report = both.run(pipeline(subscriptions, source, STRICT))
    assert report.matches["Strong"] > 2
    assert report.matches["Weak"] > 2
    assert any("cannot be read" in reason for reason in report.reasons)
    assert "it ends before it starts" in report.reasons


def test_several_sources_with_ids_of_different_kinds(both: Both) -> None:
    """One has nanoseconds and no id, the other a constant type, ids that are texts, and no column in common but the key."""
    table = random_events(5)
    ticks = [None if t is None else int(t.timestamp() * 1e6) * 1000 + 999 for t in table["time"].to_pylist()]
    written(both.folder / "events", table.set_column(0, "ticks", pa.array(ticks, pa.int64())))
    others = random_events(6, 80)
    others = others.select(["time", "k", "number", "s"]).rename_columns({"number": "grade"})
    others = others.append_column("own", pa.array([None if n % 5 == 0 else f"id {n}" for n in range(80)]))
    written(both.folder / "others", others, files=1)
    more = """
[[source]]
name = "others"
format = "parquet"
path = "others"
event_type = "C"
id = "own"
"""
    found = EACH + subscription("Graded", "([A], [C(grade > 100)])_{T1=5s}", 'key = "k"') + more
    report = both.run(pipeline(found, 'time = "ticks"\ntime_unit = "ns"'))
    assert report.matches["Graded"] > 2
    assert report.sources["others"].read == 80


def test_some_jobs_are_read_by_arrow_and_some_are_not(both: Both) -> None:
    """Composites of one subscription are events of another, which is read by Spark as all of them were before."""
    written(both.folder / "events", random_events(7))
    reader = subscription("Reader", "([Each], [D])_{T1=60s}", 'key = "n"\nevents = ["Each"]')
    bound = EACH.replace("[A]", "[A(n = $n)]")
    report = both.run(pipeline(bound + reader), arrow=None)
    assert report.matches["Reader"] > 0
    assert report.composites["Each"].read == report.matches["Each"]
    assert "composites of Each" in (report.routes["Reader"].why_not(PARQUET) or "")


def test_nothing_is_dead_and_nothing_is_there(both: Both) -> None:
    clean = random_events(8, missing=0.0)
    written(both.folder / "events", clean)
    report = both.run(pipeline(EACH))
    assert report.sources["office"].dead == 0
    (both.folder / "events" / "part 0+.parquet").unlink()
    pq.write_table(clean.slice(0, 0), both.folder / "events" / "part 1+.parquet")
    assert both.run(pipeline(EACH)).sources["office"].read == 0
    (both.folder / "events" / "part 1+.parquet").unlink()
    assert both.run(pipeline(EACH), arrow=False).sources["office"].read == 0


DECLARED = '[pipeline]\nstrict_types = false\n[event.A]\nn = "int"'
LIMIT = 'limit = [{ type = "B", by = ["k"], every = "5s" }]'


def test_what_spark_must_read(spark: SparkSession, tmp_path: Path) -> None:
    table = random_events(10, 20, missing=0.0)
    rows = range(table.num_rows)

    def why_not(text: str, **changed: pa.Array) -> str:
        """Why Arrow cannot read the events with some columns changed, found out without reading them."""
        changing = table
        for name, column in changed.items():
            changing = changing.set_column(changing.column_names.index(name), name, column)
        (tmp_path / "events").mkdir(exist_ok=True)
        pq.write_table(changing, tmp_path / "events" / "part-0.parquet")
        (tmp_path / "pipeline.toml").write_text(text)
        read = read_pipeline(tmp_path / "pipeline.toml")
        sources = [open_source(spark, read, source) for source in read.sources]
        plan, schema = plan_sources(read, sources)
        united = unite(read, sources, schema, True)
        events = PipelineEvents(united, schema, carried_by_all(read, schema), True)
        reading = arrow_jobs(sources, plan.jobs, events).readings[0]
        return reading.reason if isinstance(reading, Refusal) else ""

    assert why_not(pipeline(EACH)) == ""
    assert why_not(pipeline(EACH), time=table["time"].cast(pa.string())) == "the time 'time' is string"
    seconds = pa.array([float(row) for row in rows])
    assert why_not(pipeline(EACH, 'time_unit = "s"'), time=seconds) == "the time 'time' is double"
    assert "declared as int" in why_not(pipeline(EACH, "", DECLARED), n=table["n"].cast(pa.string()))
    assert why_not(pipeline(EACH, LIMIT)) == "the source office has a limit"
    money = pa.array([decimal.Decimal(row) for row in rows], pa.decimal128(9, 2))
    assert "'v' is decimal(9,2)" in why_not(pipeline(EACH), v=money)
    twice = pipeline(EACH, '\n[[source]]\nname = "again"\nformat = "parquet"\npath = "events"')
    assert why_not(twice) == "two sources read the same file"
