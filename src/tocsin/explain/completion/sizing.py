"""The size of a machine after each pass, the machine that runs in the end, and the events that can matter to it."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.completion.machine import Machine
from tocsin.automata.completion import determinise, minimise, simulate
from tocsin.automata.completion.compile import MAX_ARCS, PASSES
from tocsin.automata.completion.passes.quench import quench, quench_always
from tocsin.errors import LimitError
from tocsin.explain.completion.wording import Printers
from tocsin.explain.contents import Kernel, Predicate, Predicates, Size, Sizes

_AFTER = ("without what is never reached", "without idle steps", "with equal parts merged")


def sizes(machine: Machine) -> Sizes:
    """The size of a machine after each pass, and of its table."""
    return Sizes(tuple(_sizes(machine)))


def _sizes(machine: Machine) -> Iterator[Size]:
    yield _size("as built", machine)
    if sum(len(t.clear) + len(t.target) for t in machine.transitions) > MAX_ARCS:
        yield Size("made small", refused=f"more than {MAX_ARCS:,} arcs")
    else:
        for one, words in zip(PASSES, _AFTER, strict=True):
            machine = one(machine)
            yield _size(words, machine)
    try:
        full = determinise(machine)
    except LimitError as error:
        yield Size("determinised", refused=f"{error.message}; it is run as it is")
        return
    kinds = len(full.alphabet.symbols)
    yield Size("determinised", configurations=full.configurations, event_kinds=kinds)
    configurations, kinds = minimise(full).table.next.shape
    yield Size("minimised", configurations=configurations, event_kinds=kinds)


def _size(stage: str, machine: Machine) -> Size:
    return Size(stage, len(machine.states), len(machine.transitions))


def kernel(name: str, found: Sizes) -> Kernel:
    """How a machine of these sizes is run."""
    last = found.sizes[-1]
    if last.refused is not None:
        cost = "its active states one by one: an event costs as much as the transitions it enables"
        return Kernel(name, "machine", cost, last.refused)
    cost = "one state a key: an event costs one step in a table"
    return Kernel(name, "table", cost, f"{last.configurations} configurations fit into a table")


def relevant_events(machine: Machine, printers: Printers) -> Predicates:
    """Quenching: the predicates that an event must satisfy so that it cannot be dropped."""
    prepared = simulate.prepare(machine)
    at_start = printers.filter(quench(prepared, simulate.start(prepared)))
    always = printers.filter(quench_always(prepared))
    return Predicates((Predicate("at the start", at_start), Predicate("at any time", always)))
