"""The floor plan: nine rooms, fifteen people, one working day, and their names.

Rooms and people are numbers inside the model (positions in ``ROOMS`` and ``PEOPLE``). They get their
names only when events are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

OFFICES = ("FE01", "FE02", "FE03", "FE04", "FE05", "FE06")
MEETING_ROOMS = ("MR1", "MR2", "MR3")
ROOMS = OFFICES + MEETING_ROOMS

# Eight people in six offices: FE01 and FE03 are shared.
HOME_OFFICE = {
    "Jean": "FE02",
    "Peter": "FE04",
    "Brian": "FE01",
    "Anna": "FE03",
    "David": "FE05",
    "Helen": "FE06",
    "Ken": "FE01",
    "Sara": "FE03",
}
RESIDENTS = tuple(HOME_OFFICE)
VISITORS = ("Alice", "Carlos", "Emma", "Fatima", "George", "Ingrid", "Lukas")
PEOPLE = RESIDENTS + VISITORS

DAY_START = datetime(2004, 1, 30, 8, tzinfo=UTC)
MINUTES = 600
"""The day ends at 18:00."""

SECOND = 1_000
MINUTE = 60 * SECOND
"""The model counts time in milliseconds since ``DAY_START``."""

EVENTS_PER_FLOOR = MINUTES * (len(PEOPLE) + len(ROOMS))
"""What one floor reports at the very least: each badge and each thermometer, once a minute."""


def of_each_floor(floors: int, names: Sequence[str]) -> list[str]:
    """Spell names for floor after floor: plain ones in a building of one floor, else ``f017/FE02``.

    >>> of_each_floor(1, ["FE02", "MR1"])
    ['FE02', 'MR1']
    >>> of_each_floor(2, ["FE02", "MR1"])
    ['f001/FE02', 'f001/MR1', 'f002/FE02', 'f002/MR1']
    """
    if floors == 1:
        return list(names)
    width = max(3, len(str(floors)))
    return [f"f{floor:0{width}}/{name}" for floor in range(1, floors + 1) for name in names]
