"""Many rules in one output, their metadata, and quiet rules: in a table and in a stream, with a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tocsin.algebra.quiet import heard
from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

RULES = {
    "pair.tocsin": "---\nname: Pair\nseverity: high\ntags: [a, b]\ndescription: two\n---\n[A];[B]\n",
    "often.tocsin": "---\nname: Often\nquiet: 1min\n---\n[A]\n",
    "all.tocsin": "---\nname: All\nkey: []\nseverity: low\nattributes: [n]\n---\n[B]\n",
    "same.tocsin": "---\nname: Same\n---\n[A]\n",
}
PIPELINE = """\
[[source]]
name = "events"
format = "jsonl"
path = "{path}"
time_unit = "s"
{stream}
[[subscription]]
file = "rules/*.tocsin"
key = "k"

[[sink]]
format = "jsonl"
path = "alerts"
together = true

[[sink]]
format = "jsonl"
path = "apart"
subscriptions = ["Pair", "Often"]
"""
STREAM = '\n[stream]\ncheckpoint = "checkpoint"\ndelay = "5s"\n'
EVENTS = [{"time": t, "type": "A" if t % 3 else "B", "k": t % 2, "n": t} for t in range(0, 400, 7)]


def _rows(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for file in sorted(folder.rglob("part-*")) for line in file.read_text().splitlines()
    ]


def _write(folder: Path, events: list[dict[str, Any]], name: str) -> None:
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_text("".join(json.dumps(event) + "\n" for event in events))


def _setup(folder: Path, stream: bool) -> Path:
    (folder / "rules").mkdir()
    for name, text in RULES.items():
        (folder / "rules" / name).write_text(text)
    text = PIPELINE.format(path="in", stream="stream = true" if stream else "")
    (folder / "job.toml").write_text(text + (STREAM if stream else ""))
    return folder / "job.toml"


def _shown(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((row["rule"], row["match_id"], row.get("k", -1), row["start"], row["end"]) for row in rows)


def _quiet_ends(key: int) -> list[int]:
    ends = [e["time"] for e in EVENTS if e["type"] == "A" and e["k"] == key]
    return [ends[place] for place in heard(ends, 60)]


def test_one_output_for_many_rules_in_a_table_and_in_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    table, stream = tmp_path / "table", tmp_path / "stream"
    for folder in (table, stream):
        folder.mkdir()
    job = _setup(table, stream=False)
    _write(table, EVENTS, "all.jsonl")
    report = run_pipeline(job, session=spark)
    found = _rows(table / "alerts")
    assert len(found) == sum(report.matches.values())
    by_rule = {row["rule"]: row for row in found}
    assert by_rule.keys() == {"Pair", "Often", "All", "Same"}
    pair, everything = by_rule["Pair"], by_rule["All"]
    assert (pair["severity"], pair["tags"], pair["description"]) == ("high", ["a", "b"], "two")
    assert (everything["severity"], everything["tags"]) == ("low", [])
    # A rule without the key has none in its rows; and each rule carries the attributes that it asks for.
    assert pair["k"] in (0, 1)
    assert "k" not in everything
    assert everything["constituents"][0]["attributes"].keys() == {"n"}
    assert {"k", "n"} <= pair["constituents"][0]["attributes"].keys()
    often = [row for row in found if row["rule"] == "Often"]
    told = {
        key: [row["constituents"][0]["attributes"]["n"] for row in often if row["k"] == key] for key in (0, 1)
    }
    assert {key: sorted(ends) for key, ends in told.items()} == {key: _quiet_ends(key) for key in (0, 1)}
    assert report.held == {"Often": report.matches["Same"] - len(often)}
    assert "held back" in str(report)
    own = _rows(table / "apart" / "Often")
    assert sorted(row["match_id"] for row in own) == sorted(row["match_id"] for row in often)
    assert {row["severity"] for row in _rows(table / "apart" / "Pair")} == {"high"}

    job = _setup(stream, stream=True)
    for number, start in enumerate(range(0, len(EVENTS), 20)):
        _write(stream, EVENTS[start : start + 20], f"{number}.jsonl")
        last = run_pipeline(job, session=spark, once=True)  # from its checkpoint on
    _write(
        stream,
        [{"time": 1000, "type": "Tick", "k": 0, "n": 0}, {"time": 2000, "type": "A", "k": 0, "n": 0}],
        "9.jsonl",
    )
    last = run_pipeline(job, session=spark, once=True)
    assert _shown(_rows(stream / "alerts")) == _shown(found)
    assert last.held == report.held
    assert last.matches == report.matches
