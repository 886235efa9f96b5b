"""Text from strangers: bytes that are no text, quotes, and numbers that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.pipeline_files import rows
from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DECLARED = """
[event.A]
key = "string"
x = "float"
"""
PIPELINE = """
{declared}
[[source]]
name = "{format}"
format = "{format}"
path = "in.{format}"
{stream}
[[subscription]]
name = "Seen"
pattern = "[A(x < 1000)]"
key = "key"
{more}
[[sink]]
format = "jsonl"
path = "out"

[dead_letters]
path = "dead"
"""
LINES = {
    "jsonl": [
        b'{"type": "A", "time": "2024-01-01T00:00:01", "key": "say \\"hi\\" \\\\ you", "x": 1}',
        b'{"type": "A", "time": "2024-01-01T00:00:02", "key": "caf\xe9", "x": 1}',
        b'{"type": "A", "time": "2024-01-01T00:00:03", "key": "caf\xea \xef\xbf\xbd", "x": 1}',
        b'{"type": "A", "time": "2024-01-01T00:00:04", "key": "\xef\xbf\xbd", "x": 2.5}',
        b'{"type": "A", "time": "2024-01-01T00:00:05", "key": "large", "x": 1e999}',
        b'{"type": "A", "time": "2024-01-01T00:00:06", "key": "small", "x": -1e999}',
    ],
    "csv": [
        b"type,time,key,x",
        b'A,2024-01-01T00:00:01,"say ""hi"" \\ you",1',
        b"A,2024-01-01T00:00:02,caf\xe9,1",
        b"A,2024-01-01T00:00:03,caf\xea \xef\xbf\xbd,1",
        b"A,2024-01-01T00:00:04,\xef\xbf\xbd,2.5",
        b"A,2024-01-01T00:00:05,large,1e999",
        b"A,2024-01-01T00:00:06,small,-1e999",
    ],
}


def run(spark: SparkSession, folder: Path, format: str, declared: str, *, stream: bool) -> Any:
    source = folder / f"in.{format}"
    text = b"\n".join(LINES[format]) + b"\n"
    if stream:
        source.mkdir()
        (source / f"1.{format}").write_bytes(text)
    else:
        source.write_bytes(text)
    more = '[stream]\ncheckpoint = "check"\ntrigger = "once"\ndetection = "best-effort"\n' if stream else ""
    said = PIPELINE.format(
        format=format, declared=declared, stream="stream = true" if stream else "", more=more
    )
    (folder / "pipeline.toml").write_text(said)
    return run_pipeline(folder / "pipeline.toml", session=spark)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("format", ["jsonl", "csv"])
@pytest.mark.parametrize(("declared", "stream"), [(DECLARED, False), ("", False), (DECLARED, True)])
def test_every_format_reads_the_same_and_says_what_it_cannot(
    spark: SparkSession, tmp_path: Path, format: str, declared: str, stream: bool
) -> None:
    report = run(spark, tmp_path, format, declared, stream=stream)
    keys = {row["key"]: row["constituents"][0]["attributes"]["x"] for row in rows(tmp_path / "out" / "Seen")}
    assert keys == {'say "hi" \\ you': 1.0, "\N{REPLACEMENT CHARACTER}": 2.5}
    reasons = sorted((row["line"], row["reason"]) for row in rows(tmp_path / "dead"))
    first = LINES[format][1 if format == "jsonl" else 2].index(b"\xe9")
    too_large = "'x' is not a float" if declared else "the number in 'x' does not fit a double"
    line = 2 if format == "jsonl" else 3
    assert reasons == [
        (line, f"it is not text in UTF-8: byte {first} is invalid"),
        (line + 1, f"it is not text in UTF-8: byte {first} is invalid"),
        (line + 3, too_large),
        (line + 4, too_large),
    ]
    assert report.sources[format].dead == 4
    texts = [row["text"] for row in rows(tmp_path / "dead")]
    assert len(set(texts)) == 4
    assert json.dumps(texts)


BROKEN = [
    b"type,time,key,x",
    b'A,2024-01-01T00:00:01,"two',
    b'lines, ""quoted""",1',
    b'A,2024-01-01T00:00:02,"one',
    b"A,2024-01-01T00:00:03,forged,1",
    b'A,2024-01-01T00:00:04,more",1',
    b'A,2024-01-01T00:00:05,a 5" pipe,1',
    b'A,2024-01-01T00:00:06,"last",1,"',
]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("declared", [DECLARED, ""])
def test_a_quoted_field_may_hold_line_breaks_where_the_source_says_so(
    spark: SparkSession, tmp_path: Path, declared: str
) -> None:
    (tmp_path / "in.csv").write_bytes(b"\n".join(BROKEN))
    said = PIPELINE.format(format="csv", declared=declared, stream="multiline = true", more="")
    (tmp_path / "pipeline.toml").write_text(said)
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark)
    keys = {row["key"] for row in rows(tmp_path / "out" / "Seen")}
    forged = "one\nA,2024-01-01T00:00:03,forged,1\nA,2024-01-01T00:00:04,more"
    assert keys == {'two\nlines, "quoted"', forged}
    # The quote of line 7 is closed by the next one, so the two lines are one record.
    assert [row["line"] for row in rows(tmp_path / "dead")] == [7]
    assert (report.sources["csv"].read, report.sources["csv"].dead) == (3, 1)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_elsewhere_a_line_that_does_not_close_a_field_is_a_dead_letter(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setitem(LINES, "csv", BROKEN)
    run(spark, tmp_path, "csv", DECLARED, stream=stream)
    reasons = {row["line"]: row["reason"] for row in rows(tmp_path / "dead")}
    # A quote inside an unquoted field is a character like others, as in line 7; so the end of a record may look like an event.
    assert reasons == dict.fromkeys((2, 3, 4, 8), "a quoted field is not closed in its line")
    assert {row["key"] for row in rows(tmp_path / "out" / "Seen")} == {"forged", 'more"', 'a 5" pipe'}
