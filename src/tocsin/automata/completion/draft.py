"""ECL subscriptions as drafts for the runtime: machines combined, simplified, and cut into independent parts.

Paper: 000, section 6, "Evaluation Strategies".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from tocsin.algebra.completion.expression import Outcome, Program
from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.algebra.completion.output import Constant, Emit, FieldOf, Forward, Make
from tocsin.automata.completion.alphabet import alphabet_of
from tocsin.automata.completion.compile import simplify
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.compose import compose
from tocsin.automata.completion.passes.decompose import decompose
from tocsin.automata.completion.simulate import Prepared, enabled, prepare, react, start, users_of
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.transduce import Draft, Drafts, sharing, transducers
from tocsin.errors import LimitError
from tocsin.runtime.kernels.completion.table import EMIT, Action
from tocsin.runtime.program import Emission

# How many comparisons may be evaluated to find out which kinds of events the tables of a text have.
MAX_COMPARED = 50_000


@dataclass(frozen=True)
class MachineStepper:
    """Steps of a correlation machine; a configuration is its active states, as bits."""

    prepared: Prepared
    numbers: Mapping[Emit, int]

    def start(self) -> Hashable:
        return start(self.prepared)

    def step(self, configuration: Hashable, answers: int) -> tuple[Hashable, tuple[Action, ...]]:
        assert isinstance(configuration, int)
        competing = enabled(self.prepared, configuration) & users_of(self.prepared, answers)
        after, emits = react(self.prepared, configuration, competing)
        return after, tuple((EMIT, self.numbers[emit], 0) for emit in emits)


def compile_ecl(programs: Mapping[str, Program], types: Iterable[frozenset[str]] | None = None) -> Compiled:
    """One plan for ECL texts by name."""
    return transducers(ecl_drafts(programs, types))


def ecl_drafts(programs: Mapping[str, Program], types: Iterable[frozenset[str]] | None = None) -> Drafts:
    """Drafts for ECL texts by name. A text with several subscriptions reports each as `text.subscription`."""
    machines: dict[str, Machine] = {}
    meanings: dict[str, str] = {}
    for text, program in programs.items():
        states = 0
        for subscription in program.subscriptions:
            name = ".".join(part for part in (text, subscription.name) if part) or "pattern"
            machine = construct(subscription.expression, program.interpretation, name=name, before=states)
            states += len(machine.states)
            machines[name] = announcing(machine)
            meanings[name] = f"{subscription.expression!r}|{program.interpretation!r}"
    whole = simplify(compose(machines))
    known = None if types is None else list(types)
    numbers = {name: number for number, name in enumerate(machines)}
    parts = decompose(whole)
    most_compared = max(200, MAX_COMPARED * len(programs) // len(parts))
    drafts = [_draft(part, numbers, known, most_compared) for part in parts]
    # A part that never sends anything need not run.
    heard = tuple(draft for draft in drafts if draft.emissions) or tuple(drafts[:1])
    return Drafts(sharing(heard), meanings)


def announcing(machine: Machine) -> Machine:
    """The machine, extended to report its completion, which happens at most once."""
    outcomes: tuple[tuple[Outcome, str | None], ...] = (
        ("success", machine.success),
        ("failure", machine.failure),
    )

    def reporting(transition: Transition) -> Transition:
        ends = [
            Emit(Constant(outcome), what=outcome) for outcome, state in outcomes if state in transition.target
        ]
        return replace(transition, outputs=(*transition.outputs, *ends))

    return replace(machine, transitions=tuple(reporting(transition) for transition in machine.transitions))


def _draft(
    machine: Machine, names: Mapping[str, int], types: list[frozenset[str]] | None, most_compared: int
) -> Draft:
    prepared = prepare(machine)
    emits = tuple(dict.fromkeys(emit for emits in prepared.emits for emit in emits))
    try:
        kinds = alphabet_of(prepared.asked.filters, types, most_compared=most_compared).truths
    except LimitError:
        kinds = None
    return Draft(
        MachineStepper(prepared, {emit: number for number, emit in enumerate(emits)}),
        prepared.asked.filters,
        kinds,
        tuple(_emission(emit, names[emit.to]) for emit in emits),
        size=len(machine.transitions),
    )


def _emission(emit: Emit, output: int) -> Emission:
    match emit.output:
        case Constant(value) if emit.what == "push":
            return Emission(output, "push", str(value), str(value), (), (("value", ("literal", str(value))),))
        case Constant():
            return Emission(output, emit.what, None, None, (), ())
        case Forward():
            return Emission(output, "push", None, None, (), (), forwards="")
        case Make(type, fields):
            sources = tuple(
                (
                    name,
                    ("field", "", source.name) if isinstance(source, FieldOf) else ("literal", source.value),
                )
                for name, source in fields
            )
            return Emission(output, "push", type, None, (), sources)
