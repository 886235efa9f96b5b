"""Rules of a pipeline that change while `tocsin run` runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.pipeline_files import put, rows
from tocsin.cli import main
from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import Counters, read_pipeline, run_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PIPELINE = """
[[source]]
name = "doors"
format = "jsonl"
path = "doors"
time_unit = "s"
id = "id"
stream = true

[[subscription]]
name = "Through"
key = "room"
pattern = "[Open];[Close]"
attributes = ["level"]

[[sink]]
format = "jsonl"
path = "out"

[[sink]]
format = "jsonl"
path = "more"
together = true

[dead_letters]
path = "dead"

[late]
path = "late"

[stream]
checkpoint = "checkpoint"
delay = "2s"
shards = 2
rules = "rules"
"""


def doors(*events: tuple[int, str, int, str | None, int]) -> str:
    names = ("id", "type", "time", "room", "level")
    return "".join(json.dumps(dict(zip(names, event, strict=True))) + "\n" for event in events)


@pytest.mark.spark
@pytest.mark.slow
def test_rules_of_a_pipeline_change_between_micro_batches(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(PIPELINE)

    def go_on() -> None:
        run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True, log=tmp_path / "log")

    put(
        tmp_path / "doors", 0, doors((1, "Open", 1, "a", 3), (2, "Ring", 2, "a", 3), (3, "Other", 10, "b", 0))
    )
    go_on()  # decided up to 8 s
    rules = str(tmp_path / "rules")
    rung = tmp_path / "rung.tocsin"
    rung.write_text("---\nseverity: high\ntags: [a]\n---\n[Ring];[Close(level > 1)]\n")
    assert main(["rules", "add", rules, "Rung", f"@{rung}"]) == 0
    assert main(["rules", "add", rules, "Wrong", "[Ring(lewel = 1)]"]) == 2
    (tmp_path / "rules" / "000002.json").write_text(
        '{"action": "add", "name": "Wrong", "text": "[Ring(lewel=1)]"}'
    )
    events = doors(
        (4, "Ring", 11, "a", 3), (5, "Close", 12, "a", 3), (6, "Ring", 13, None, 3), (7, "Other", 20, "b", 0)
    )
    put(tmp_path / "doors", 1, events)
    go_on()  # decided up to 18 s
    assert main(["rules", "remove", rules, "Through"]) == 0
    put(
        tmp_path / "doors",
        2,
        doors(
            (8, "Open", 21, "a", 3),
            (11, "Ring", 21, "a", 3),
            (9, "Close", 22, "a", 3),
            (10, "Other", 99, "b", 0),
        ),
    )
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark, once=True, log=tmp_path / "log")

    def found(name: str) -> list[list[str]]:
        return sorted([one["id"] for one in row["constituents"]] for row in rows(tmp_path / name))

    assert found("out/Through") == [["1", "5"]]
    assert found("out/Rung") == [["11", "9"], ["4", "5"]]
    # One table for all rules, also those that came later; what is known of them is there after a restart.
    assert found("more") == [["1", "5"], ["11", "9"], ["4", "5"]]
    told = {(row["rule"], row.get("severity"), tuple(row["tags"])) for row in rows(tmp_path / "more")}
    assert told == {("Through", None, ()), ("Rung", "high", ("a",))}
    assert report.matches == {"Through": 1, "Rung": 2}
    assert report.sources == {"doors": Counters(read=11, used=10, irrelevant=0, dead=1, limited=0)}
    log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    made = [change for line in log for change in line.get("rules", [])]
    assert [(one["name"], one.get("until"), one.get("code")) for one in made] == [
        ("Rung", "1970-01-01T00:00:08.000000Z", None),
        ("Wrong", None, "unknown-attribute"),
        ("Through", "1970-01-01T00:00:18.000000Z", None),
    ]


def test_rules_of_a_pipeline_have_one_key_and_find_matches(tmp_path: Path) -> None:
    (tmp_path / "doors").mkdir()
    (tmp_path / "pipeline.toml").write_text(
        PIPELINE
        + """
[[subscription]]
name = "Told"
language = "ecl"
pattern = "repeat {push(x) {Open}}"

[[subscription]]
name = "Twice"
key = "room"
events = ["Through"]
pattern = "[Through];[Through]"
"""
    )
    with pytest.raises(PipelineErrors) as raised:
        read_pipeline(tmp_path / "pipeline.toml")
    found = [(error.code, error.message.split()[0]) for error in raised.value.errors]
    assert found == [("bad-value", "Told"), ("bad-value", "Told"), ("bad-value", "Twice")]
