"""The kinds of cases of languages of the completion family, such as ECL (paper 000).

The engine `reference` passes events down the tree of the expression and takes the paper's definitions of
machines literally; `local` runs compiled machines and tables; Spark runs only `run` cases, because the others are not
about a table of events.

| kind | given | expect |
|---|---|---|
| `run` | expression, options, trace | `outputs`, `status`, `completed_at` |
| `machine` | machine, trace | `initial_state_after_closure`, `outputs`, `steps` |
| `module` | expression, alphabet | `states`, `initial`, `transitions` of the unoptimised machine |
| `determinize` | expression, alphabet | `reachable_configurations`, `minimal` |
| `quench` | expression, alphabet, trace | `interest`: the events that matter before and after each event |
| `analysis` | expression, other or machine, alphabet | `trivial`, `vacuous`, `live`, `contained`, … |
| `expansion` | trace, `kappa`, `f`, `sigma_expanded`, `kappa_expanded` | `g`, `h`, `respects_f` |
| `parse` | expression | `warning` |

Every kind may expect an `error`: true, false, a code or several.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tocsin import analysis
from tocsin.algebra.completion import machine_semantics
from tocsin.algebra.completion import semantics as completion_semantics
from tocsin.algebra.completion.expansion import Pair, places, respects
from tocsin.algebra.completion.expression import Expression, Interpretation, filters
from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Constant, Emit, value_of
from tocsin.algebra.completion.run import Run
from tocsin.algebra.completion.semantics import State
from tocsin.automata.completion import compile as compiled
from tocsin.automata.completion import simulate
from tocsin.automata.completion.alphabet import Alphabet, alphabet_of, enumerated
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.passes.quench import quench
from tocsin.automata.completion.table import Determinised, explore
from tocsin.cases.completion.answers import (
    event_of,
    expression_of,
    is_machine,
    machine_of,
    nested_tokens,
    normal,
    refusal,
    warnings,
)
from tocsin.cases.model import ENGINES, ON_SPARK, Asked, Case, Compared, Handler, Skip, only_keys
from tocsin.errors import CaseError, PatternError, TocsinError
from tocsin.languages.language import Language
from tocsin.languages.registry import language_and_part

if TYPE_CHECKING:
    from tocsin.cases.parts import Part

Answers = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Pushes:
    """A request for the outputs and the completion of an expression; the result is a `Run`."""

    language: Language
    expression: Expression
    trace: Sequence[Fields]
    interpretation: Interpretation

    def part(self, number: int) -> Part:
        """The request as a part of a query."""
        # Imported here, because it loads Arrow.
        from tocsin.cases.completion.tables import pushes_part

        return pushes_part(self, number)


def _is_local(engine: str) -> bool:
    """Whether to use compiled machines instead of the reference; for cases that are not about a table of events."""
    if engine in ON_SPARK:
        raise Skip("this is asked of an expression, not of a table of events")
    return engine == "local"


def _own(case: Case) -> Language:
    """The language of a case."""
    return language_and_part(case["language"])[0]


def _reading(case: Case) -> Interpretation:
    return Interpretation.of(case.get("options") or {})


def _events(case: Case) -> list[Fields]:
    return [event_of(written) for written in case.get("trace") or []]


def _letters(case: Case) -> list[Fields] | None:
    """The alphabet of a case; None if it has none."""
    return [event_of(written) for written in case.get("alphabet") or []] or None


def _alphabet(case: Case, expression: Expression) -> Alphabet:
    letters, found = _letters(case), filters(expression)
    return alphabet_of(found) if letters is None else enumerated(found, letters)


# --- expressions ----------------------------------------------------------------------------------


def _run(case: Case, engine: str) -> Answers | Pushes:
    """The outputs of an expression, and whether and when it completes."""
    expression, events, interpretation = (
        expression_of(_own(case), case["expression"]),
        _events(case),
        _reading(case),
    )
    if engine in ON_SPARK:
        return Pushes(_own(case), expression, events, interpretation)
    if engine == "local":
        return _told(compiled.run(compiled.compile_machine(construct(expression, interpretation)), events))
    return _told(completion_semantics.run(expression, events, interpretation))


def _told(run: Run) -> Answers:
    return {"outputs": run.outputs, "status": run.status.value, "completed_at": run.completed_at}


def _module(case: Case, local: bool) -> Answers:
    """The size of the machine of an expression before any pass."""
    if not local:
        raise Skip("the tree of an expression has no states and transitions to count")
    letters = [str(letter) for letter in case.get("alphabet") or []] or None
    machine = construct(expression_of(_own(case), case["expression"]), _reading(case), letters=letters)
    return {
        "states": len(machine.states),
        "initial": len(machine.initial),
        "transitions": len(machine.transitions),
    }


def _determinize(case: Case, local: bool) -> Answers:
    """The number of reachable configurations, and how many of them differ."""
    expression = expression_of(_own(case), case["expression"])
    alphabet = _alphabet(case, expression)
    if local:
        table = determinise(construct(expression, _reading(case)), alphabet)
    else:
        table = _tree_table(expression, alphabet, _reading(case))
    return {"reachable_configurations": table.configurations, "minimal": minimise(table).configurations}


def _tree_table(expression: Expression, alphabet: Alphabet, interpretation: Interpretation) -> Determinised:
    """The table of the reachable states of the tree, without any machine."""

    def row(state: State) -> list[tuple[State, list[Emit]]]:
        each = [
            completion_semantics.feed(expression, state, symbol, interpretation)
            for symbol in alphabet.symbols
        ]
        return [(after, [Emit(output) for output in outputs]) for after, outputs in each]

    start = completion_semantics.start(expression)
    return explore(start, row, completion_semantics.status, alphabet)


def _quench(case: Case, local: bool) -> Answers:
    """Which events of the alphabet matter, before the first event and after each."""
    expression = expression_of(_own(case), case["expression"])
    wanted: list[Callable[[Fields], bool]] = []
    if local:
        machine = simulate.prepare(construct(expression, _reading(case)))
        configuration = simulate.start(machine)
        wanted.append(partial(holds, quench(machine, configuration)))
        for event in _events(case):
            configuration, _ = simulate.feed(machine, configuration, event)
            wanted.append(partial(holds, quench(machine, configuration)))
    else:
        state = completion_semantics.start(expression)
        wanted.append(partial(completion_semantics.matters, expression, state))
        for event in _events(case):
            state, _ = completion_semantics.feed(expression, state, event, _reading(case))
            wanted.append(partial(completion_semantics.matters, expression, state))
    return {"interest": [[one for one in case["alphabet"] if matters(event_of(one))] for matters in wanted]}


# --- machines -------------------------------------------------------------------------------------


def _machine(case: Case, local: bool) -> Answers:
    """The transitions a machine takes, the states active after each event, and the outputs."""
    machine = machine_of(_own(case), case.get("machine") or case["expression"])
    run = _run_compiled if local else _run_literally
    started, reactions = run(machine, _events(case))
    steps, outputs = [], []
    for number, (fired, states, emitted) in enumerate(reactions, 1):
        steps.append({"event": case["trace"][number - 1], "fired": fired, "state": states})
        outputs += [(number, value) for value in emitted]
    return {"initial_state_after_closure": started, "outputs": outputs, "steps": steps}


_Reactions = list[tuple[list[list[str]], list[str], list[object]]]


def _run_compiled(machine: Machine, events: list[Fields]) -> tuple[list[str], _Reactions]:
    prepared = simulate.prepare(machine)
    configuration = simulate.start(prepared)
    started, reactions = list(simulate.states_in(prepared, configuration)), []
    for event in events:
        masks: list[int] = []
        configuration, emits = simulate.feed(prepared, configuration, event, masks)
        fired = [[machine.transitions[i].name for i in simulate.bits(mask)] for mask in masks]
        values: list[object] = [value_of(emit.output, event) for emit in emits]
        reactions.append((fired or [[]], list(simulate.states_in(prepared, configuration)), values))
    return started, reactions


def _run_literally(machine: Machine, events: list[Fields]) -> tuple[list[str], _Reactions]:
    states = machine_semantics.settle(machine, machine.initial).states
    started, reactions = list(states), []
    for event in events:
        reaction = machine_semantics.react(machine, states, event)
        states = reaction.states
        values: list[object] = [value_of(emit.output, event) for emit in reaction.outputs]
        reactions.append(([list(names) for names in reaction.fired], list(states), values))
    return started, reactions


# --- analyses ------------------------------------------------------------------------------------


def _analysis(case: Case, local: bool) -> Answers:
    """The results of analysing one expression, or two."""
    questions: Mapping[str, Callable[..., object]] = {
        "trivial": lambda one, *_: analysis.trivial(one).holds,
        "vacuous": lambda one, *_: analysis.vacuous(one).holds,
        "live": lambda one, *_: analysis.live(one).holds,
        "contained": lambda one, other: analysis.contained(one, other).holds,
        "equivalent": lambda one, other: analysis.equal(one, other).holds,
        "influence": lambda one, *_: _influence(one),
    }
    both = _subjects(case, local)
    return {key: questions[key](*both) for key in case["expect"] if key in questions}


def _subjects(case: Case, local: bool) -> list[analysis.Subject]:
    own = _own(case)
    written = [case[key] for key in ("expression", "other", "machine") if case.get(key) is not None]
    both = [
        machine_of(own, one) if isinstance(one, Mapping) or is_machine(one) else expression_of(own, one)
        for one in written
    ]
    interpretation = _reading(case)
    found = analysis.subjects(*both, alphabet=_letters(case), interpretation=interpretation)
    if local:
        return found
    # The same analyses of the tree's behaviour; a machine written by hand is used as it is.
    return [
        subject
        if isinstance(one, Machine)
        else analysis.subject_of(_tree_table(one, subject.alphabet, interpretation))
        for one, subject in zip(both, found, strict=True)
    ]


def _influence(subject: analysis.Subject) -> dict[object, list[object]]:
    """For each constant the types of the events that can influence it."""
    found: dict[object, list[object]] = {}
    for one in analysis.influence(subject):
        output = one.output.value if isinstance(one.output, Constant) else repr(one.output)
        found.setdefault(output, []).append(one.event.get("type"))
    return found


# --- texts and definitions ------------------------------------------------------------------------


def _expansion(case: Case, _: bool) -> Answers:
    """Whether padded sequences put the outputs where they belong."""
    given = case["given"]
    inputs, outputs = (
        [None if symbol == "eps" else symbol for symbol in given[key]]
        for key in ("sigma_expanded", "kappa_expanded")
    )
    pair = Pair(tuple(case["trace"]), tuple(given["kappa"]), tuple(given["f"]))
    return {
        "g": list(places(inputs)),
        "h": list(places(outputs)),
        "respects_f": respects(pair, inputs, outputs),
    }


def _parse(case: Case, _: bool) -> Answers:
    """Whether a text parses, and its warnings."""
    text, found = case["expression"], list[PatternError]()
    if is_machine(text):
        if analysis.endless(machine_of(_own(case), text)):
            raise PatternError("endless-internal-steps", "the machine can run for ever without an event")
    else:
        for subscription in _own(case).read(text).subscriptions:
            found += analysis.overlapping_guards(subscription.expression)
    return {"warning": warnings(case["expect"].get("warning"), found)}


def _of_expression(answer: Callable[[Case, bool], Answers], *keys: str) -> Handler:
    """A handler for cases about an expression."""
    return _handler(lambda case, engine: answer(case, _is_local(engine)), *keys)


def _handler(answer: Callable[[Case, str], Answers | Pushes], *keys: str) -> Handler:
    """A handler that compares what a case expects with the results; an error is a result too."""

    def handle(case: Case, engine: str) -> Compared | Asked:
        if engine not in ENGINES:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")
        expected = only_keys(case.get("expect"), (*keys, "error"), "expect")
        if not expected:
            raise CaseError("bad-case", "expect is empty", hint="say what must come out: " + ", ".join(keys))

        def compared(answers: Answers, error: TocsinError | None = None) -> Compared:
            got = {**answers, "error": refusal(expected.get("error"), error)}
            run = case["kind"] == "run" and error is None
            nested = nested_tokens(expression_of(_own(case), case["expression"])) if run else []
            shown = [
                {key: normal(key, side[key], nested) for key in expected if key in side}
                for side in (expected, got)
            ]
            return shown[0], shown[1]

        def refused(error: TocsinError) -> Compared:
            if isinstance(error, CaseError) or "error" not in expected:
                raise error
            return compared({}, error)

        try:
            given = answer(case, engine)
        except TocsinError as error:
            return refused(error)
        if isinstance(given, Pushes):
            return Asked(given, lambda run: compared(_told(run)), refused)
        return compared(given)

    return handle


KINDS: Mapping[str, Handler] = {
    "run": _handler(_run, "outputs", "status", "completed_at"),
    "machine": _of_expression(_machine, "initial_state_after_closure", "outputs", "steps"),
    "module": _of_expression(_module, "states", "initial", "transitions"),
    "determinize": _of_expression(_determinize, "reachable_configurations", "minimal"),
    "quench": _of_expression(_quench, "interest"),
    "analysis": _of_expression(
        _analysis, "trivial", "vacuous", "live", "contained", "equivalent", "influence"
    ),
    "expansion": _of_expression(_expansion, "g", "h", "respects_f"),
    "parse": _of_expression(_parse, "warning"),
}
