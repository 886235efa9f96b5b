"""Events as rows of numbers while they are simulated, and as an Arrow table when they are written."""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from office.plan import DAY_START, PEOPLE, ROOMS, of_each_floor


class Type(IntEnum):
    """The event types, by the numbers the model uses for them."""

    Pers = 0
    Door = 1
    Temp = 2
    BoardOn = 3
    BoardOff = 4
    Login = 5
    ReducedBandwidth = 6


ACTIONS = ("open", "close")

# -1 (or NaN) means that an event has no such attribute.
ROW = np.dtype(
    [
        ("time", "i8"),  # milliseconds since DAY_START
        ("type", "i1"),
        ("floor", "i4"),
        ("room", "i1"),
        ("person", "i1"),
        ("action", "i1"),
        ("value", "f8"),  # degrees for Temp, Mbit/s for ReducedBandwidth
    ]
)
Events = npt.NDArray[np.void]

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False),
        ("location", pa.string()),
        ("name", pa.string()),
        ("action", pa.string()),
        ("temp", pa.float64()),
        ("point", pa.string()),
        ("mbit", pa.float64()),
        pa.field("source", pa.string(), nullable=False),
    ]
)

# The device that reports an event. A badge belongs to a person, every other device to a room.
_DEVICE = {
    Type.Pers: "badge",
    Type.Door: "door",
    Type.Temp: "thermometer",
    Type.BoardOn: "board",
    Type.BoardOff: "board",
    Type.Login: "workstation",
    Type.ReducedBandwidth: "monitor",
}
_OWNERS = PEOPLE + ROOMS
_SOURCES = tuple(f"{_DEVICE[type_]}-{owner}" for type_ in Type for owner in _OWNERS)
_POINTS = tuple(f"net-{room}" for room in ROOMS)
_TYPES = tuple(type_.name for type_ in Type)


def make_events(type_: Type, time: Any, floor: Any, **attributes: Any) -> Events:
    """Make events of one type from columns; an attribute may also be one value for all of them.

    >>> make_events(Type.BoardOn, np.array([5, 9]), np.array([0, 0]), room=6)["room"]
    array([6, 6], dtype=int8)
    """
    rows = np.empty(len(time), ROW)
    rows["type"], rows["time"], rows["floor"] = type_, time, floor
    for name, missing in (("room", -1), ("person", -1), ("action", -1), ("value", np.nan)):
        rows[name] = attributes.pop(name, missing)
    if attributes:
        raise TypeError(f"an event has no attribute {', '.join(attributes)}")
    return rows


def to_table(events: Events, ids: npt.NDArray[np.int64], floors: int) -> pa.Table:
    """Spell out the events of a building as a table with the columns of ``SCHEMA``."""
    type_, floor, room, person = (events[column] for column in ("type", "floor", "room", "person"))
    bandwidth = type_ == Type.ReducedBandwidth
    owner = np.where(type_ == Type.Pers, person, room + len(PEOPLE))
    micros = np.datetime64(DAY_START.replace(tzinfo=None), "us").astype("i8") + events["time"] * 1_000
    columns = [
        pa.array(ids),
        _spell(_TYPES, type_),
        pa.array(micros, SCHEMA.field("time").type),
        _spell(ROOMS, np.where(bandwidth, -1, room), floor, floors),
        _spell(PEOPLE, person, floor, floors),
        _spell(ACTIONS, events["action"]),
        pa.array(events["value"], mask=type_ != Type.Temp),
        _spell(_POINTS, np.where(bandwidth, room, -1), floor, floors),
        pa.array(events["value"], mask=~bandwidth),
        _spell(_SOURCES, type_.astype(np.int64) * len(_OWNERS) + owner, floor, floors),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _spell(words: tuple[str, ...], number: Any, floor: Any = 0, floors: int = 1) -> pa.Array:
    """Replace numbers by the words of their floor, and negative ones by null."""
    place = floor * np.int64(len(words)) + number
    return _dictionary(words, floors).take(pa.array(place, mask=number < 0))


@cache
def _dictionary(words: tuple[str, ...], floors: int) -> pa.Array:
    """The names of a building, cached because every part file needs them."""
    return pa.array(of_each_floor(floors, words))
