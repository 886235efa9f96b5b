"""n labels against 2ⁿ modes: the same redundant sensors in both languages, for any number of sensors.

A message about sensor i comes from the port `ci`, which is all that a correlation sees, and says in `valid` which
sensors are valid from then on, which is what the guards of ECL ask. The correlation has the messages in the branch of
the sensors: so a message starts a new window, as a guard starts a new mode, and both must give the same outputs. The
paper's own form has them in branches of their own (`||`), and keeps what the other sensors have sent.

Paper: 001, section 5.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tocsin.algebra.completion.expression import walk
from tocsin.algebra.correlation.expression import walk as walk_filter
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata import completion as machine
from tocsin.automata import correlation as acceptor
from tocsin.automata.completion import simulate
from tocsin.errors import LimitError
from tocsin.languages import ecl, ksu

SWITCHES = 0.05  # the share of messages among the events of a trace
MOST_CONFIGURATIONS = (
    1_000  # of a correlation; those of an expression are counted as long as a table holds them
)


@dataclass(frozen=True)
class LabelSizes:
    """A correlation for n sensors, and how large it is.

    `parts` are those of the filter and of the transformer, `nodes` those of all acceptors, `configurations` the states
    that it can be in (None if they are too many to count). `outputs_in_parallel`: with the paper's `||`.
    """

    sensors: int
    labels: int
    characters: int
    parts: int
    nodes: int
    configurations: int | None
    outputs: int
    outputs_in_parallel: int


@dataclass(frozen=True)
class ModeSizes:
    """A mode expression for n sensors, how large it is, and whether it gives the outputs of the correlation.

    `states` and `transitions` are those of its correlation machine, `configurations` the sets of states that it can
    be in (None if they are too many to count).
    """

    sensors: int
    modes: int
    characters: int
    parts: int
    states: int
    transitions: int
    configurations: int | None
    outputs: int
    same_outputs: bool


def correlation_text(sensors: int, between: str = "|") -> str:
    """The correlation: a label for each sensor, and one for each message about it."""
    numbers = range(1, sensors + 1)
    parameters = [f"DataNotify s{n}" for n in numbers] + [f"Validity c{n}" for n in numbers]
    data = " + ".join(f"m{n}:s{n}" for n in numbers)
    messages = "".join(f" {between} t{n}:c{n}" for n in numbers)
    cases = "".join(f"  case t{n}: toggle (m{n});\n" for n in numbers)
    return (
        f"DataAvailable correlation Sensors ({', '.join(parameters)})\n"
        f"  all:({data}){messages}\n"
        f"{{\n{cases}  case all: push new DataAvailable {{}}\n}}\n"
    )


def mode_text(sensors: int) -> str:
    """The mode expression: a mode for each set of valid sensors, all of them first."""
    return "\n".join(_mode(valid, sensors) for valid in reversed(range(2**sensors))) + "\n"


def _mode(valid: int, sensors: int) -> str:
    names = ", ".join(f"s{n}" for n in range(1, sensors + 1) if valid >> n - 1 & 1)
    body = f"repeat {{push(DataAvailable) {{accumulate {{{names}}}}}}}" if names else "false"
    return f"in (<valid = {valid}>) do {{{body}}}"


def trace(sensors: int, events: int, seed: int) -> Iterator[tuple[str, int | None]]:
    """Events of the sensors at random, and messages among them: the port, and what a message says is valid."""
    rng = np.random.default_rng([seed, sensors])
    valid = 2**sensors - 1
    numbers, messages = rng.integers(1, sensors + 1, events), rng.random(events) < SWITCHES
    for n, is_message in zip(numbers.tolist(), messages.tolist(), strict=True):
        valid ^= 1 << n - 1 if is_message else 0
        yield (f"c{n}", valid) if is_message else (f"s{n}", None)


def compare(sensors: int, events: int = 2_000, seed: int = 1) -> tuple[LabelSizes, ModeSizes]:
    """Say the same in both languages, measure both, and run both over the same trace."""
    steps = list(trace(sensors, events, seed))
    labels, positions = _labels(sensors, [Arrival(port) for port, _ in steps])
    return labels, _modes(sensors, [_fields(port, valid) for port, valid in steps], positions)


def _labels(sensors: int, arrivals: list[Arrival]) -> tuple[LabelSizes, list[int]]:
    """The correlation measured, and the events with which its outputs came."""
    text = correlation_text(sensors)
    program = _program(text)
    correlation = program.correlation
    in_filter = [part for branch in correlation.branches for part in walk_filter(branch)]
    in_cases = [part for case in correlation.cases for part in (case.guard, *case.body)]
    acceptors = [branch.machine for branch in program.branches]
    acceptors += [label.machine for branch in program.branches for label in branch.labels]
    positions = [output.at for output in acceptor.run(program, arrivals).outputs]
    paper = acceptor.run(_program(correlation_text(sensors, between="||")), arrivals)
    measured = LabelSizes(
        sensors,
        len(program.labels),
        len(text),
        len(in_filter) + len(in_cases),
        sum(len(one.nodes) for one in acceptors),
        _configurations(program),
        len(positions),
        len(paper.outputs),
    )
    return measured, positions


def _program(text: str) -> acceptor.Program:
    (correlation,) = ksu.parse(text).correlations
    return acceptor.compile_correlation(correlation)


def _modes(sensors: int, events: list[dict[str, str | int]], positions: list[int]) -> ModeSizes:
    text = mode_text(sensors)
    expression = ecl.parse(text).expression
    built = machine.construct(expression)
    own = [at for at, _ in simulate.run(simulate.prepare(built), events).outputs]
    modes = 2**sensors
    return ModeSizes(
        sensors,
        modes,
        len(text),
        len(list(walk(expression))) + modes,  # a guard is a part too
        len(built.states),
        len(built.transitions),
        _mode_configurations(built, sensors),
        len(own),
        own == positions,
    )


def _fields(port: str, valid: int | None) -> dict[str, str | int]:
    return {"type": port} if valid is None else {"type": "Validity", "valid": valid}


def _configurations(program: acceptor.Program) -> int | None:
    """How many states a correlation can be in, but for how long ago its windows began; None if they are too many."""

    def timeless(state: acceptor.State) -> acceptor.State:
        return replace(state, at=0, branches=tuple(replace(one, start=0) for one in state.branches))

    seen = {timeless(acceptor.start(program)): None}
    queue = list(seen)
    for state in queue:
        for parameter in program.correlation.parameters:
            after = timeless(acceptor.feed(program, state, Arrival(parameter.name))[0])
            if after not in seen:
                seen[after] = None
                queue.append(after)
                if len(seen) > MOST_CONFIGURATIONS:
                    return None
    return len(seen)


def _mode_configurations(built: machine.Machine, sensors: int) -> int | None:
    events = [_fields(f"s{n}", None) for n in range(1, sensors + 1)]
    events += [_fields("Validity", valid) for valid in range(2**sensors)]
    try:
        return machine.determinise(built, machine.enumerated(built.filters, events)).configurations
    except LimitError:
        return None
