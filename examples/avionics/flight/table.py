"""Events as an Arrow table: one row an event, one column an attribute."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from flight.components import COMPONENTS, NOTIFIES, PAYLOAD, PORTS
from flight.fleet import Rows

START = datetime(2007, 5, 1, 12, tzinfo=UTC)

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("aircraft", pa.string(), nullable=False),
        ("SourceID", pa.int16()),
        ("pitch", pa.float64()),
        ("roll", pa.float64()),
        ("latitude", pa.float64()),
        ("longitude", pa.float64()),
        ("heading", pa.float64()),
        ("Value", pa.float64()),
        ("valid", pa.int16()),
    ]
)

_TYPES = pa.array([port.type for port in PORTS])
_SOURCES = pa.array([port.source for port in PORTS])
_SOURCE_IDS = pa.array(
    [COMPONENTS.index(port.component) + 1 if port.type in NOTIFIES else None for port in PORTS], pa.int16()
)


def to_table(rows: Rows, first_id: int) -> pa.Table:
    """Spell out rows of a fleet; the ids count on from the first one."""
    port = pa.array(rows["port"])
    aircraft = pa.array(rows["aircraft"])
    names = pa.array([f"A{number:04}" for number in range(1, 2 + int(rows["aircraft"].max(initial=0)))])
    start = np.datetime64(START.replace(tzinfo=None), "us").astype("i8")
    columns = {
        "id": pa.array(np.arange(first_id, first_id + len(rows))),
        "time": pa.array(start + rows["time"], SCHEMA.field("time").type),
        "type": _TYPES.take(port),
        "source": _SOURCES.take(port),
        "aircraft": names.take(aircraft),
        "SourceID": _SOURCE_IDS.take(port),
    }
    for type_, attributes in PAYLOAD.items():
        others = np.array([port.type != type_ for port in PORTS])[rows["port"]]
        for attribute, column in zip(attributes, ("first", "second"), strict=False):
            values = pa.array(rows[column], mask=others)
            columns[attribute] = values.cast(SCHEMA.field(attribute).type)
    return pa.table(columns, SCHEMA)
