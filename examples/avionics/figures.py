"""Compute the figures of the example with the local engine, and print them as tables or as JSON.

    python figures.py                                       the figures of the README
    python figures.py --scale 10 --minutes 5 --json         those of a longer flight, for a program to read

The flight is the one that `simulator.py` writes for the same seed, scale and minutes.

Paper: 001, section 1 (traffic), section 5.5 (labels and modes), section 8 (delivery).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from flight.modes import compare
from flight.options import add_flight, at_least
from flight.system import flights, load, run
from flight.traffic import counterparts, deliveries, rates, traffic


@dataclass(frozen=True)
class Table:
    """Figures of one kind; each row is a dataclass, and its fields are the columns."""

    name: str
    title: str
    rows: Sequence[Any]

    def __str__(self) -> str:
        rows = [list(asdict(row).values()) for row in self.rows]
        heads = [field.name.replace("_", " ") for field in fields(self.rows[0])]
        columns = [_column(head, values) for head, *values in zip(heads, *rows, strict=True)]
        return "\n".join([self.title, "", *("  ".join(line) for line in zip(*columns, strict=True))])


def _column(head: str, values: Sequence[object]) -> list[str]:
    """The cells of a column, all of one width: names left-aligned, figures right-aligned."""
    cells = [head, *map(_cell, values)]
    width = max(map(len, cells))
    return [f"{cell:{'<' if isinstance(values[0], str) else '>'}{width}}" for cell in cells]


def _cell(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "–"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def figures(seed: int = 1, scale: int = 2, minutes: int = 1, sensors: int = 8) -> list[Table]:
    """All figures of a flight, with up to `sensors` redundant sensors."""
    system = load()
    passages = [run(system, flight) for flight in flights(seed, scale, minutes)]
    compared = [compare(n, seed=seed) for n in range(1, sensors + 1)]
    return [
        Table(
            "traffic", "Events that each correlation receives and forwards", list(traffic(system, passages))
        ),
        Table("rates", "Bundle, when a comes k times as often as b", list(rates(system))),
        Table(
            "deliveries",
            "What a consumer would get unfiltered, what it is sent, and what becomes of that",
            list(deliveries(system, passages)),
        ),
        Table("counterparts", "Outputs, and those of the same in ECL", list(counterparts(system, passages))),
        Table("labels", "n redundant sensors as a correlation", [labels for labels, _ in compared]),
        Table("modes", "The same as a mode expression of ECL", [modes for _, modes in compared]),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description="Compute the figures of the avionics example.",
        epilog="example: python figures.py --seed 7 --json",
    )
    add_flight(parser, scale=2, minutes=1)
    add = parser.add_argument
    add("--sensors", type=at_least(1), default=8, metavar="N", help="redundant sensors, at most (default: 8)")
    add("--json", action="store_true", help="print JSON, not tables")
    options = vars(parser.parse_args(arguments))
    as_json = options.pop("json")
    tables = figures(**options)
    if as_json:
        print(json.dumps(options | {table.name: [asdict(row) for row in table.rows] for table in tables}))
    else:
        print("\n\n".join(map(str, tables)))


if __name__ == "__main__":
    main()
