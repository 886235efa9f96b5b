"""Simulate a day of a building's sensors: doors that open and close, and temperatures.

    python simulate.py --out data

It writes `events.csv`, in the order of time. A door reports `open` and `close`; some are left open. Each room has a sensor
that reports its temperature (`temp`) about every five minutes; some sensors fall silent for a while, and some rooms get
warmer and warmer. The same seed gives the same events.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DAY = datetime(2024, 2, 6, tzinfo=UTC)
END = DAY + timedelta(days=1)
FIELDS = ("id", "time", "type", "room", "celsius")
Event = dict[str, Any]


def door(chance: random.Random, room: str) -> Iterator[Event]:
    """A day of one door."""
    now = DAY + timedelta(hours=6, minutes=chance.uniform(0, 120))
    while now < DAY + timedelta(hours=20):
        yield {"time": now, "type": "open", "room": room}
        now += timedelta(minutes=chance.uniform(15, 40) if chance.random() < 0.05 else chance.uniform(0.1, 4))
        yield {"time": now, "type": "close", "room": room}
        now += timedelta(minutes=chance.uniform(1, 90))


def thermometer(chance: random.Random, room: str) -> Iterator[Event]:
    """A day of one thermometer."""
    now, celsius, heating = DAY, chance.uniform(19, 23), 0
    while now < END:
        yield {"time": now, "type": "temp", "room": room, "celsius": round(celsius, 1)}
        silent = chance.random() < 0.004
        now += timedelta(minutes=chance.uniform(20, 90) if silent else chance.uniform(4.5, 5.5))
        if chance.random() < 0.004:
            heating = chance.randint(4, 12)
        celsius += chance.uniform(0.6, 1.5) if heating else chance.uniform(-0.3, 0.3) + (21 - celsius) * 0.1
        heating = max(0, heating - 1)


def simulate(rooms: int = 40, seed: int = 1) -> list[Event]:
    """The events of a day, in order."""
    chance = random.Random(seed)
    events: list[Event] = []
    for n in range(1, rooms + 1):
        events += door(chance, f"R{n:02}")
        events += thermometer(chance, f"R{n:02}")
    events.sort(key=lambda event: event["time"])
    return [{"id": n} | event | {"time": event["time"].isoformat()} for n, event in enumerate(events, 1)]


def main() -> None:
    """Write the events."""
    parser = argparse.ArgumentParser(description="Simulate a day of a building's sensors.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--rooms", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    events = simulate(options.rooms, options.seed)
    with open(options.out / "events.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(events)
    print(f"the building: {len(events):,} events of {options.rooms} rooms, seed {options.seed}")


if __name__ == "__main__":
    main()
