"""What a streaming pipeline tells of a micro-batch: line numbers, counts, dead letters, matches by pattern."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tocsin.runtime.stream import tally
from tocsin.runtime.transport.pack import from_ipc, to_ipc


def lines(*rows: tuple[str, str, int]) -> pa.RecordBatch:
    texts, files, blocks = zip(*rows, strict=True)
    return pa.record_batch({"text": texts, "file": files, "block": pa.array(blocks, pa.int64())})


def told(batches: Any) -> list[tuple[str, str, int, list[dict[str, Any]]]]:
    return [
        (
            row["kind"],
            row["name"],
            row["rows"],
            [] if row["packed"] is None else from_ipc(row["packed"]).to_pylist(),
        )
        for batch in batches
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_lines_are_numbered_in_their_blocks_however_they_come(size: int) -> None:
    rows = [("a", "f", 0), ("", "f", 0), ("b", "f", 9), ("c", "g", 9), ("d", "g", 9), ("e", "f", 0)]
    batches = [lines(*rows[first : first + size]) for first in range(0, len(rows), size)]
    found = pa.Table.from_batches(tally.number_lines([lines(*rows).slice(0, 0), *batches]))
    assert found.column_names == ["text", "file", "block", "row"]
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("a", "f", 0, 1),
        ("", "f", 0, 2),
        (None, "f", 0, -2),
        ("b", "f", 9, 1),
        (None, "f", 9, -1),
        ("c", "g", 9, 1),
        ("d", "g", 9, 2),
        (None, "g", 9, -2),
        ("e", "f", 0, 1),
        (None, "f", 0, -1),
    ]


def test_a_tally_tells_of_every_event_and_of_no_end_of_a_block() -> None:
    events = {
        "source": ["s", "s", "s", "t", "s"],
        "problem": [None, "odd", None, None, "no text"],
        "file": ["f", "f", None, None, "f"],
        "block": pa.array([None, 7, None, None, 7], pa.int64()),
        "row": pa.array([None, 3, None, None, -4], pa.int64()),
        "text": [None, "?", None, None, None],
        "use": ["used", "dead", "used", "irrelevant", "dead"],
        "end": pa.array([1, None, 4, 3, None], pa.int64()),
        "job0": [True, False, False, False, False],
        "job1": [True, False, True, None, False],
    }
    batch = pa.record_batch(events)
    dead, counts, *others = told(tally.tally(2, "dead", [batch.slice(0, 2), batch.slice(2)]))
    letter = {"source": "s", "problem": "odd", "file": "f", "block": 7, "row": 3, "text": "?"}
    assert dead == ("dead", "", 1, [letter])
    assert counts[:3] == ("tally", "", 4)
    assert sorted((row["source"], row["use"], row["count_all"], row["end_max"]) for row in counts[3]) == [
        ("s", "dead", 1, None),
        ("s", "used", 1, 1),
        ("s", "used", 1, 4),
        ("t", "irrelevant", 1, 3),
    ]
    block = {"file": "f", "block": 7, "row": -4}
    assert others == [("asked", "0", 1, []), ("asked", "1", 2, []), ("blocks", "", 1, [block])]
    assert list(tally.tally(1, "dead", [])) == []


def test_matches_are_told_apart_by_their_patterns() -> None:
    matches = pa.table({"pattern": ["P", "Q", "P"], "n": [1, 2, 3]})
    figures = pa.table({"until": [5]})
    assert told(tally.packed_output(3, [("match", matches), ("figures", figures)])) == [
        ("match", "P", 2, [{"pattern": "P", "n": 1}, {"pattern": "P", "n": 3}]),
        ("match", "Q", 1, [{"pattern": "Q", "n": 2}]),
        ("figures", "3", 1, [{"until": 5}]),
    ]


def test_late_events_are_shown_whatever_their_columns_are() -> None:
    one = {"end": 5, "id": 7, "type": "A", "key0": "x", "reason": "r", "origin": 1, "attributes": {"v": 1}}
    one |= {"pace_group": 2}
    two = {"start": 1, "end": 5, "id": "i", "type": "A", "key0": 1, "key1": "y", "reason": "r", "origin": 0}
    packed = pa.array([to_ipc(pa.Table.from_pylist([row])) for row in (one, two)], pa.binary())
    (first,), (second,) = (
        batch.to_pylist()
        for batch in tally.late_rows([pa.record_batch({"name": ["0", "1"], "packed": packed})])
    )
    assert first == {
        **{"job": "0", "origin": 1, "reason": "r", "type": "A", "start": 5, "end": 5, "id": "7"},
        **{"key": "x", "attributes": '{"v": 1}', "pace_group": 2},
    }
    assert (second["start"], second["key"], second["attributes"], second["pace_group"]) == (
        1,
        '[1, "y"]',
        None,
        None,
    )


def test_matches_are_packed_in_one_piece() -> None:
    """Java reads no further than a piece without rows, where the driver hands a table to Spark."""
    rows = pa.table({"pattern": ["P", "P"], "n": [1, 2]})
    pieces = pa.concat_tables([rows.slice(0, 1), rows.slice(0, 0), rows.slice(1, 1)])
    (batch,) = tally.packed_output(0, [("match", pieces)])
    (piece,) = pa.ipc.open_stream(batch.column("packed")[0].as_buffer())
    assert piece.num_rows == 2
