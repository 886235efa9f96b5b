"""Compile a machine: simplify it, cut it into independent parts, and make each a table if that fits.

A part whose table would exceed the limit stays a machine, with a note; it is run directly, and caches the steps
it has computed, up to a limit: something between the machine and the table.

Paper: 000, section 6, "Optimization": "Several intermediate solutions may exist".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Emit, value_of
from tocsin.algebra.completion.run import Run, Status
from tocsin.automata.completion.alphabet import alphabet_of
from tocsin.automata.completion.ask import Predicates, answers, predicates
from tocsin.automata.completion.passes.decompose import decompose
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.passes.remove_steps import remove_steps
from tocsin.automata.completion.passes.remove_unreachable import remove_unreachable
from tocsin.automata.completion.passes.share import share
from tocsin.automata.completion.simulate import Prepared, enabled, prepare, react, users_of
from tocsin.automata.completion.simulate import start as start_of
from tocsin.automata.completion.simulate import status as status_of
from tocsin.automata.completion.table import MAX_CELLS, Determinised
from tocsin.errors import LimitError

# How many steps of a part that is not a table are cached.
MAX_REMEMBERED = 10_000
# Above this size the passes take seconds.
MAX_ARCS = 500_000
PASSES = (remove_unreachable, remove_steps, share)

State = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """An independent part of a machine; `note` says why it is not a table, if it is not."""

    prepared: Prepared
    asks: tuple[int, ...]  # its predicates, as numbers into those of the whole machine
    determinised: Determinised | None
    note: str | None
    remembered: dict[tuple[int, int], tuple[int, tuple[Emit, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )


@dataclass(frozen=True, slots=True)
class Compiled:
    """A machine ready to run. Its state is a number for each part."""

    parts: tuple[Part, ...]
    asked: Predicates

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on parts that are not tables."""
        return tuple(part.note for part in self.parts if part.note is not None)


def simplify(machine: Machine) -> Machine:
    """The machine without redundant states and transitions; one of more than `MAX_ARCS` arcs is left as it is."""
    if sum(len(t.clear) + len(t.target) for t in machine.transitions) > MAX_ARCS:
        return machine
    for one in PASSES:
        machine = one(machine)
    return machine


def compile_machine(
    machine: Machine, *, types: Iterable[frozenset[str]] | None = None, limit: int = MAX_CELLS
) -> Compiled:
    """Prepare a machine to run.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Repeat
    >>> from tocsin.automata.completion.construct import construct
    >>> compiled = compile_machine(construct(Repeat(Predicate(TRUE), 2)))
    >>> run(compiled, [{}, {}, {}]).completed_at
    2

    Args:
        types: for each type of events, that type and those it is a subtype of; None if types have no
        subtypes. limit: the most cells a table may have.
    """
    types = None if types is None else list(types)
    simple = simplify(machine)
    asked = predicates(simple.filters)
    number = {filter: i for i, filter in enumerate(asked.filters)}
    parts = []
    for one in decompose(simple):
        prepared = prepare(one)
        determinised, note = _table(prepared, types, limit)
        asks = tuple(number[filter] for filter in prepared.asked.filters)
        parts.append(Part(prepared, asks, determinised, note))
    return Compiled(tuple(parts), asked)


def _table(
    prepared: Prepared, types: list[frozenset[str]] | None, limit: int
) -> tuple[Determinised | None, str | None]:
    try:
        alphabet = alphabet_of(prepared.asked.filters, types)
        return minimise(determinise(prepared, alphabet, limit)), None
    except LimitError as error:
        return None, f"{prepared.machine.name} is run as it is: {error.message}"


def start(compiled: Compiled) -> State:
    """The state before the first event."""
    return tuple(start_of(part.prepared) if part.determinised is None else 0 for part in compiled.parts)


def feed(compiled: Compiled, state: State, event: Fields) -> tuple[State, tuple[Emit, ...]]:
    """The state after one more event, and the outputs it caused. Every predicate is evaluated once."""
    answered = answers(compiled.asked, event)
    after: list[int] = []
    emits: list[Emit] = []
    for part, at in zip(compiled.parts, state, strict=True):
        satisfied = sum(1 << j for j, i in enumerate(part.asks) if answered >> i & 1)
        at, made = _feed_part(part, at, satisfied)
        after.append(at)
        emits += made
    return tuple(after), tuple(emits)


def _feed_part(part: Part, state: int, satisfied: int) -> tuple[int, tuple[Emit, ...]]:
    if part.determinised is not None:
        determinised = part.determinised
        after, numbers = determinised.cell(state, determinised.alphabet.symbol_of(satisfied))
        return after, tuple(determinised.emits[number] for number in numbers)
    key = (state, satisfied)
    if key in part.remembered:
        return part.remembered[key]
    competing = enabled(part.prepared, state) & users_of(part.prepared, satisfied)
    result = react(part.prepared, state, competing)
    if len(part.remembered) < MAX_REMEMBERED:
        part.remembered[key] = result
    return result


def status(compiled: Compiled, state: State) -> Status:
    """The status of the evaluation; success takes precedence where the final states are in different parts."""
    found = {
        status_of(part.prepared, at) if part.determinised is None else part.determinised.status(at)
        for part, at in zip(compiled.parts, state, strict=True)
    }
    return next((one for one in (Status.SUCCESS, Status.FAILURE) if one in found), Status.RUNNING)


def run(compiled: Compiled, events: Iterable[Fields]) -> Run:
    """Run over a trace."""
    state, outputs, completed_at = start(compiled), [], None
    for position, event in enumerate(events, 1):
        state, emits = feed(compiled, state, event)
        outputs += [(position, value_of(emit.output, event)) for emit in emits]
        if completed_at is None and status(compiled, state) is not Status.RUNNING:
            completed_at = position
    return Run(tuple(outputs), status(compiled, state), completed_at)
