"""`tocsin.why` over a table, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import Row

import tocsin
from tocsin.cli import main
from tocsin.errors import InputError
from tocsin.spark import why
from tocsin.spark.query import EventColumns
from tocsin.why_not import WhyNot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DOORS = """\
time,type,room,who
2024-01-01T09:00:00Z,Open,1,Jean
2024-01-01T09:00:05Z,Open,2,Peter
2024-01-01T09:01:00Z,Close,2,Peter
2024-01-01T09:20:00Z,Close,1,Jean
"""
PATTERN = "([Open], [T1 in {T1, Close}])_{T1=5min}"


def test_the_events_of_a_key_in_a_table(spark: SparkSession) -> None:
    rows = [(1.0, "A", 7, "x", 2), (2.0, "C", 7, "x", 1), (3.0, "A", 8, "x", 2), (4.0, "B", 7, "x", 9)]
    events = spark.createDataFrame(rows, "at double, type string, k int, j string, n long")
    columns = tocsin.Columns(time_unit="s")
    account = tocsin.why(events, "[A];[B(n > 9)]", columns, key="k", key_value=7, time="at")
    assert [(one.outcome, one.waits_for) for one in account.attempts] == [("waiting", ("B(n > 9)",))]
    assert len(account.events) == 3
    both = tocsin.why(
        events, "[A];[B]", columns, key=["k", "j"], key_value=(7, "x"), time="at", at="1970-01-01T00:00:02"
    )
    assert len(both.events) == 2
    with pytest.raises(InputError, match="no-key-value"):
        tocsin.why(events, "[A];[B]", columns, key="k", time="at")
    with pytest.raises(InputError, match="no-events"):
        tocsin.why(events, "[A];[B]", columns, key="k", key_value=9, time="at")


def test_the_command(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "doors.csv").write_text(DOORS)
    base = ["why", PATTERN, "--from", str(tmp_path / "doors.csv"), "--key", "room", "--key-value", "2"]
    assert main([*base, "--html", str(tmp_path / "why.html")]) == 0
    printed = capsys.readouterr().out
    assert "room=2: 2 events" in printed
    assert "ended by" in printed
    assert "<svg" in (tmp_path / "why.html").read_text()
    assert main([*base, "--json", "--until", "2024-01-01T09:00:30Z"]) == 0
    assert json.loads(capsys.readouterr().out)["attempts"][0]["outcome"] == "waiting"


def test_types_are_numbers_and_fields_as_in_detection() -> None:
    row = Row(__start=1, __end=1, e=Row(kind=4625, more=[0, None]), n=3).asDict(recursive=True)
    names = {"__start": why._START, "__end": why._END}
    renamed = Row(**{names.get(name, name): value for name, value in row.items()})
    for type, expected in (("e.kind", {"4625"}), ("e.more", {"0"}), ("n", {"3"})):
        columns = EventColumns(type, "", ("t", "t"), None, (), None, None)
        (event,) = why._events([renamed], columns, None)
        assert event.types == expected


@pytest.mark.parametrize("pattern", ["([A], [B])_{T1=10min}", "[A(n=$x)];[B(n=$x)]", "[A];[C];[B]"])
def test_what_a_stream_keeps_is_what_waits_in_a_table(
    spark: SparkSession, tmp_path: Path, pattern: str
) -> None:
    rows = [(60, "A", "x", 1), (120, "A", "y", 1), (180, "A", "x", 2), (240, "C", "x", 9), (300, "B", "x", 2)]
    rows += [(360, "A", "x", 3), (4000, "Tick", "z", 0)]
    events = spark.createDataFrame(rows, "at long, type string, k string, n long").coalesce(1)
    events = events.selectExpr("timestamp_seconds(at) as at", "type", "k", "n")
    events.write.json(str(tmp_path / "events"))
    stream = spark.readStream.schema(events.schema).json(str(tmp_path / "events"))
    found = tocsin.detect(
        stream, pattern, tocsin.Stream(delay="3600s", shards=2, ahead="any"), key="k", time="at"
    )
    query = (
        found.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    )
    query.processAllAvailable()
    query.stop()
    # The watermark is 400 s: everything up to it is decided.
    kept = tocsin.why(tmp_path / "checkpoint", pattern, key="k", key_value="x")
    there = tocsin.why(events, pattern, key="k", key_value="x", time="at", at="1970-01-01T00:06:40")

    def shown(account: WhyNot) -> set[tuple[object, ...]]:
        return {
            (tuple((t.role, t.event.end) for t in one.taken), one.waits_for, tuple(one.due.items()))
            for one in account.having("waiting")
        }

    assert shown(kept) == shown(there)
    assert shown(kept)
    with pytest.raises(InputError, match="unknown-subscription"):
        tocsin.why(tmp_path / "checkpoint", "[Z];[Y]", key="k", key_value="x")
