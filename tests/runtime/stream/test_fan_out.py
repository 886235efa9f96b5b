"""The one reading of a streaming pipeline: events for the shards of each job, and the tally, in places of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.runtime.stream.arrivals import EVENTS, MARKS, ArrivalJob
from tocsin.runtime.stream.fan_out import PASSED, Gathering, gather, passed
from tocsin.runtime.transport.pack import from_ipc

ASKED = np.array([1], np.uint64)
WHAT = Gathering(
    (ArrivalJob(2, 1, ASKED, False), ArrivalJob(1, 0, ASKED, False)), ((10, 11), (20,)), (30, 31), "dead"
)


def row(
    use: str | None, key: int | None, bits: int, flags: tuple[bool, bool], **others: Any
) -> dict[str, Any]:
    nothing = dict.fromkeys(("problem", "file", "block", "row", "text", "clock", "change"))
    rows = {"start": 5, "end": 5, "id": 1, "type": "A", "bits0": bits}
    return {
        "source": None if use is None else "doors",
        **nothing,
        "use": use,
        "end": 5,
        "job0": flags[0],
        "job1": flags[1],
        "rows0": None if use is None else {**rows, "key0": key},
        "rows1": None if use is None else rows,
        **others,
    }


def gathered(*rows: dict[str, Any]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """By place and kind, the rows of what is packed."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for batch in gather(WHAT, [pa.RecordBatch.from_pylist(list(rows), TRAVELLING)]):
        for one in batch.to_pylist():
            table = passed(one["packed"]) if one["kind"] == PASSED else from_ipc(one["packed"])
            found.setdefault((one["place"], one["kind"]), []).extend(table.to_pylist())
    return found


_TRAVEL = [("start", pa.int64()), ("end", pa.int64()), ("id", pa.int64()), ("type", pa.string())]
TRAVELLING = pa.schema(
    [
        *((name, pa.string()) for name in ("source", "problem", "file")),
        *((name, pa.int64()) for name in ("block", "row")),
        *((name, pa.string()) for name in ("text", "use")),
        ("end", pa.int64()),
        *((name, pa.bool_()) for name in ("job0", "job1")),
        ("rows0", pa.struct([*_TRAVEL, ("bits0", pa.int8()), ("key0", pa.int64())])),
        ("rows1", pa.struct([*_TRAVEL, ("bits0", pa.int8())])),
        ("clock", pa.int64()),
        ("change", pa.string()),
    ]
)


def test_events_go_to_the_jobs_that_want_them_and_are_tallied_once() -> None:
    found = gathered(
        row("used", 1, 1, (True, True)),
        row("used", 2, 1, (True, False)),
        row("irrelevant", 3, 0, (False, False)),
        row("dead", None, 1, (False, True), problem="no key", text="{}"),
        row("dead", 4, 1, (False, False), problem="odd", text="?"),
    )
    events = [one for place in (10, 11) for one in found.get((place, EVENTS), [])]
    assert sorted(one["key0"] for one in events) == [1, 2]
    assert len(found[20, EVENTS]) == 2  # one of them is dead for the other job only
    # Every event that can be used tells every shard the time, whether any pattern looks at it or not.
    assert [found[place, MARKS][0]["events"] for place in (10, 11, 20)] == [3, 3, 4]
    told = {(one["kind"], one["name"]): one["rows"] for one in found[30, PASSED]}
    assert told == {("dead", ""): 2, ("tally", ""): 5, ("asked", "0"): 2, ("asked", "1"): 2}


def test_heartbeats_and_changes_go_to_every_shard_and_are_no_events() -> None:
    found = gathered(
        row(None, None, 0, (False, False), clock=7), row(None, None, 0, (False, False), change="{}")
    )
    assert all(one["clock"] == 7 for place in (10, 11, 20) for one in found[place, MARKS])
    assert {place for place, _ in found} == {10, 11, 20}
