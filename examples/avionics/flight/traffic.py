"""How much traffic the correlations save: what they receive, what they forward, and what a consumer gets.

Paper: 001, sections 1 and 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flight.components import MILLISECOND, SECOND
from flight.system import Passage, System
from tocsin.algebra.correlation.delivery import Queue, deliver, offer
from tocsin.algebra.correlation.outcome import Arrival, Output
from tocsin.automata import completion as machine
from tocsin.automata import correlation as acceptor
from tocsin.automata.completion import compile as machines

Passages = Sequence[Mapping[str, Passage]]  # of each aircraft, of each correlation


def percent_saved(received: int, forwarded: int) -> float:
    """The share of the events that need not be sent."""
    return round(100 - 100 * forwarded / received, 1) if received else 0.0


@dataclass(frozen=True)
class Traffic:
    """Events received and forwarded by a correlation."""

    correlation: str
    received: int
    forwarded: int
    percent_saved: float


def traffic(system: System, passages: Passages) -> Iterator[Traffic]:
    """The traffic of each correlation, and of all of them."""
    rows = []
    for correlation in system.library.correlations:
        own = [flown[correlation.name] for flown in passages]
        received = sum(len(passage.received) for passage in own)
        forwarded = sum(len(passage.outcome.outputs) for passage in own)
        rows.append(Traffic(correlation.name, received, forwarded, percent_saved(received, forwarded)))
    received, forwarded = sum(row.received for row in rows), sum(row.forwarded for row in rows)
    yield from rows
    yield Traffic("all", received, forwarded, percent_saved(received, forwarded))


@dataclass(frozen=True)
class Rates:
    """Fig. 1: a sender k times as fast as the other, and a receiver that needs both."""

    k: int
    received: int
    forwarded: int
    percent_saved: float


def rates(system: System, periods: int = 60) -> Iterator[Rates]:
    """The traffic of `Bundle` when `a` comes k times as often as `b`."""
    bundle = next(one for one in system.library.correlations if one.name == "Bundle")
    program = acceptor.compile_correlation(bundle)
    for k in (1, 2, 4, 8, 20, 40):
        arrivals = ([Arrival("a")] * k + [Arrival("b")]) * periods
        forwarded = len(acceptor.run(program, arrivals).outputs)
        yield Rates(k, len(arrivals), forwarded, percent_saved(len(arrivals), forwarded))


# --- consumers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """How often a consumer empties its queue, and how much fits in."""

    every: int
    capacity: int


READERS = {
    "FlightControl": Reader(60 * MILLISECOND, 16),
    "Autopilot": Reader(SECOND // 4, 16),
    "Display": Reader(SECOND // 4, 8),
    "Recorder": Reader(5 * SECOND, 24),
}


@dataclass(frozen=True)
class Deliveries:
    """Events a consumer would get without the correlations, those the correlations send it, and their fate."""

    consumer: str
    unfiltered: int
    sent: int
    delivered: int
    overwritten: int
    expired: int
    dropped: int
    waiting: int


def deliveries(system: System, passages: Passages) -> Iterator[Deliveries]:
    """What each consumer gets; without correlations each of its ports would get all that they receive."""
    for consumer, reader in READERS.items():
        feeders = [
            connection.source.owner
            for connection in system.assembly.connections
            if connection.target.owner == consumer
        ]
        counts = Counter[str]()
        for flown in passages:
            counts["unfiltered"] += sum(len(flown[name].received) for name in feeders)
            outputs = [output for name in feeders for output in flown[name].outcome.outputs]
            counts["sent"] += len(outputs)
            counts += _served(reader, sorted(outputs, key=_time))
        fates = ("unfiltered", "sent", "delivered", "overwritten", "expired", "dropped", "waiting")
        yield Deliveries(consumer, *(counts[fate] for fate in fates))


def _served(reader: Reader, outputs: Iterable[Output]) -> Counter[str]:
    """The fate of outputs in the queue of one reader."""
    queue, counts = Queue(reader.capacity), Counter[str]()
    reads_at = 0
    for output in outputs:
        if _time(output) > reads_at:
            queue, taken = deliver(queue, reads_at)
            counts["delivered"] += len(taken)
            reads_at = (_time(output) // reader.every + 1) * reader.every
        queue = offer(queue, output)
    counts["waiting"] = len(queue.waiting)
    return counts + Counter(lost.why for lost in queue.lost)


def _time(output: Output) -> int:
    assert output.time is not None, output
    return output.time


# --- ECL counterparts --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Counterpart:
    """How many outputs a correlation has, how many its counterpart in ECL, and how many come with the same event."""

    correlation: str
    outputs: int
    outputs_of_ecl: int
    with_the_same_event: int


def counterparts(system: System, passages: Passages) -> Iterator[Counterpart]:
    """Each correlation beside its counterpart, on the same events."""
    for correlation in system.library.correlations:
        compiled = machine.compile_machine(machine.construct(system.counterparts[correlation.name]))
        own, other, same = 0, 0, 0
        for passage in (flown[correlation.name] for flown in passages):
            events = [
                {**one.attributes, "type": one.type, "source": one.source, "timestamp": one.time}
                for one in passage.received
            ]
            places = Counter(output.at for output in passage.outcome.outputs)
            ecl_places = Counter(at for at, _ in machines.run(compiled, events).outputs)
            own, other = own + places.total(), other + ecl_places.total()
            same += (places & ecl_places).total()
        yield Counterpart(correlation.name, own, other, same)
