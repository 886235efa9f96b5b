"""Pipelines whose subscriptions send events: ECL texts, KSU correlations, and what reads their outputs."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from tocsin.errors import PipelineErrors
from tocsin.spark.pipeline import read_pipeline, run_pipeline
from tocsin.spark.pipeline.file.warnings import pipeline_warnings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = [
    {"time": 1, "type": "Fix", "source": "GPS.out", "unit": "u1", "lat": 1.5},
    {"time": 2, "type": "Fix", "source": "INS.out", "unit": "u1", "lat": 1.6},
    {"time": 2, "type": "Fix", "source": "GPS.out", "unit": "u2", "lat": 9.0},
    {"time": 3, "type": "Tick", "source": "Timer.s", "unit": "u1"},
    {"time": 4, "type": "Fix", "source": "INS.out", "unit": "u1", "lat": 1.7},
    {"time": 5, "type": "Fix", "source": "GPS.out", "unit": "u1", "lat": 1.8},
    {"time": 6, "type": "Tick", "source": "Timer.s", "unit": "u1"},
    {"time": 7, "type": "Tick", "source": "INS.out", "unit": "u1"},
]
IDL = """
eventtype Notify { };
eventtype Fix : Notify { attribute double lat; };
eventtype Tick : Notify { };
eventtype Best : Notify { attribute double lat; attribute short rank; };
eventtype Steady : Notify { attribute double at; };
"""
COR = """
Best correlation MostRecent (Fix a, Fix b) l1:(a;b) | l2:(b;a) {
  case l1: push new Best { lat = b.lat, rank = 1 };
  case l2: push new Best { lat = a.lat, rank = 2 };
}
Steady correlation OnTick (Best c, Tick t) l:(c;t) { case l: push new Steady { at = c.lat }; }
"""
CAD = """
connect GPS.out -> MostRecent.a; connect INS.out -> MostRecent.b;
connect MostRecent -> OnTick.c; connect Timer.s -> OnTick.t;
"""
PIPELINE = """
[[source]]
name = "units"
format = "jsonl"
path = "events.jsonl"
time_unit = "s"

[[subscription]]
name = "Recent"
language = "ksu"
file = "nav.cor"
correlation = "MostRecent"
types = "nav.idl"
assembly = "nav.cad"
key = "unit"

[[subscription]]
name = "OnTick"
language = "ksu"
file = "nav.cor"
correlation = "OnTick"
types = "nav.idl"
assembly = "nav.cad"
key = "unit"
events = ["Recent"]

[[subscription]]
name = "Ecl"
language = "ecl"
pattern = "subscribe Far {repeat {push(Far {lat = event.lat}) {<lat > 1.65>}}} subscribe Once {accumulate {Fix, Tick}}"
key = "unit"

[[subscription]]
name = "Core"
pattern = "[Best(rank = 1)];[Steady]"
key = "unit"
events = ["Recent", "OnTick"]

[[sink]]
format = "jsonl"
path = "out"
mode = "overwrite"

[[sink]]
format = "console"
"""


def written(folder: Path, pipeline: str = PIPELINE, **files: str) -> Path:
    texts = {"nav.idl": IDL, "nav.cor": COR, "nav.cad": CAD, "pipeline.toml": pipeline}
    texts |= {name.replace("_", "."): text for name, text in files.items()}
    for name, text in texts.items():
        (folder / name).write_text(dedent(text))
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return folder / "pipeline.toml"


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = [line for part in folder.glob("part-*") for line in part.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda row: row.get("time") or row["end"])


@pytest.mark.spark
def test_what_one_subscription_sends_others_read(spark: SparkSession, tmp_path: Path) -> None:
    report = run_pipeline(written(tmp_path), session=spark)
    best = rows(tmp_path / "out" / "Recent.Best")
    assert [(row["time"][17:19], row["lat"], row["rank"], row["type"], row["source"]) for row in best] == [
        ("02", 1.6, 1, "Best", "Recent"),
        ("05", 1.8, 2, "Best", "Recent"),
    ]
    steady = rows(tmp_path / "out" / "OnTick.Steady")
    assert [(row["time"][17:19], row["at"]) for row in steady] == [("03", 1.6), ("06", 1.8)]
    (core,) = rows(tmp_path / "out" / "Core")
    assert [c["role"] for c in core["constituents"]] == ["b", "b", "t"]
    assert report.composites["Recent"].read == 2
    # An INS that sends a Tick: its port takes only Fix.
    dead = [row for row in rows(tmp_path / "out" / "Recent") if row["what"] == "dead"]
    assert [row["end"][17:19] for row in dead] == ["07"]
    far = rows(tmp_path / "out" / "Ecl.Far")
    assert sorted(row["lat"] for row in far) == [1.7, 1.8, 9.0]
    done = [row for row in rows(tmp_path / "out" / "Ecl") if row["what"] == "success"]
    assert [(row["pattern"], row["unit"], row["end"][17:19]) for row in done] == [("Ecl.Once", "u1", "03")]
    assert "→ Best lat=1.6 rank=1" in report.samples["Recent"][0]


def test_mistakes_are_told_with_the_file_they_are_in(tmp_path: Path) -> None:
    bad = PIPELINE.replace('correlation = "MostRecent"', 'correlation = "MostRecnt"')
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(written(tmp_path, bad))
    assert [error.code for error in wrong.value.errors] == ["unknown-correlation"]
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(written(tmp_path, nav_idl=IDL.replace("double lat", "dubble lat", 1)))
    assert {Path(error.file or "").name for error in wrong.value.errors} == {"nav.idl"}
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(written(tmp_path, nav_cad=CAD + "connect Nobody -> OnTick.t;"))
    assert {Path(error.file or "").name for error in wrong.value.errors} == {"nav.cad"}
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(written(tmp_path, PIPELINE.replace("accumulate {Fix", "acumulate {Fix")))
    assert wrong.value.errors[0].span is not None


def test_correlations_must_not_feed_each_other_in_a_loop(tmp_path: Path) -> None:
    loop = CAD.replace("connect GPS.out -> MostRecent.a;", "connect OnTick -> MostRecent.a;")
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(written(tmp_path, nav_cad=loop))
    assert "connection-loop" in {error.code for error in wrong.value.errors}


def test_options_and_keys_of_another_language_are_refused(tmp_path: Path) -> None:
    text = PIPELINE.replace(
        'language = "ecl"', 'language = "ecl"\noptions = { unless_tie = "maybe", activity = "local" }'
    )
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(written(tmp_path, text))
    assert [error.code for error in wrong.value.errors] == ["bad-option", "unknown-option"]
    with pytest.raises(PipelineErrors) as wrong:
        read_pipeline(
            written(tmp_path, PIPELINE.replace('language = "ecl"', 'language = "ecl"\ntypes = "nav.idl"'))
        )
    assert [error.code for error in wrong.value.errors] == ["unknown-key"]


def test_a_subscription_that_never_fires_is_warned_about(tmp_path: Path) -> None:
    text = PIPELINE.replace("accumulate {Fix, Tick}", "<lat > 1> /\\\\ <lat < 0>")
    warnings = pipeline_warnings(read_pipeline(written(tmp_path, text)))
    assert "never-fires" in {warning.code for warning in warnings}


@pytest.mark.spark
def test_the_pipeline_obeys_what_events_say_of_their_delivery(spark: SparkSession, tmp_path: Path) -> None:
    recent = COR.replace("rank = 1 }", 'rank = 1, overwrite = "recent" }').replace(
        "rank = 2 }", 'rank = 2, overwrite = "recent" }'
    )
    text = PIPELINE.replace(
        'correlation = "MostRecent"', 'correlation = "MostRecent"\ndeliver = { every = "10s" }'
    )
    report = run_pipeline(written(tmp_path, text, nav_cor=recent), session=spark)
    # The second position replaces the first while both wait for the tick of second 10.
    (best,) = rows(tmp_path / "out" / "Recent.Best")
    assert (best["lat"], best["time"][17:19]) == (1.8, "10")
    assert report.lost == {"Recent": {"overwritten": 1}}
    assert report.composites["Recent"].read == 1
    assert rows(tmp_path / "out" / "OnTick.Steady") == []  # it comes after the last tick
    assert "sent by Recent and not delivered: 1 overwritten" in str(report)


@pytest.mark.spark
def test_folders_of_sent_events_are_not_overwritten(spark: SparkSession, tmp_path: Path) -> None:
    path = written(tmp_path, PIPELINE.replace('mode = "overwrite"', 'mode = "error"'))
    (tmp_path / "out" / "Recent.Best").mkdir(parents=True)
    with pytest.raises(PipelineErrors) as wrong:
        run_pipeline(path, session=spark)
    assert [error.code for error in wrong.value.errors] == ["output-exists"]
