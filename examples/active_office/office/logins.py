"""The log of the workstations: logins as JSON lines, and a few malformed lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any

import pyarrow as pa

FIELDS = ("id", "type", "time", "location", "name", "source")


def login_lines(logins: pa.Table, malformed: int, next_id: int) -> Iterator[str]:
    """Return the logins as JSON lines, with malformed lines at equal distances among them.

    Args:
        next_id: the first unused id; a malformed line does not take the id of an event.
    """
    bounds = [logins.num_rows * number // (malformed + 1) for number in range(malformed + 2)]
    for number, (start, stop) in enumerate(pairwise(bounds)):
        if number > 0:
            yield _malformed_line(number - 1, next_id + number - 1)
        for batch in logins.slice(start, stop - start).select(FIELDS).to_batches():
            for login in batch.to_pylist():
                yield json.dumps(login | {"time": iso_time(login["time"])})


def iso_time(moment: datetime) -> str:
    """Write a moment in UTC as ISO 8601.

    >>> iso_time(datetime(2004, 1, 30, 9, 12, 33, 120_000))
    '2004-01-30T09:12:33.120000Z'
    """
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def _malformed_line(number: int, id_: int) -> str:
    """Write a line that is broken in one of four ways, taken in turn."""
    login: dict[str, Any] = {"id": id_, "type": "Login", "name": "Jean", "location": "FE02"}
    ways = (
        json.dumps(login)[:-10],  # truncated
        json.dumps(login),  # no time
        json.dumps(login | {"time": "half past nine"}),
        "workstation-FE02: login of Jean",  # not JSON at all
    )
    return ways[number % len(ways)]
