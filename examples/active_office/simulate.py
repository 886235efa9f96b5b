"""Simulate a day in the Active Office and write what its sensors report, at any scale.

    python simulate.py --out day                        one floor, some 16,000 events
    python simulate.py --out big --events 10000000      as many floors as it takes

A floor has nine rooms (offices FE01 to FE06, meeting rooms MR1 to MR3) and fifteen people: eight residents,
who prefer the offices, and seven visitors, who prefer the meeting rooms. The day is 2004-01-30, 08:00 to
18:00 UTC. Movement is a Markov process with one matrix per class of people and interval of the day. The paper
gives no figures; ours are in `office/movement.py` (people) and `office/devices.py` (sensors). It writes:

- `sensors.parquet/part-*.parquet`: all events but logins, in the order of time;
- `logins.jsonl`: the logins as JSON lines, with a few lines among them that cannot be read;
- `summary.json`: how many events of each type there are.

The `id` of an event is its place in the order of time among all events of both files, from 1. The same seed
and size give the same events. Memory holds one minute of the building, one part file and the logins.

Paper: Composite Event Detection as a Generic Middleware Extension, "The Active Office" and "Evaluation and
Results".
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from office.devices import DEVICES
from office.events import Events, Type, to_table
from office.logins import login_lines
from office.movement import People
from office.plan import EVENTS_PER_FLOOR, MINUTES

ROWS_PER_FILE = 500_000


@dataclass(frozen=True)
class Summary:
    """What was written."""

    seed: int
    floors: int
    events: int
    malformed: int
    types: dict[str, int]

    def __str__(self) -> str:
        building = "1 floor" if self.floors == 1 else f"{self.floors:,} floors"
        lines = [f"Active Office: {self.events:,} events of {building}, seed {self.seed}"]
        lines += [f"  {name:<17}{count:>12,}" for name, count in self.types.items()]
        return "\n".join([*lines, f"  {'malformed lines':<17}{self.malformed:>12,}"])


def simulate(
    out: Path,
    *,
    seed: int = 1,
    floors: int = 1,
    events: int | None = None,
    malformed: int = 3,
    rows_per_file: int = ROWS_PER_FILE,
) -> Summary:
    """Write a day of events into the folder `out`; returns how many there are of each type.

    Args:
        events: write exactly this many, the earliest ones; `floors` is then chosen to yield them.
        malformed: how many unreadable lines to put among the logins; they are not counted as events.
        rows_per_file: when to begin a new part file. It bounds the memory and changes no event.
    """
    if events is not None:
        floors = math.ceil(events / EVENTS_PER_FLOOR)
    sensors = _empty_folder(out / "sensors.parquet")
    counts = np.zeros(len(Type), np.int64)
    logins = []
    for number, batch in enumerate(_batches(_first(minutes(seed, floors), events), rows_per_file)):
        ids = 1 + counts.sum() + np.arange(len(batch))
        is_login = batch["type"] == Type.Login
        part = to_table(batch[~is_login], ids[~is_login], floors)
        pq.write_table(part, sensors / f"part-{number:05}.parquet")
        logins.append(to_table(batch[is_login], ids[is_login], floors))
        counts += np.bincount(batch["type"], minlength=len(Type))
    total = int(counts.sum())
    _write_lines(out / "logins.jsonl", login_lines(pa.concat_tables(logins), malformed, total + 1))
    types = {type_.name: int(counts[type_]) for type_ in Type}
    summary = Summary(seed, floors, total, malformed, types)
    _write_lines(out / "summary.json", [json.dumps(asdict(summary), indent=2)])
    return summary


def minutes(seed: int, floors: int) -> Iterator[Events]:
    """Simulate the day minute by minute, all floors at once; the events come in the order of time."""
    movement, *of_devices = np.random.default_rng(seed).spawn(1 + len(DEVICES))
    people = People(floors, movement)
    devices = [device(floors, rng) for device, rng in zip(DEVICES, of_devices, strict=True)]
    for minute in range(MINUTES):
        moves = people.step(minute)
        events = np.concatenate([device.step(minute, moves) for device in devices])
        yield events[np.argsort(events["time"], kind="stable")]


def _first(parts: Iterable[Events], limit: int | None) -> Iterator[Events]:
    """Stop after the first `limit` events, and simulate no further."""
    left = math.inf if limit is None else limit
    for part in parts:
        yield part if len(part) <= left else part[: int(left)]
        left -= len(part)
        if left <= 0:
            return


def _batches(parts: Iterable[Events], rows: int) -> Iterator[Events]:
    """Join minutes into batches of at least `rows` events; only the last may have fewer."""
    pending: list[Events] = []
    for part in parts:
        pending.append(part)
        if sum(map(len, pending)) >= rows:
            yield np.concatenate(pending)
            pending = []
    if pending:
        yield np.concatenate(pending)


def _empty_folder(folder: Path) -> Path:
    """Make the folder if need be, and remove the part files of an earlier run: it may have had more."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob("part-*.parquet"):
        part.unlink()
    return folder


def _write_lines(file: Path, lines: Iterable[str]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as text:
        text.writelines(f"{line}\n" for line in lines)


def _at_least(minimum: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if int(text) < minimum:
            raise argparse.ArgumentTypeError(f"{text} is less than {minimum}")
        return int(text)

    return number


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulator from the command line."""
    parser = argparse.ArgumentParser(
        description="Simulate a day in the Active Office and write its events.",
        epilog="example: python simulate.py --out day --seed 7",
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="DIR", help="the folder to write into")
    add("--seed", type=_at_least(0), default=1, metavar="N", help="same seed, same day (default: 1)")
    add("--malformed", type=_at_least(0), default=3, metavar="N", help="unreadable logins (default: 3)")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--floors", type=_at_least(1), default=1, metavar="N", help="whole days of N floors (default: 1)")
    add("--events", type=_at_least(1), metavar="N", help="exactly N events, of as many floors as it takes")
    options = vars(parser.parse_args(arguments))
    try:
        print(simulate(**options))
    except OSError as error:
        parser.exit(2, f"simulate.py: cannot write the events: {error}\n")


if __name__ == "__main__":
    main()
