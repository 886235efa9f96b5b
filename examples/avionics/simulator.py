"""Simulate aircraft and write what their components send, at any scale.

    python simulator.py --output data                        one aircraft, ten minutes, some 140,000 events
    python simulator.py --output big --scale 1000            a thousand of them

Rate generators tick at 1, 5, 20 and 40 Hz, and the air frame, two steering queues, INS, GPS, navigator and four
redundant air data sensors answer them. Now and then the pilot switches the mode, the GPS raises an alarm, a sensor
fails or recovers and the validity controller reports it. The rates are in `flight/components.py`, the rest in
`flight/fleet.py`, each with its reason. It writes `events.parquet/part-*.parquet`, one file for each minute:

- `id`: the place of the event in the order of time, from 1;
- `time`, `type`: an event type of `avionics.idl`; `source`: the component and its port, as in `avionics.cad`;
- `aircraft`: whose event it is, from `A0001`;
- the attributes of all event types; those that an event does not have are null.

The same seed gives the same bytes. Memory holds one minute.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from flight.components import PORTS
from flight.fleet import Fleet
from flight.options import add_flight
from flight.table import to_table


@dataclass(frozen=True)
class Summary:
    """What was written."""

    seed: int
    scale: int
    minutes: int
    sources: dict[str, int]

    @property
    def events(self) -> int:
        return sum(self.sources.values())

    def __str__(self) -> str:
        components = Counter[str]()
        for port in PORTS:
            components[port.component] += self.sources[port.source]
        lines = [
            f"Avionics: {self.events:,} events of {_number(self.scale, 'aircraft', 'aircraft')} in"
            f" {_number(self.minutes, 'minute', 'minutes')}, seed {self.seed}"
        ]
        return "\n".join(lines + [f"  {name:<17}{count:>12,}" for name, count in components.items()])


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def simulate(output: Path, *, seed: int = 1, scale: int = 1, minutes: int = 10) -> Summary:
    """Write the events of a flight into the folder `output`; returns how many each port has sent.

    Args:
        scale: the number of aircraft.
    """
    folder = _empty_folder(output / "events.parquet")
    counts = np.zeros(len(PORTS), np.int64)
    for number, rows in enumerate(Fleet(seed, scale, minutes).minutes()):
        pq.write_table(to_table(rows, 1 + int(counts.sum())), folder / f"part-{number:05}.parquet")
        counts += np.bincount(rows["port"], minlength=len(PORTS))
    sources = {port.source: int(count) for port, count in zip(PORTS, counts, strict=True)}
    return Summary(seed, scale, minutes, sources)


def _empty_folder(folder: Path) -> Path:
    """Make the folder if need be, and remove the part files of an earlier run: it may have had more."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob("part-*.parquet"):
        part.unlink()
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the simulator from the command line."""
    parser = argparse.ArgumentParser(
        description="Simulate aircraft and write what their components send.",
        epilog="example: python simulator.py --output data --seed 7",
    )
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder to write into")
    add_flight(parser, scale=1, minutes=10)
    options = vars(parser.parse_args(arguments))
    try:
        print(simulate(**options))
    except OSError as error:
        parser.exit(2, f"simulator.py: cannot write the events: {error}\n")


if __name__ == "__main__":
    main()
