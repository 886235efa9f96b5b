"""What a pipeline file says of streams: every mistake at once, each with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tocsin.algebra.tokens.subscription import Detection
from tocsin.errors import InputError, PipelineErrors
from tocsin.spark.pipeline import Counters, read_pipeline
from tocsin.spark.pipeline.file.model import Pipeline
from tocsin.spark.pipeline.sources.streams import Known
from tocsin.spark.pipeline.stream.description import changed_subscriptions, changes, describe
from tocsin.spark.pipeline.stream.ledger import Numbers

GOOD = """\
[[source]]
name = "doors"
format = "jsonl"
path = "doors"
stream = true
max_files = 3

[[subscription]]
name = "Opened"
key = "room"
pattern = "[Open];[Close]"

[[sink]]
format = "parquet"
path = "out"

[stream]
checkpoint = "checkpoint"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "doors").mkdir()
    (tmp_path / "others").mkdir()
    return tmp_path


def read(folder: Path, text: str) -> Pipeline:
    path = folder / "pipeline.toml"
    path.write_text(text, encoding="utf-8")
    return read_pipeline(path)


def mistakes(folder: Path, text: str) -> list[tuple[str, int]]:
    """The codes of the mistakes in a file, with their lines."""
    with pytest.raises(PipelineErrors) as raised:
        read(folder, text)
    return [(error.code, error.span.line_column[0] if error.span else 0) for error in raised.value.errors]


def test_what_is_not_said_is_as_it_usually_is(folder: Path) -> None:
    pipeline = read(folder, GOOD)
    (source,), stream = pipeline.sources, pipeline.stream
    assert stream is not None
    assert (source.stream, source.max_files) == (True, 3)
    assert stream.checkpoint == str(folder / "checkpoint")
    assert (stream.trigger, stream.once, stream.delay, stream.late) == (None, False, 10_000_000, "fail")
    assert (stream.shards, stream.detection, stream.sources) == (None, None, ())
    assert stream.ahead == 24 * 3_600_000_000
    anything = read(folder, GOOD + 'ahead = "any"\n').stream
    assert anything is not None
    assert anything.ahead is None


def test_everything_can_be_said(folder: Path) -> None:
    more = """\
trigger = "2s"
delay = "0s"
late = "keep"
shards = 4
detection = "probabilistic(0.95)"
sources = ["a", "b"]
silent_after = "1min"
idle = "30s"
ahead = "2h"
[late]
path = "late"
format = "parquet"
"""
    pipeline = read(folder, GOOD + more)
    stream, late = pipeline.stream, pipeline.late
    assert stream is not None
    assert late is not None
    assert (stream.trigger, stream.delay, stream.late, stream.shards) == (2_000_000, 0, "keep", 4)
    assert stream.detection == Detection("probabilistic", 0.95)
    assert (stream.sources, stream.silent_after, stream.idle) == (("a", "b"), 60_000_000, 30_000_000)
    assert stream.ahead == 7_200_000_000
    assert (late.path, late.format) == (str(folder / "late"), "parquet")


@pytest.mark.parametrize("trigger", ["once", "available-now"])
def test_a_stream_may_end_when_it_has_used_what_is_there(folder: Path, trigger: str) -> None:
    stream = read(folder, GOOD + f'trigger = "{trigger}"\n').stream
    assert stream is not None
    assert (stream.once, stream.trigger) == (True, None)


def test_every_wrong_value_is_noted_at_once(folder: Path) -> None:
    wrong = """\
trigger = "soon"
delay = "-1s"
late = "later"
shards = 0
detection = "probabilistic(2)"
sources = ["a"]
silent_after = "1min"
idle = 5
ahead = "far"
chekpoint = "c"
"""
    assert mistakes(folder, GOOD + wrong) == [
        ("bad-duration", 19),
        ("bad-duration", 20),
        ("bad-value", 21),
        ("bad-value", 22),
        ("bad-value", 23),
        ("bad-value", 24),
        ("bad-value", 25),
        ("bad-type", 26),
        ("bad-duration", 27),
        ("unknown-key", 28),
    ]


def test_detection_that_waits_says_for_whom(folder: Path) -> None:
    assert mistakes(folder, GOOD + 'detection = "guaranteed"\n') == [("missing-key", 17)]


OTHER = """
[[source]]
name = "others"
format = "jsonl"
path = "others"
"""


def test_streams_and_tables_do_not_mix(folder: Path) -> None:
    assert mistakes(folder, GOOD + OTHER) == [("mixed-sources", 20)]


def test_a_stream_needs_its_table_and_a_table_needs_none(folder: Path) -> None:
    alone = GOOD[: GOOD.index("[stream]")]
    assert mistakes(folder, alone) == [("missing-key", 0)]
    batch = GOOD.replace("stream = true\nmax_files = 3\n", "")
    assert mistakes(folder, batch + '[late]\npath = "late"\n') == [("bad-value", 15), ("bad-value", 17)]
    assert mistakes(folder, GOOD.replace("stream = true\n", "")) == [("bad-value", 5), ("bad-value", 16)]


def test_late_events_are_kept_where_the_file_says(folder: Path) -> None:
    stream = read(folder, GOOD + '[late]\npath = "late"\n').stream
    assert stream is not None
    assert stream.late == "keep"
    assert mistakes(folder, GOOD + 'late = "keep"\n') == [("missing-key", 19)]
    assert mistakes(folder, GOOD + 'late = "drop"\n[late]\npath = "late"\n') == [("bad-value", 19)]


def test_a_stream_reads_folders_and_holds_nothing_back(folder: Path) -> None:
    (folder / "one.jsonl").touch()
    assert mistakes(folder, GOOD.replace('"doors"\nstream', '"one.jsonl"\nstream')) == [("bad-value", 4)]
    table = GOOD.replace('format = "jsonl"\npath = "doors"', 'format = "table"\ntable = "doors"')
    assert mistakes(folder, table) == [("bad-value", 5)]
    limit = "limit = [{ type = 'Open', by = ['room'], every = '1s' }]"
    assert mistakes(folder, GOOD.replace("max_files = 3", limit)) == [("limit-stream", 6)]


def test_what_is_written_is_apart_from_what_is_read(folder: Path) -> None:
    assert mistakes(folder, GOOD.replace('"checkpoint"', '"doors/checkpoint"')) == [("overwrites-source", 18)]
    assert mistakes(folder, GOOD.replace('"checkpoint"', '"out/Opened"')) == [("duplicate-output", 15)]


def test_an_output_that_is_there_is_an_error_unless_the_stream_goes_on(folder: Path) -> None:
    (folder / "out" / "Opened" / "batch=000000").mkdir(parents=True)
    assert mistakes(folder, GOOD) == [("output-exists", 15)]
    (folder / "checkpoint" / "tocsin").mkdir(parents=True)
    (folder / "checkpoint" / "tocsin" / "pipeline.json").touch()
    assert read(folder, GOOD).name == "pipeline"


def test_a_checkpoint_tells_what_has_changed(folder: Path) -> None:
    pipeline = read(folder, GOOD)
    before = describe(pipeline, 2, {"doors": Known()})
    (entry,), (source,) = pipeline.subscriptions, pipeline.sources
    assert list(changes(before, describe(replace(pipeline, sinks=()), 2, {}))) == []
    other = replace(
        pipeline,
        subscriptions=(replace(entry, text="[Open]", key=("house",)), replace(entry, name="More")),
        sources=(replace(source, name="gates"),),
    )
    assert list(changes(before, describe(other, 3, {}))) == [
        "the source gates is new",
        "the source doors is gone",
        "subscriptions have other keys than before, or keys in another order",
        "there were 2 shards, and are to be 3",
    ]
    assert changed_subscriptions(before, describe(other, 3, {})) == [
        "the subscription More is new",
        "pattern and key of the subscription Opened changed",
    ]


def test_numbers_of_micro_batches_add_up() -> None:
    one = Numbers({"a": Counters(3, 1, 1, 1, 0)}, {"odd": 1}, {"P": 2}, {"out": 2})
    two = Numbers({"a": Counters(2, 1, 0, 0, 0, 1), "b": Counters(1, 1, 0, 0, 0)}, {}, {"P": 1}, {"late": 1})
    assert one + two == Numbers(
        {"a": Counters(5, 2, 1, 1, 0, 1), "b": Counters(1, 1, 0, 0, 0)},
        {"odd": 1},
        {"P": 3},
        {"out": 2, "late": 1},
    )
    with pytest.raises(InputError, match="read 2, but 1 used, 2 late, 0 irrelevant and 0 dead"):
        Counters(2, 1, 0, 0, 0, 2).checked("a")


def test_options_of_streams_are_for_streams(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tocsin.cli import main

    batch = GOOD.replace("stream = true\nmax_files = 3\n", "")
    (folder / "p.toml").write_text(batch[: batch.index("[stream]")])
    assert main(["run", str(folder / "p.toml"), "--once"]) == 2
    assert capsys.readouterr().err.startswith("bad-option: --once is for streams")
