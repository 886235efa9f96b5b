"""Which matches are wanted, on Spark: tables, replays, and pipelines where others use what is found."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.calls import detect, replay
from tocsin.errors import InputError, PatternErrors
from tocsin.languages.core import parse
from tocsin.spark.pipeline import run_pipeline

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = [(1, "A"), (2, "A"), (3, "B"), (4, "X"), (5, "B")]
COLUMNS: dict[str, Any] = {"time": "id", "time_unit": "s", "id": "id"}


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "id long, type string")


def ids(found: DataFrame, pattern: str = "pattern") -> list[list[int]]:
    return sorted([int(c.id) for c in row.constituents] for row in found.collect() if row.pattern == pattern)


def test_an_argument_is_for_the_patterns_that_do_not_say_it(events: DataFrame) -> None:
    patterns = {
        "silent": "[A][B]",
        "said": "[A][B] with matches = each",
        "read": parse("[A][B]", name="read"),
        "own": parse("[A][B] with matches = next", name="own"),
    }
    found = detect(events, patterns, matches="any", take="last", **COLUMNS)
    assert ids(found, "silent") == ids(found, "read") == [[2, 3], [2, 5]]
    assert ids(found, "said") == ids(found, "own") == [[2, 3]]


def test_events_that_no_pattern_names_lie_between_neighbours(events: DataFrame) -> None:
    found = detect(events, "[A][B][B]*", matches="adjacent", **COLUMNS)
    assert ids(found) == [[2, 3]]


def test_a_count_is_a_row_with_the_event_that_completes(events: DataFrame) -> None:
    found = detect(events, "[A][B]", matches="any", take="count", **COLUMNS).orderBy("end").collect()
    assert [([c.id for c in row.constituents], row.variables) for row in found] == [
        (["3"], {"count": "2"}),
        (["5"], {"count": "2"}),
    ]


@pytest.mark.parametrize(
    ("pattern", "wanted", "code"),
    [
        ("[A]", {"matches": "longest"}, "bad-selection"),
        ("[A]", {"take": "first"}, "bad-selection"),
        ("[A] || [B]", {"matches": "adjacent"}, "adjacent-composites"),
        (parse("[A] || [B]"), {"matches": "adjacent"}, "adjacent-composites"),
        ("repeat {push(x) {A}}", {"take": "last", "language": "ecl"}, "unknown-option"),
    ],
)
def test_what_cannot_be_wanted_is_refused(
    events: DataFrame, pattern: Any, wanted: dict[str, str], code: str
) -> None:
    with pytest.raises((InputError, PatternErrors), match=code):
        detect(events, pattern, **wanted, **COLUMNS)  # type: ignore[arg-type]


def test_a_replay_is_asked_in_the_same_way(spark: SparkSession) -> None:
    log = spark.createDataFrame(
        [(*row, "s", row[0]) for row in ROWS], "id long, type string, at string, n long"
    )
    arrived: dict[str, Any] = {**COLUMNS, "arrival": "n", "source": "at"}
    assert ids(replay(log, "[A][B]", matches="leftmost", **arrived)) == [[1, 3]]
    assert ids(replay(log, parse("[A][B]"), take="last", **arrived)) == [[2, 3]]
    with pytest.raises(InputError, match="bad-selection"):
        replay(log, "[A][B]", matches="longest", **arrived)


PIPELINE = """
[[source]]
name = "doors"
format = "jsonl"
path = "doors.jsonl"
time_unit = "s"
id = "id"

[[subscription]]
name = "Pairs"
key = "room"
pattern = "[A][B]"
matches = "any"
take = "count"

[[subscription]]
name = "Many"
key = "room"
events = ["Pairs"]
pattern = "[Pairs(count > 1)]"

[[subscription]]
name = "Neighbours"
key = "room"
pattern = "[A][B]"
matches = "adjacent"

[[sink]]
format = "jsonl"
path = "out"
"""


def test_a_pipeline_counts_and_others_use_the_number(spark: SparkSession, tmp_path: Path) -> None:
    rows = [{"id": n, "time": n, "type": type, "room": "r"} for n, type in ROWS]
    (tmp_path / "doors.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "pipeline.toml").write_text(PIPELINE)
    report = run_pipeline(tmp_path / "pipeline.toml", session=spark)
    # The composites of Pairs, at the moments of 3 and 5, do not come between the neighbours 2 and 3.
    assert report.matches == {"Pairs": 2, "Many": 2, "Neighbours": 1}
