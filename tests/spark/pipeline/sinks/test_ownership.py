"""Nothing is deleted that Tocsin has not written, and an output is whole or as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tocsin.errors import PipelineErrors, TocsinError
from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH = """\
[[source]]
name = "doors"
format = "{format}"
{kind} = "{source}"
type = "type"
time = "time"

[[subscription]]
name = "Opened"
pattern = "[Open];[Close]"

[[sink]]
{sink}
mode = "overwrite"

[dead_letters]
path = "dead"
mode = "overwrite"
"""
STREAM = """\
[[source]]
name = "doors"
format = "jsonl"
path = "{source}"
stream = true
type = "type"
time = "time"

[stream]
checkpoint = "{checkpoint}"
trigger = "once"

[[subscription]]
name = "Opened"
pattern = "[Open];[Close]"

[[sink]]
{sink}
mode = "overwrite"
"""
EVENTS = [
    {"type": "Open", "time": "2024-01-01T00:00:00"},
    {"type": "Close", "time": "2024-01-01T00:00:01"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.jsonl").write_text("".join(json.dumps(one) + "\n" for one in EVENTS))
    return tmp_path


def run(spark: SparkSession, folder: Path, text: str) -> None:
    (folder / "pipeline.toml").write_text(text)
    run_pipeline(folder / "pipeline.toml", session=spark)


def code(spark: SparkSession, folder: Path, text: str) -> str:
    with pytest.raises(TocsinError) as wrong:
        run(spark, folder, text)
    return wrong.value.errors[0].code if isinstance(wrong.value, PipelineErrors) else wrong.value.code


def found(folder: Path) -> int:
    return sum(len(part.read_text().splitlines()) for part in folder.glob("**/part-*.json"))


def batch(source: str, sink: str, format: str = "jsonl") -> str:
    kind = "table" if format == "table" else "path"
    return BATCH.format(source=source, sink=sink, format=format, kind=kind)


@pytest.mark.spark
@pytest.mark.slow
def test_files_of_a_batch_are_replaced_as_a_whole_and_only_if_they_are_ours(
    spark: SparkSession, folder: Path
) -> None:
    out = folder / "out" / "Opened"
    text = batch("in", 'format = "jsonl"\npath = "out"')
    run(spark, folder, text)
    assert found(out) == 1
    assert (out / "_tocsin.json").exists()
    assert spark.read.json(str(out)).count() == 1  # the mark is no row
    first = {file.name for file in out.glob("part-*")}
    run(spark, folder, text)
    assert found(out) == 1
    assert {file.name for file in out.glob("part-*")} != first
    assert [entry.name for entry in (folder / "out").iterdir()] == ["Opened"]
    # What cannot be written leaves what was there: the second sink fails, so the first stays, too.
    before = {file.name for file in out.glob("part-*")}
    (folder / "file").write_text("a file where a folder is needed\n")
    broken = text.replace('path = "dead"', 'path = "file/dead"')
    with pytest.raises(Exception):  # noqa: B017, PT011  (whatever the file system says)
        run(spark, folder, broken)
    assert {file.name for file in out.glob("part-*")} == before
    assert [entry.name for entry in (folder / "out").iterdir()] == ["Opened"]
    # Without the mark nothing is deleted.
    (out / "_tocsin.json").unlink()
    assert code(spark, folder, text) == "not-an-output"
    assert found(out) == 1


@pytest.mark.spark
@pytest.mark.slow
def test_a_stream_deletes_only_its_own_folders_whatever_the_scheme(spark: SparkSession, folder: Path) -> None:
    out = folder / "out" / "Opened"
    out.mkdir(parents=True)
    (out / "part-thesis.json").write_text("{}\n")
    sink = f'format = "jsonl"\npath = "file://{folder}/out"'
    text = STREAM.format(source="in", checkpoint="check", sink=sink)
    assert code(spark, folder, text) == "not-an-output"
    assert (out / "part-thesis.json").exists()
    (out / "part-thesis.json").unlink()
    run(spark, folder, text)
    assert (out / "_tocsin.json").exists()
    run(spark, folder, text.replace('"check"', '"check-2"'))
    assert not (folder / "check" / "_tocsin.json").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_tables_carry_a_mark_too_and_one_that_is_read_is_not_replaced(
    spark: SparkSession, folder: Path
) -> None:
    sink = 'format = "table"\ntable = "owned"'
    spark.sql("drop table if exists owned_Opened")
    spark.sql("drop view if exists seen_owned")
    try:
        run(spark, folder, batch("in", sink))
        run(spark, folder, batch("in", sink))
        assert spark.table("owned_Opened").count() == 1
        spark.sql("create view seen_owned as select 'Open' as type, start as time from owned_Opened")
        assert code(spark, folder, batch("seen_owned", sink, "table")) == "overwrites-source"
        assert spark.table("owned_Opened").count() == 1
        spark.sql("alter table owned_Opened unset tblproperties ('tocsin.output')")
        assert code(spark, folder, batch("in", sink)) == "not-an-output"
        assert code(spark, folder, STREAM.format(source="in", checkpoint="c", sink=sink)) == "not-an-output"
        assert spark.table("owned_Opened").count() == 1
    finally:
        spark.sql("drop view if exists seen_owned")
        spark.sql("drop table if exists owned_Opened")


@pytest.mark.spark
def test_a_view_of_files_protects_them(spark: SparkSession, folder: Path) -> None:
    out = folder / "out" / "Opened"
    run(spark, folder, batch("in", 'format = "jsonl"\npath = "out"'))
    spark.read.json(str(out)).selectExpr("'Open' as type", "start as time").createOrReplaceTempView(
        "seen_files"
    )
    try:
        text = batch("seen_files", 'format = "jsonl"\npath = "out"', "table")
        assert code(spark, folder, text) == "overwrites-source"
        assert found(out) == 1
    finally:
        spark.catalog.dropTempView("seen_files")
