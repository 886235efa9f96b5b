"""Runs a compiled correlation, one event at a time; the state in between is a value.

>>> from tocsin.algebra.correlation.expression import Atom, Correlation, Labelled, Sequence
>>> from tocsin.automata.correlation.program import compile_correlation
>>> both = Labelled("l", Sequence(Atom("a"), Atom("b")))
>>> program = compile_correlation(Correlation("N", "C", (), (both,)))
>>> [trigger.at for trigger in run(program, map(Arrival, "babab")).triggers]
[3, 5]

The order in which things happen on one event is that of `algebra.correlation.semantics`, which this must agree with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tocsin.algebra.correlation.expression import Push, PushNew, Switch
from tocsin.algebra.correlation.outcome import (
    Arrival,
    DeadLetter,
    Outcome,
    Output,
    Skipped,
    Trigger,
    admit,
    perform,
    survivor,
)
from tocsin.automata.correlation.acceptor import Kind, completed, is_complete, step
from tocsin.automata.correlation.guard import holds
from tocsin.automata.correlation.program import Branch, Program
from tocsin.automata.correlation.state import BranchState, State


def start(program: Program) -> State:
    """The state before the first event: every label alive but those the initialisation switches off."""
    state = State(0, 0, tuple(BranchState(1, 0, (0,) * len(b.labels), ()) for b in program.branches))
    for switch in program.correlation.initial:
        state = _switch(program, state, switch)
    return state


def run(program: Program, trace: Iterable[Arrival]) -> Outcome:
    """Run a correlation over a trace, from the initial state."""
    state, steps = start(program), []
    for arrival in trace:
        state, outcome = feed(program, state, arrival)
        steps.append(outcome)
    return Outcome(
        tuple(trigger for outcome in steps for trigger in outcome.triggers),
        tuple(output for outcome in steps for output in outcome.outputs),
        program.label_names(state.off),
        tuple(skipped for outcome in steps for skipped in outcome.skipped),
        tuple(dead for outcome in steps for dead in outcome.dead),
    )


def feed(program: Program, state: State, arrival: Arrival) -> tuple[State, Outcome]:
    """The state after one more event, and the outcome of that event."""
    admitted = admit(arrival, state.at + 1, program.correlation, program.types)
    if isinstance(admitted, DeadLetter):
        passed = replace(state, at=state.at + 1)
        return passed, Outcome(aborted=program.label_names(state.off), dead=(admitted,))
    state, triggers, pushes = advance(program, state, admitted)
    results = [perform(one.statement, one.seen, state.at, admitted.time, program.types) for one in pushes]
    return state, Outcome(
        tuple(triggers),
        tuple(result for result in results if isinstance(result, Output)),
        program.label_names(state.off),
        tuple(result for result in results if isinstance(result, Skipped)),
    )


@dataclass(frozen=True, slots=True)
class Pushed:
    """A statement that is carried out, for the branch that triggered, with the events it can see."""

    branch: int
    statement: Push | PushNew
    seen: Mapping[str, Arrival]


def advance(program: Program, state: State, admitted: Arrival) -> tuple[State, list[Trigger], list[Pushed]]:
    """The state after an event that its port may send, the triggers, and the statements to push."""
    state = replace(state, at=state.at + 1)
    eager = program.interpretation.abort == "eager"
    waiting = [
        n for n in range(len(program.branches)) if eager or _can_use(program, state, n, admitted.event)
    ]
    pairs = zip(program.branches, state.branches, strict=True)
    taken = [_take(program, branch, current, state.off, admitted) for branch, current in pairs]
    state = replace(state, branches=tuple(taken))
    triggers: list[Trigger] = []
    pushes: list[Pushed] = []
    while completed := [n for n in waiting if _is_complete(program, state, n)]:
        state = _transform(program, state, completed, triggers, pushes)
        waiting = [n for n in waiting if eager and n not in completed]
    return state, triggers, pushes


def _can_use(program: Program, state: State, number: int, event: str) -> bool:
    """Whether a live part of a branch names an event; with lazy aborts, only then is completeness checked."""
    branch = program.branches[number]
    return bool(branch.machine.takers.get(event, 0) & ~branch.dead(state.off))


def _is_complete(program: Program, state: State, number: int) -> bool:
    branch = program.branches[number]
    return is_complete(branch.machine, state.branches[number].marks, branch.dead(state.off))


def _take(program: Program, branch: Branch, current: BranchState, off: int, arrival: Arrival) -> BranchState:
    """A branch and its labels after an event."""
    dead = branch.dead(off)
    kept = {arrived.event: arrived for arrived in current.kept}
    if arrival.event in program.kept:
        old = kept.get(arrival.event, arrival)
        kept[arrival.event] = survivor(old, arrival, program.interpretation.overwrite)
    pairs = zip(branch.labels, current.label_marks, strict=True)
    return BranchState(
        current.start,
        step(branch.machine, current.marks, dead, arrival.event),
        tuple(step(label.machine, marks, dead, arrival.event) for label, marks in pairs),
        tuple(kept.values()),
    )


def _transform(
    program: Program,
    state: State,
    completed: list[int],
    triggers: list[Trigger],
    pushes: list[Pushed],
) -> State:
    """Run the transformer for complete branches; triggers and pushes are appended to the lists."""
    aborted = program.aborted(state.off)
    branches = list(state.branches)
    fixed = []
    for number in completed:
        current, branch = branches[number], program.branches[number]
        active = _active(program, branch, current, state.off) & ~aborted
        triggers.append(Trigger(state.at, number, (current.start, state.at), program.label_names(active)))
        fixed.append((number, active, {arrival.event: arrival for arrival in current.kept}))
        branches[number] = BranchState(state.at + 1, 0, (0,) * len(branch.labels), ())
    state = replace(state, branches=tuple(branches))
    for number, active, seen in fixed:
        for case in program.cases:
            if not holds(case.guard, active, aborted):
                continue
            for statement in case.body:
                if isinstance(statement, Switch):
                    state = _switch(program, state, statement)
                else:
                    pushes.append(Pushed(number, statement, seen))
    return state


def _active(program: Program, branch: Branch, current: BranchState, off: int) -> int:
    """The active labels of a branch that is complete, as bits."""
    dead = branch.dead(off)
    if program.interpretation.activity == "literal":
        pairs = zip(branch.labels, current.label_marks, strict=True)
        active = [label for label, marks in pairs if is_complete(label.machine, marks, dead)]
    else:
        active = [label for label in branch.labels if label.node in set(_contributing(branch, current, dead))]
    return sum(1 << label.number for label in active)


def _contributing(branch: Branch, current: BranchState, dead: int) -> Iterator[int]:
    """The nodes that are complete and took part in completing the branch."""
    done = completed(branch.machine, current.marks, dead)
    reached = [len(done) - 1]
    while reached:
        number = reached.pop()
        kind, left, right, _ = branch.machine.nodes[number]
        if done[number]:
            yield number
        if kind is not Kind.PLACE:
            # Only the complete operands of a collection count; the others were not needed.
            reached += [operand for operand in (left, right) if kind is not Kind.ANY or done[operand]]


def _switch(program: Program, state: State, switch: Switch) -> State:
    """Switch labels one after the other; a label that is switched off loses its marks."""
    for name in switch.labels:
        bit = 1 << program.labels[name]
        abort = switch.action == "abort" or (switch.action == "toggle" and not state.off & bit)
        off = state.off | bit if abort else state.off & ~bit
        branches = []
        for branch, current in zip(program.branches, state.branches, strict=True):
            alive = ~branch.dead(off)
            marks = tuple(marks & alive for marks in current.label_marks)
            branches.append(replace(current, marks=current.marks & alive, label_marks=marks))
        state = replace(state, off=off, branches=tuple(branches))
    return state
