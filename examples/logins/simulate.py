"""Simulate a day of a company's logins and processes, with a few attacks among them.

    python simulate.py --out data

It writes `events.jsonl`, in the order of time. People fail to log in (`failed`) and log in (`login`), each from the country
they are in; hosts start processes (`process`), each with its number `pid` and the number `parent` of the process that
started it. Some accounts are attacked by guessing, some people are in two countries at once, and some documents start a
shell. The same seed gives the same events.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DAY = datetime(2024, 5, 14, tzinfo=UTC)
COUNTRIES = ("DE", "FR", "GB", "IN", "US")
OFFICE = ("winword.exe", "excel.exe", "outlook.exe")
SHELLS = ("cmd.exe", "powershell.exe")
OTHERS = ("chrome.exe", "teams.exe", "notepad.exe", "splwow64.exe")
Event = dict[str, Any]


def clock(chance: random.Random) -> datetime:
    """A time of the day."""
    return DAY + timedelta(seconds=chance.uniform(0, 86400))


def logins(chance: random.Random, user: str) -> Iterator[Event]:
    """The logins of one user, those of somebody who guesses the password among them."""
    home = chance.choice(COUNTRIES)
    for _ in range(chance.randint(2, 8)):
        now = clock(chance)
        for _ in range(chance.choice([0, 0, 0, 1, 1, 2, 3])):
            yield {"time": now, "type": "failed", "user": user, "country": home}
            now += timedelta(seconds=chance.uniform(2, 30))
        yield {"time": now, "type": "login", "user": user, "country": home}
        if chance.random() < 0.04:
            elsewhere = chance.choice([country for country in COUNTRIES if country != home])
            later = now + timedelta(minutes=chance.uniform(5, 180))
            yield {"time": later, "type": "login", "user": user, "country": elsewhere}
    if chance.random() < 0.1:
        now, country = clock(chance), chance.choice(COUNTRIES)
        for _ in range(chance.randint(6, 40)):
            yield {"time": now, "type": "failed", "user": user, "country": country}
            now += timedelta(seconds=chance.uniform(0.5, 8))
        if chance.random() < 0.5:
            yield {"time": now, "type": "login", "user": user, "country": country}


def processes(chance: random.Random, host: str) -> Iterator[Event]:
    """The processes of one host. Numbers of processes are used again, as systems do."""
    for _ in range(chance.randint(10, 40)):
        now, pid = clock(chance), chance.randrange(4, 2000, 4)
        image = chance.choice(OFFICE + OTHERS)
        yield {"time": now, "type": "process", "host": host, "pid": pid, "parent": 4, "image": image}
        for _ in range(chance.choice([0, 0, 1, 2])):
            now += timedelta(minutes=chance.uniform(0.05, 8))
            started = chance.choice(SHELLS if chance.random() < 0.25 else OTHERS)
            child = chance.randrange(4, 2000, 4)
            yield {
                "time": now,
                "type": "process",
                "host": host,
                "pid": child,
                "parent": pid,
                "image": started,
            }


def simulate(people: int = 200, seed: int = 1) -> list[Event]:
    """The events of a day, in order."""
    chance = random.Random(seed)
    events: list[Event] = []
    for n in range(1, people + 1):
        events += logins(chance, f"user{n:03}")
        events += processes(chance, f"host{n:03}")
    events.sort(key=lambda event: event["time"])
    return [{"id": n} | event | {"time": event["time"].isoformat()} for n, event in enumerate(events, 1)]


def main() -> None:
    """Write the events."""
    parser = argparse.ArgumentParser(description="Simulate a day of logins and processes.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    events = simulate(options.people, options.seed)
    with open(options.out / "events.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(event) + "\n" for event in events)
    print(f"logins: {len(events):,} events of {options.people} people, seed {options.seed}")


if __name__ == "__main__":
    main()
