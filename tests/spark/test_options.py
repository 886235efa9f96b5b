"""Options of `detect` and `replay`: at most one of each kind, and none that does not apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tocsin
from tocsin.errors import InputError
from tocsin.spark.options import Columns, Options, Replay, Rules, Run, Stream, gather

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

LOG = Replay(arrival="at", source="device")


def test_options_are_gathered_by_their_kinds() -> None:
    catalog = tocsin.Catalog()
    given = gather([Stream(delay="1s"), {"restart": "never"}, catalog, Columns(id="id")])
    assert given == Options(
        columns=Columns(id="id"), stream=Stream(delay="1s"), catalog=catalog, language={"restart": "never"}
    )
    assert gather([]) == Options()


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ([Columns(), Columns(id="x")], "bad-option", "two values of Columns"),
        ([{}, {"restart": "never"}], "bad-option", "two values of dict"),
        (["key"], "unknown-option", "str 'key' is not an option"),
        ([Columns], "unknown-option", "is not an option"),
        ([Run(unreadable="ignore")], "bad-option", "unreadable cannot be 'ignore'"),
        ([Run(cut="day")], "bad-option", "cut cannot be 'day'"),
        ([Run(max_partial_matches=0)], "bad-option", "use 1 or more"),
        ([Rules("folder", report="tell")], "bad-option", "report of Rules cannot be 'tell'"),
    ],
)
def test_what_is_no_option(options: list[object], code: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        gather(options)
    assert caught.value.code == code
    assert says in str(caught.value)
    assert caught.value.hint


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    return spark.sql("select 'A' type, timestamp'2024-01-01' time, 1 k, 'a' device, 1 at")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "named", "says"),
    [
        ([Stream(delay="1s")], {}, "tocsin.Stream does not apply: the events are a table"),
        ([Rules("folder")], {}, "tocsin.Rules does not apply: only a stream"),
        ([LOG], {}, "it is for tocsin.replay"),
        ([Columns(event_type="E")], {"type": "type"}, "both type='type' and event_type='E'"),
        ([Columns(time_unit="s")], {}, "which has no unit"),
        ([{"types": "x"}], {}, "the core language has no option 'types'"),
        ([Run(cut="key")], {}, "have no key"),
    ],
)
def test_what_does_not_apply_to_a_table(
    events: DataFrame, options: list[object], named: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError) as caught:
        tocsin.detect(events, "[A]", *options, **named)
    assert says in str(caught.value)


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_is_for_paths(spark: SparkSession, events: DataFrame) -> None:
    with pytest.raises(InputError, match=r"spark of tocsin\.Run does not apply"):
        tocsin.detect(events, "[A]", Run(spark=spark))


@pytest.mark.spark
@pytest.mark.slow
def test_what_does_not_apply_to_a_stream(spark: SparkSession, tmp_path: Path, events: DataFrame) -> None:
    stream = spark.readStream.schema(events.schema).parquet(str(tmp_path))
    with pytest.raises(InputError, match=r"cut of tocsin\.Run does not apply"):
        tocsin.detect(stream, "[A]", Run(cut="time"), key="k")
    with pytest.raises(InputError, match="no pattern waits for sources"):
        tocsin.detect(stream, "[A]", Stream(sources=["a"]), key="k")
    with pytest.raises(InputError, match="late cannot be"):
        tocsin.detect(stream, "[A]", Stream(late="maybe"))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "when and from where events arrived"),
        ([LOG, Stream()], "tocsin.Stream does not apply"),
        ([LOG, Run(cut="time")], "cut of tocsin.Run does not apply"),
        ([LOG, Columns(report=["end"])], "report of tocsin.Columns does not apply"),
        ([LOG, Columns(source="device")], "source of tocsin.Columns does not apply"),
    ],
)
def test_what_does_not_apply_to_a_replay(events: DataFrame, options: list[object], says: str) -> None:
    with pytest.raises(InputError) as caught:
        tocsin.replay(events, "[A]", *options)
    assert says in str(caught.value)


def test_everything_public_is_listed() -> None:
    assert {"Columns", "Stream", "Rules", "Run", "Replay", "Route", "detect", "route"} <= set(dir(tocsin))
    assert set(tocsin.__all__) <= set(dir(tocsin))
