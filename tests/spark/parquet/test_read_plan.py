"""Parquet read by Arrow: the same matches, ids included, as from the DataFrame of the same files."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.calls import detect
from support.parquet_tables import (
    NOON,
    PATTERN,
    assert_same,
    random_table,
    read_by_spark,
    rows,
    why_not_arrow,
    written,
)
from tocsin.automata.tokens.compile import compile
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.errors import InputError
from tocsin.events import Catalog, EventType
from tocsin.languages.registry import parse
from tocsin.runtime.predicates import index as rq
from tocsin.runtime.read.parquet_events import ReadJob
from tocsin.runtime.rows.spark_hash import row_hash
from tocsin.spark.events.arrow_predicates import Lookup, asked_columns, lookup_of
from tocsin.spark.events.columns import attribute_kinds, event_columns
from tocsin.spark.events.prepare import prepare
from tocsin.spark.parquet import time_layout as layout
from tocsin.spark.parquet.path import ParquetPath
from tocsin.spark.parquet.row_groups import local_files, plain_files, schema_of
from tocsin.spark.query import EventColumns, Query, Refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_all_types_of_columns_give_the_same_ids_and_attributes(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(1))
    assert assert_same(spark, path, PATTERN, key="k") > 3
    assert assert_same(spark, path, PATTERN, key=["k", "t"], unreadable="drop") > 3
    assert assert_same(spark, path, PATTERN) > 3
    assert assert_same(spark, path, PATTERN, key="k", id="s", attributes=["at", "local"]) > 3


def test_filters_on_columns_of_all_types(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(2))
    filters = (
        "n >= 1 OR s < 'xxxxx' AND NOT (b = 2)",
        "h != 3 AND u > 2000000000 AND w <= 200",
        "f > 0.05 OR t = true",
        "d < '2020-02-01' AND time > '2020-01-01T12:01:00'",
        "local >= '2020-01-03T00:00:00+00:00'",
        "at.floor = 1 OR at.room = 'a'",
        "NOT (v <= 2) AND n = 0.0",
    )
    found = [assert_same(spark, path, f"[A({text})][B]", key="k", attributes=[]) for text in filters]
    assert min(found[:-2]) > 0


def test_variables_and_conditions_on_whole_matches(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(3, 150))
    for text in (
        "[A(n=$x AND d=$y)];[B(n=$x)]",
        "[A];[B] where A.at.floor < B.at.floor AND A.local != B.local",
    ):
        assert assert_same(spark, path, text, key="k") > 0


def test_languages_that_send(spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(4, 150)
    path = written(tmp_path, table.append_column("source", table.column("k")))
    text = "repeat {push(Up {to = event.at.floor, from = event.source}) {<type = A> /\\ <source != p> /\\ !<v > 2>}}"
    assert assert_same(spark, path, text, language="ecl", key="k") > 0


def test_times_of_every_kind(spark: SparkSession, tmp_path: Path) -> None:
    base = random_table(5, 120).select(["k", "type", "v"])
    seconds = np.arange(120) / 7 + 1_600_000_000
    columns = {
        "ms": (pa.array((seconds * 1e3).astype(np.int64)), "ms"),
        "s32": (pa.array(seconds.astype(np.int32)), "s"),
        "ns": (pa.array((seconds * 1e9).astype(np.int64)), "ns"),
        "halves": (pa.array(np.round(seconds * 2e6) / 2), "us"),
        "seconds": (pa.array(seconds), "s"),
        "day": (pa.array((np.arange(120) // 3).astype(np.int32)).cast(pa.date32()), None),
        "local": (pa.array((seconds * 1e3).astype(np.int64)).cast(pa.timestamp("ms")), None),
    }
    table = base
    for name, (values, _) in columns.items():
        table = table.append_column(name, values)
    path = written(tmp_path, table)
    for name, (_, unit) in columns.items():
        assert assert_same(spark, path, "[A];[B]", time=name, time_unit=unit, key="k") > 0, name


def test_moments_in_the_old_format_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Spark itself writes moments as INT96, unless told otherwise, and no dictionary of what Arrow knows."""
    path = tmp_path / "events"
    frame = spark.createDataFrame(random_table(6).select(["k", "type", "time", "v", "s"]).to_pandas())
    spark.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    try:
        frame.repartition(3).write.parquet(str(path))
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    assert assert_same(spark, path, PATTERN, key="k") > 3


def test_another_time_zone_of_the_session(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(7))
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        assert assert_same(spark, path, PATTERN, key="k") > 3
        assert_same(spark, path, "[A(d < '2020-02-01')];[B]", key="k")
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_several_types_an_event(spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(8, 200)
    kinds = [["A"], ["B", "C"], ["C", "A"], ["D", None], ["B"]]
    types = pa.array([kinds[row % 5] for row in range(200)], pa.list_(pa.string()))
    path = written(tmp_path, table.set_column(1, "type", types))
    assert assert_same(spark, path, "([A], [B])_{T1=5s}", key="k", id="time") > 3


def test_types_below_others(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(9, 200))
    catalog = Catalog([EventType("Any"), EventType("A", {}, "Any"), EventType("B", {}, "Any")])
    assert assert_same(spark, path, "([Any], [C])_{T1=3s}", key="k", catalog=catalog, attributes=["n"]) > 3


def test_rows_that_are_no_events(spark: SparkSession, tmp_path: Path) -> None:
    table, pattern = random_table(10, 300), "[A];[B]"
    start = table.column("time").cast(pa.int64()).to_numpy()
    table = table.append_column("start", pa.array(start - 5, pa.timestamp("us", "UTC")))
    spoilt = {
        "no key in column 'k'": ("k", None),
        "no type in column 'type'": ("type", None),
        "no time in column 'time'": ("time", None),
        "it ends before it starts": ("start", NOON.replace(year=2021, tzinfo=datetime.UTC)),
    }
    seen = table.column("type").to_pylist().index("A", 100)  # a row that the pattern looks at
    for number, (message, (name, value)) in enumerate(spoilt.items()):
        values = table.column(name).to_pylist()
        values[seen] = value
        column = pa.array(values, table.schema.field(name).type)
        folder = tmp_path / str(number)
        folder.mkdir()
        path = written(folder, table.set_column(table.schema.get_field_index(name), name, column))
        options: dict[str, Any] = {"key": "k", "time": ("start", "time")}
        assert why_not_arrow(path, pattern, spark=spark, **options) is None
        for given, where in ((path, {"spark": spark}), (read_by_spark(spark, path), {})):
            with pytest.raises(Exception, match=message):
                detect(given, pattern, **where, **options).collect()
        assert assert_same(spark, path, pattern, unreadable="drop", **options) > 1


def test_what_arrow_reads_otherwise_is_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(11, 150)
    cases: dict[str, tuple[pa.Table, str]] = {
        "'big' is decimal(20,0)": (table.append_column("big", pa.array(range(150), pa.uint64())), "[A];[B]"),
        "'money' is decimal(9,2), and is compared": (table, "[A(money > 3)];[B]"),
        "'m' is array<array<int>>, which has no hash": (
            table.append_column("m", pa.array([[[1]]] * 150, pa.list_(pa.list_(pa.int32())))),
            "[A];[B]",
        ),
    }
    for number, (message, (changed, text)) in enumerate(cases.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = written(folder, changed)
        assert message in (why_not_arrow(path, text, spark=spark, key="k") or "")
        assert assert_same(spark, path, text, key="k", arrow=False) > 0


def test_folders_with_columns_in_their_names(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("p", "q"):
        (tmp_path / "events" / f"site={name}").mkdir(parents=True)
        table = random_table(12, 60).drop(["k"])
        pq.write_table(table, tmp_path / "events" / f"site={name}" / "part.parquet")
    assert assert_same(spark, tmp_path / "events", "[A];[B]", key="site", arrow=False) > 0


def test_files_that_differ_and_files_that_are_empty(spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(13, 60).select(["k", "type", "time", "v"])
    path = written(tmp_path, table)
    pq.write_table(table.slice(0, 0), path / "empty.parquet")
    assert assert_same(spark, path, "[A];[B]", key="k") > 0
    pq.write_table(table.drop(["v"]), path / "zz.parquet")
    assert_same(spark, path, "[A];[B]", key="k", arrow=False)
    with pytest.raises(InputError, match="there is no file"):
        detect(tmp_path / "nowhere.parquet", "[A]", spark=spark)
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    with pytest.raises(Exception, match="not a Parquet file"):
        detect(tmp_path / "text.parquet", "[A]", spark=spark).collect()


def test_a_pattern_without_a_key_is_looked_for_in_chunks_of_time(spark: SparkSession, tmp_path: Path) -> None:
    table = random_table(18, 600, missing=0.0)
    path = written(tmp_path, table)
    assert assert_same(spark, path, "([A(v > 2)], [B])_{T1=9s}", attributes=[]) > 50
    seconds = pa.array(np.arange(600) / 2)
    (tmp_path / "seconds").mkdir()
    path = written(tmp_path / "seconds", table.append_column("sec", seconds))
    assert assert_same(spark, path, "([A(v > 2)], [B])_{T1=9s}", time="sec", time_unit="s") > 50


def test_many_patterns_ask_more_questions_than_spark_is_asked(spark: SparkSession, tmp_path: Path) -> None:
    """Codes travel instead of bits; the same patterns in small groups are detected with bits."""
    path = written(tmp_path, random_table(19, 250))
    texts = {
        f"p{n}": f"([A(h > {3 * n - 400})], [B(s != '{'x' * (n % 30)}' OR n = {n % 7})])_{{T1=20s}}"
        for n in range(280)
    }
    options: dict[str, Any] = {"key": "k", "attributes": ["n"]}
    found = rows(detect(path, texts, spark=spark, **options))
    assert why_not_arrow(path, texts, spark=spark, **options) is None
    frame = read_by_spark(spark, path)
    assert found == rows(detect(frame, texts, **options))
    few = [dict(list(texts.items())[n : n + 20]) for n in range(0, 280, 20)]
    asked = detect(frame, few[0], **options)._jdf.queryExecution().analyzed().toString()
    assert "bits0" in asked
    assert "bits0" not in detect(frame, texts, **options)._jdf.queryExecution().analyzed().toString()
    assert found == sorted(row for some in few for row in rows(detect(frame, some, **options)))
    assert len(found) > 1000
    keyless = rows(detect(path, texts, spark=spark, attributes=[]))
    assert keyless == rows(detect(frame, texts, attributes=[]))
    spoilt = frame.selectExpr("if(n = 1, null, k) k", "* except (k)")
    with pytest.raises(Exception, match="no key in column 'k'"):
        detect(spoilt, texts, **options).collect()


def test_no_events_at_all(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, random_table(14, 10).slice(0, 0), files=1)
    assert assert_same(spark, path, "[A];[B]", key="k") == 0


# --- The parts that must agree with Spark ---------------------------------------------------------


def test_hashes_are_those_of_spark(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    table = random_table(15, 300, missing=0.3).drop(["w", "u"])
    frame = spark.createDataFrame(table)
    same = frame.toArrow()
    for names in ([[name] for name in frame.columns], [frame.columns]):
        for several in names:
            wanted = [row[0] for row in frame.select(F.xxhash64(*several)).collect()]
            columns = [same.column(name).combine_chunks() for name in several]
            assert row_hash(columns, 300).tolist() == wanted, several
    wanted = [row[0] for row in frame.select(F.xxhash64(F.lit(0), "s", "tags")).collect()]
    columns = [same.column(name).combine_chunks() for name in ("s", "tags")]
    assert row_hash(columns, 300, 0).tolist() == wanted


FILTERS = (
    "v > 2 AND NOT (v >= 2.5)",
    "NOT (n < 1.5 AND s != 'xx') OR b = 2",
    "h <= -3 OR f = 0.1 OR f > 0.1",
    "t = true OR NOT (t != false)",
    "d >= '2020-01-15' AND time < '2020-01-01T12:03:00'",
    "local = '2020-01-02T00:00:00' OR at.floor != 1",
    "s > 'xx' AND s <= 'xxxxxxxx' OR s = ''",
)
HOLDS = (
    "<type = A> /\\ !<v > 2>",
    "<type != A> \\/ <n = text>",
    "<type < C> /\\ !(<s != xx> /\\ <n != text>)",
    "<timestamp >= 1577880060000000> \\/ <source = p>",
    "<d != 3> /\\ !<d = text>",
)


def answers_of_spark_and_arrow(
    frame: DataFrame, columns: EventColumns, compiled: Any, catalog: Catalog
) -> None:
    query = Query(frame, columns, compiled, catalog)
    asked = lookup_of(query)
    assert isinstance(asked, Lookup), asked
    prepared = prepare(query)
    words = [f"bits{word}" for word in range(compiled.plan.words)]
    bits = np.array([list(row) for row in prepared.select(*words).collect()], np.int64).view(np.uint64)
    given = frame.select(*asked_columns(asked, query)).toArrow()
    numbers, distinct = rq.distinct(asked.index, rq.codes(asked.index, given))
    found = rq.answers(asked.index, distinct)[numbers]
    assert (found == bits).all()
    assert bits.any(axis=0).all()


def test_answers_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame(random_table(16, 300, missing=0.3).drop(["w", "u"])).repartition(1).cache()
    catalog = Catalog(common=attribute_kinds(frame))
    text = "".join(f"[{'ABC'[n % 3]}({text})]" for n, text in enumerate(FILTERS))
    variables = "".join(f"[{'ABC'[n % 3]}(n=$x OR {text})]" for n, text in enumerate(FILTERS))
    subscription = parse(f"[A(n=$x)]{text}{variables.replace('n=$x', 'n>$x')}", catalog=catalog)
    answers_of_spark_and_arrow(frame, event_columns(frame, key="k"), compile([subscription]), catalog)


def test_answers_of_senders_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame(random_table(17, 300, missing=0.3).drop(["w", "u"])).repartition(1).cache()
    text = " ".join(f"subscribe S{n} {{repeat {{push(x) {{{text}}}}}}}" for n, text in enumerate(HOLDS))
    planned = plan_texts(named_texts(text, "ecl"), KnownEvents(attribute_kinds(frame)))
    compiled, catalog = planned.compiled, planned.catalog
    columns = event_columns(frame, key="k", source="k")
    answers_of_spark_and_arrow(frame, columns, compiled, catalog)
    again = lookup_of(Query(frame, event_columns(frame, key="k"), compiled, catalog))
    assert isinstance(again, Refusal)


def test_a_key_with_most_of_the_events_is_cut_by_time(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "_FEW", 100)
    table = random_table(18, 2_000, missing=0.0).select(["k", "type", "time", "v", "s"])
    table = table.take(
        np.random.default_rng(1).permutation(2_000)
    )  # in the order of time nothing would travel
    heavy = pa.array(
        ["p" if number % 10 else key for number, key in enumerate(table.column("k").to_pylist())]
    )
    path = written(tmp_path, table.set_column(0, "k", heavy))
    frame = ParquetPath(spark, path)
    catalog = Catalog(common=attribute_kinds(frame))
    columns = event_columns(frame, key="k")

    def cut(pattern: str, how: str | None = None) -> bool:
        compiled = compile([parse(pattern, catalog=catalog)], points=True)
        reading = frame.reading(Query(frame, columns, compiled, catalog, cut=how))
        assert isinstance(reading, ReadJob)
        return reading.overlap is not None

    assert cut(PATTERN)
    assert not cut(PATTERN, "key")
    assert not cut(f"{PATTERN} with matches = leftmost")
    assert assert_same(spark, path, PATTERN, key="k") > 3


PLAIN = ["k", "type", "time", "v", "n", "b", "h", "f", "t", "d"]


@pytest.mark.parametrize("writer", ["arrow", "spark"])
@pytest.mark.parametrize("name", ["events", "a blank", "per%cent", "hash#", "ünï", "star*"])
def test_a_path_tells_what_a_table_of_it_would(
    spark: SparkSession, tmp_path: Path, writer: str, name: str
) -> None:
    (tmp_path / name).mkdir()
    path = written(tmp_path / name, random_table(19).select(PLAIN))
    if writer == "spark":
        spark.read.parquet(str(path)).write.parquet(str(tmp_path / name / "again"))
        path = tmp_path / name / "again"
    for place in (path, min(path.glob("*.parquet"))):
        told, table = ParquetPath(spark, place), spark.read.parquet(str(place))
        assert told.schema == table.schema
        assert local_files(told) == local_files(table)
        assert ("frame" in vars(told)) is ("*" in name)  # else Spark was not asked


def test_what_only_spark_can_infer_is_left_to_it(spark: SparkSession, tmp_path: Path) -> None:
    def settings(name: str) -> str:
        return str(spark.conf.get(name))

    path = written(tmp_path, random_table(20))  # structs, lists, and numbers without a sign
    assert schema_of(plain_files(str(path))[0], settings) is None
    inner = path / "day=1"
    inner.mkdir()
    pq.write_table(pa.table({"a": [1]}), inner / "a.parquet")
    assert schema_of(inner / "a.parquet", settings) is not None
    assert schema_of(inner / "a.parquet", lambda name: "true") is None
    assert plain_files(str(path)) == []
    assert plain_files(str(inner)) == [inner / "a.parquet"]
    (inner / "_metadata").touch()
    assert plain_files(str(inner)) == []
