"""The correlations of an aircraft, read from the files beside this folder, and run over a flight of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from flight.fleet import Fleet
from flight.table import to_table
from tocsin.algebra.completion.expression import Expression
from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.outcome import Arrival, Outcome, Output
from tocsin.algebra.correlation.types import Types
from tocsin.automata import correlation as acceptor
from tocsin.errors import PatternError
from tocsin.languages import ecl
from tocsin.languages.ksu import Assembly, parse, parse_assembly, parse_idl
from tocsin.values import Value

FOLDER = Path(__file__).parents[1]
COUNTERPART = (
    "Ecl"  # how the name of a subscription of avionics.ecl begins; the rest is that of a correlation
)


@dataclass(frozen=True)
class System:
    """Event types, correlations, who feeds them, and the same correlations in ECL."""

    types: Types
    library: Library
    assembly: Assembly
    counterparts: Mapping[str, Expression]

    @property
    def warnings(self) -> tuple[PatternError, ...]:
        return self.library.warnings + self.assembly.warnings

    def in_order(self) -> Iterator[Correlation]:
        """The correlations, each after those whose events it reads."""
        correlations = {correlation.name: correlation for correlation in self.library.correlations}
        feeders = {
            name: {port.owner for port in self.assembly.sources(name).values()} for name in correlations
        }
        for name in TopologicalSorter(feeders).static_order():
            if name in correlations:
                yield correlations[name]


@cache
def load() -> System:
    """The system of this example; raises `PatternErrors` if a file of it is wrong."""
    types = parse_idl(_text("avionics.idl"))
    libraries = [parse(_text(file.name), types) for file in sorted(FOLDER.glob("*.cor"))]
    library = Library(
        tuple(correlation for library in libraries for correlation in library.correlations),
        tuple(warning for library in libraries for warning in library.warnings),
    )
    subscriptions = ecl.parse(_text("avionics.ecl")).subscriptions
    return System(
        types,
        library,
        parse_assembly(_text("avionics.cad"), library, types),
        {str(one.name).removeprefix(COUNTERPART): one.expression for one in subscriptions},
    )


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Sent:
    """An event that a component or a correlation has sent.

    `order` is the number of the component's event, and how many correlations it has passed since.
    """

    order: tuple[int, int]
    source: str
    type: str
    attributes: Mapping[str, Value]
    time: int


Flight = Mapping[str, Sequence[Sent]]  # what each port has sent


def flights(seed: int, scale: int, minutes: int) -> list[Flight]:
    """What the ports of each aircraft of a fleet have sent."""
    found: dict[str, dict[str, list[Sent]]] = defaultdict(lambda: defaultdict(list))
    first_id = 1
    for rows in Fleet(seed, scale, minutes).minutes():
        table = to_table(rows, first_id)
        first_id += len(rows)
        times = table["time"].cast("int64").to_pylist()
        for event, time in zip(table.drop_columns("time").to_pylist(), times, strict=True):
            id, type, source, aircraft = (event.pop(name) for name in ("id", "type", "source", "aircraft"))
            attributes = {name: value for name, value in event.items() if value is not None}
            found[aircraft][source].append(Sent((id, 0), source, type, attributes, time))
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Passage:
    """The events a correlation received in a flight, and the outcome."""

    received: Sequence[Sent]
    arrivals: Sequence[Arrival]
    outcome: Outcome


def run(system: System, flight: Flight) -> dict[str, Passage]:
    """Run every correlation over a flight; what one of them sends is an event for those it is connected to."""
    sent = dict(flight)
    passages = {}
    for correlation in system.in_order():
        bound = {str(port): event for event, port in system.assembly.sources(correlation.name).items()}
        received = sorted((one for port in bound for one in sent.get(port, ())), key=lambda one: one.order)
        arrivals = [Arrival(bound[one.source], one.type, one.attributes, one.time) for one in received]
        program = acceptor.compile_correlation(correlation, types=system.types)
        outcome = acceptor.run(program, arrivals)
        passages[correlation.name] = Passage(received, arrivals, outcome)
        sent[correlation.name] = [
            _sent(correlation, output, received[output.at - 1]) for output in outcome.outputs
        ]
    return passages


def _sent(correlation: Correlation, output: Output, completing: Sent) -> Sent:
    number, passed = completing.order
    return Sent((number, passed + 1), correlation.name, str(output.type), output.attributes, completing.time)
