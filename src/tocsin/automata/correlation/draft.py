"""Correlations as drafts for the runtime: acceptors step through a table, and the events they keep are in registers.

The state of a correlation is finite except for the events it keeps. So a configuration is the state with only the *names*
of those events; the events themselves are in the registers.

Paper: 001, section 3.6.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from tocsin.algebra.correlation.expression import Correlation, Field, Interpretation, Push, PushNew, used
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal
from tocsin.automata.correlation.ports import port_filters
from tocsin.automata.correlation.program import Program, compile_correlation
from tocsin.automata.correlation.run import advance, start
from tocsin.automata.correlation.state import configuration_of, state_of
from tocsin.automata.transduce import Draft, Drafts, sharing
from tocsin.errors import LimitError
from tocsin.runtime.kernels.completion.table import CLEAR, EMIT, FIRST, KEEP, Action
from tocsin.runtime.program import Emission
from tocsin.values import Relation

MAX_REPORTED_LABELS = 12
_Key = tuple[
    Hashable, ...
]  # ("push", branch, statement), ("skipped", event), ("trigger", branch, labels) or ("dead",)


@dataclass(frozen=True)
class CorrelationStepper:
    """Steps of a correlation.

    The bits of an event: for each parameter, whether an event comes from its port; for each, whether it has the type
    of the port; whether it says that it overwrites, and whether it says that it does not.
    """

    program: Program
    numbers: Mapping[_Key, int]

    def start(self) -> Hashable:
        return configuration_of(start(self.program))

    def step(self, configuration: Hashable, answers: int) -> tuple[Hashable, tuple[Action, ...]]:
        parameters = self.program.correlation.parameters
        role = next((n for n in range(len(parameters)) if answers >> n & 1), None)
        if role is None:
            return configuration, ()
        if not answers >> len(parameters) + role & 1:
            return configuration, ((EMIT, self.numbers["dead",], role),)
        name = parameters[role].name
        state, triggered, pushes = advance(
            self.program, state_of(configuration), Arrival(name, parameters[role].type)
        )
        actions = self._keeping(name, answers >> 2 * len(parameters))
        for one in pushes:
            missing = next((event for event in used(one.statement) if event not in one.seen), None)
            key = ("push", one.branch, one.statement) if missing is None else ("skipped", missing)
            actions.append((EMIT, self.numbers[key], role))
        for trigger in triggered:
            emission = self.numbers.get(("trigger", trigger.branch, trigger.labels))
            actions += [] if emission is None else [(EMIT, emission, role)]
        for trigger in triggered:
            actions += [(CLEAR, register, 0) for register in _registers(self.program, trigger.branch)]
        return configuration_of(state), tuple(actions)

    def _keeping(self, name: str, says: int) -> list[Action]:
        """The actions that store an event: where it begins a window, and where statements need it."""
        policy = {1: "recent", 2: "earliest"}.get(says, self.program.interpretation.overwrite)
        actions: list[Action] = []
        for branch in range(len(self.program.branches)):
            actions.append((FIRST, _registers(self.program, branch).start, 0))
            if name in self.program.kept:
                keep = KEEP if policy == "recent" else FIRST
                actions.append((keep, _register(self.program, branch, name), 0))
        return actions


def _registers(program: Program, branch: int) -> range:
    """The registers of a branch: the first event of its window, then the events that statements need."""
    count = 1 + len(program.kept)
    return range(branch * count, (branch + 1) * count)


def _register(program: Program, branch: int, event: str) -> int:
    return _registers(program, branch)[1 + sorted(program.kept).index(event)]


def ksu_drafts(
    correlations: Mapping[str, Correlation],
    types: Types | None,
    ports: Mapping[str, Mapping[str, str]] | None,
    interpretation: Interpretation,
    triggers_reported: bool,
    known: frozenset[str] | None,
) -> Drafts:
    """Drafts for correlations by name.

    Args:
        ports: for each correlation and each of its events, the source that the event comes from; without them an event
            is known by its type.
        triggers_reported: whether triggers are reported in addition to the events pushed.
        known: the attributes that events can have; None if that is not known.
    """
    drafts, meanings = [], {}
    for number, (name, correlation) in enumerate(correlations.items()):
        bound = (ports or {}).get(correlation.name)
        drafts.append(_draft(number, correlation, types, bound, interpretation, triggers_reported, known))
        meanings[name] = f"{correlation!r}|{interpretation!r}|{sorted((bound or {}).items())}"
    return Drafts(sharing(drafts), meanings)


def _draft(
    output: int,
    correlation: Correlation,
    types: Types | None,
    ports: Mapping[str, str] | None,
    interpretation: Interpretation,
    triggers_reported: bool,
    known: frozenset[str] | None,
) -> Draft:
    program = compile_correlation(correlation, interpretation, types)
    emissions = dict(_emissions(program, output, triggers_reported))
    predicates = (*port_filters(correlation, types, ports), *_overwriting(known))
    return Draft(
        CorrelationStepper(program, {key: number for number, key in enumerate(emissions)}),
        predicates,
        tuple(_kinds(len(correlation.parameters), len(predicates))),
        tuple(emission for emission, _ in emissions.values()),
        (*(parameter.name for parameter in correlation.parameters), "first"),
        len(program.branches) * (1 + len(program.kept)),
        tuple(registers for _, registers in emissions.values()),
        sum(branch.size for branch in program.branches),
    )


def _overwriting(known: frozenset[str] | None) -> tuple[Filter, ...]:
    if known is not None and "overwrite" not in known:
        return ()
    return tuple(
        Compare(Attribute("overwrite"), Relation.EQ, Literal(policy)) for policy in ("recent", "earliest")
    )


def _kinds(parameters: int, predicates: int) -> Iterator[int]:
    """The possible combinations of bits: an event is of one port at most."""
    yield 0
    for says in (0, 1, 2) if predicates > 2 * parameters else (0,):
        for number in range(parameters):
            for admitted in (0, 1):
                yield 1 << number | admitted << parameters + number | says << 2 * parameters


def _emissions(
    program: Program, output: int, triggers_reported: bool
) -> Iterator[tuple[_Key, tuple[Emission, tuple[int, ...]]]]:
    """The possible emissions of a correlation, with the registers they use."""
    statements = [s for case in program.cases for s in case.body if isinstance(s, Push | PushNew)]
    yield ("dead",), (Emission(output, "dead", None, None, (), ()), ())
    for event in dict.fromkeys(event for statement in statements for event in used(statement)):
        yield ("skipped", event), (Emission(output, "skipped", None, event, (), ()), ())
    for branch in range(len(program.branches)):
        for statement in statements:
            needed = used(statement)
            registers = tuple(_register(program, branch, event) for event in needed)
            yield ("push", branch, statement), (_push(program, statement, needed, output), registers)
        for labels in _label_sets(program, branch) if triggers_reported else ():
            text = ",".join(labels)
            emission = Emission(output, "trigger", f"branch {branch + 1}", text, ("first",), ())
            yield ("trigger", branch, labels), (emission, (_registers(program, branch).start,))


def _push(program: Program, statement: Push | PushNew, needed: tuple[str, ...], output: int) -> Emission:
    if isinstance(statement, Push):
        port = next((p.type for p in program.correlation.parameters if p.name == statement.event), None)
        declared = _declared_by_subtypes(program.types, port)
        return Emission(output, "push", port, statement.event, needed, (), statement.event, declared)
    fields = tuple(
        (a.attribute, ("field", a.value.event, a.value.attribute))
        if isinstance(a.value, Field)
        else (a.attribute, ("literal", a.value.value))
        for a in statement.assignments
    )
    declared = _declared(program.types, statement)
    return Emission(output, "push", statement.type, None, needed, fields, None, declared)


def _declared(types: Types | None, statement: PushNew) -> tuple[tuple[str, str], ...] | None:
    """The attributes of a new event with their primitive types; None if nothing is declared."""
    if types is None:
        return None
    # Delivery attributes are not declared, but every event may have them.
    assigned = {a.attribute: types.attribute(statement.type, a.attribute) for a in statement.assignments}
    found = {**types.attributes(statement.type), **assigned}
    return tuple((attribute, kind) for attribute, kind in found.items() if kind is not None)


def _declared_by_subtypes(types: Types | None, name: str | None) -> tuple[tuple[str, str], ...] | None:
    """The attributes that events of a type or of its subtypes can have; one may have several types."""
    if types is None or name is None:
        return None
    below = [record.name for record in types.records if types.is_subtype(record.name, name)]
    return tuple(dict.fromkeys(pair for one in below for pair in types.attributes(one).items()))


def _label_sets(program: Program, branch: int) -> Iterator[tuple[str, ...]]:
    own = {label.number for label in program.branches[branch].labels}
    names = sorted(name for name, number in program.labels.items() if number in own)
    if len(names) > MAX_REPORTED_LABELS:
        raise LimitError(
            "too-many-labels",
            f"triggers of a branch with {len(names)} labels cannot be reported; the limit is {MAX_REPORTED_LABELS}",
            hint="leave out the option triggers",
        )
    for count in range(len(names) + 1):
        yield from combinations(names, count)
