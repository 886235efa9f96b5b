"""The kinds of cases of languages of the correlation family, such as that of KSU (paper 001).

The engine `reference` takes the paper's definitions literally, `local` runs the compiled acceptors; Spark runs only
`triggers`, `correlation` and `payload` cases, because the others are not about a table of events.

| kind | given | expect |
|---|---|---|
| `match` | a filter, a trace | `matches`, `shortest` |
| `triggers` | a filter, options, a trace | `triggers` |
| `equivalence` | a filter, another, the alphabet | `equal_triggers` |
| `labelexpr` | a guard, `active` and `aborted` labels | `value` |
| `correlation`, `payload` | a correlation, its IDL, options, a trace | `outputs`, `triggers`, `aborted_at_end`, … |
| `typecheck`, `parse` | a text, its IDL | `warning` |
| `decompose` | a filter, the `placement` of its events | `node_local`, `cross_node` |

Every kind may expect an `error`: true, false, a code, or a message that means the same as ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from tocsin.algebra.correlation import semantics as reference
from tocsin.algebra.correlation.expression import (
    Branches,
    Collection,
    Correlation,
    Interpretation,
    Library,
    Switch,
)
from tocsin.algebra.correlation.outcome import Arrival, Outcome
from tocsin.algebra.correlation.split import decompose
from tocsin.algebra.correlation.types import Types
from tocsin.automata import correlation as acceptor
from tocsin.automata.correlation.acceptor import is_complete, step
from tocsin.automata.correlation.guard import compile_guard
from tocsin.automata.correlation.guard import holds as holds_compiled
from tocsin.cases.correlation import answers
from tocsin.cases.model import ENGINES, ON_SPARK, Asked, Case, Compared, Handler, Skip, only_keys
from tocsin.errors import CaseError, TocsinError
from tocsin.languages.language import Language
from tocsin.languages.registry import language_and_part

if TYPE_CHECKING:
    from tocsin.cases.parts import Part

Answers = Mapping[str, object]

_MAX_TRACES = 1_000
_OUTCOME = ("outputs", "triggers", "aborted_at_end", "skipped", "dead")


@dataclass(frozen=True, slots=True)
class Sends:
    """A request for the outputs and triggers of a correlation; the result is an `Outcome`."""

    language: Language
    correlation: Correlation
    trace: Sequence[Arrival]
    interpretation: Interpretation
    types: Types | None

    def part(self, number: int) -> Part:
        """The request as a part of a query."""
        # Imported here, because it loads Arrow.
        from tocsin.cases.correlation.tables import sends_part

        return sends_part(self, number)


def _own(case: Case) -> Language:
    """The language of a case."""
    return language_and_part(case["language"])[0]


def _filter(case: Case, key: str = "expression") -> Branches:
    found: Branches = _own(case).part("filter")(case[key])
    return found


def _is_local(engine: str) -> bool:
    """Whether to use compiled acceptors instead of the reference; for cases that are not about a table of events."""
    if engine in ON_SPARK:
        raise Skip("this is asked of a text, not of a table of events")
    return engine == "local"


def _filter_only(case: Case, branches: Branches) -> Correlation:
    """A correlation without a transformer, with the given labels switched off."""
    aborted = tuple((case.get("given") or {}).get("aborted", ()))
    return Correlation("", "", (), branches, (Switch("abort", aborted),))


def _types(case: Case) -> Types | None:
    return _own(case).part("idl")(case["idl"]) if case.get("idl") else None


# --- filters and guards -----------------------------------------------------------------------------


def _match(case: Case, local: bool) -> Answers:
    """Does the whole trace match, and is it a shortest match? `||` matches as `|` does."""
    trace = [str(event) for event in case["trace"]]
    correlation = _filter_only(case, (reduce(Collection, _filter(case)),))
    if not local:
        left = reference.without(correlation.branches[0], frozenset(correlation.initial[0].labels))
        return {
            "matches": left is not None and reference.matches(left, trace),
            "shortest": left is not None and reference.is_shortest(left, trace),
        }
    program = acceptor.compile_correlation(correlation)
    branch, marks, complete = program.branches[0], 0, [False]
    dead = branch.dead(acceptor.start(program).off)
    for event in trace:
        marks = step(branch.machine, marks, dead, event)
        complete.append(is_complete(branch.machine, marks, dead))
    return {"matches": complete[-1], "shortest": complete[-1] and not any(complete[:-1])}


def _triggers(case: Case, engine: str) -> Answers | Sends:
    """When does a filter trigger, on which window, with which labels?"""
    return _outcome(case, engine, _filter_only(case, _filter(case)), None)


def _equivalence(case: Case, local: bool) -> Answers:
    """Do two filters trigger alike? The reference tries every trace of a length, the acceptor decides."""
    left, right = _filter(case), _filter(case, "other")
    if local:
        return {"equal_triggers": acceptor.difference(left, right) is None}
    tried = ((_windows(left, trace), _windows(right, trace)) for trace in _traces(case["alphabet"]))
    return {"equal_triggers": all(first == second for first, second in tried)}


def _windows(branches: Branches, trace: Iterable[str]) -> set[tuple[int, int]]:
    return {trigger.window for trigger in reference.triggers(branches, trace)}


def _traces(alphabet: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Every trace of one length, if there are not too many; shorter ones are prefixes of these."""
    events = sorted({str(event) for event in alphabet})
    length = max(n for n in range(1, 9) if n == 1 or len(events) ** n <= _MAX_TRACES)
    return itertools.product(events, repeat=length)


def _labelexpr(case: Case, local: bool) -> Answers:
    """Is a guard true, with these labels active and those aborted?"""
    guard = _own(case).part("labelexpr")(case["expression"])
    active, aborted = case["given"]["active"], case["given"]["aborted"]
    if not local:
        return {"value": reference.holds(guard, active, aborted)}
    numbers = {name: number for number, name in enumerate(sorted({*case["alphabet"], *active, *aborted}))}
    bits = [sum(1 << numbers[label] for label in set(labels)) for labels in (active, aborted)]
    return {"value": holds_compiled(compile_guard(guard, numbers), *bits)}


# --- correlations and texts -------------------------------------------------------------------------


def _correlation(case: Case, engine: str) -> Answers | Sends:
    """The outputs and triggers of a correlation, and the labels that are off in the end."""
    types = _types(case)
    library: Library = _own(case).read(case["expression"], {"types": types})
    if len(library.correlations) != 1:
        raise CaseError("bad-case", "the text must have one correlation", hint="a case is about one")
    return _outcome(case, engine, library.correlations[0], types)


def _outcome(case: Case, engine: str, correlation: Correlation, types: Types | None) -> Answers | Sends:
    """The outcome of a correlation over the trace of a case."""
    trace = [answers.arrival(written) for written in case["trace"]]
    interpretation = Interpretation.of(case.get("options") or {})
    if engine in ON_SPARK:
        return Sends(_own(case), correlation, trace, interpretation, types)
    if engine == "local":
        return _told(
            case, acceptor.run(acceptor.compile_correlation(correlation, interpretation, types), trace)
        )
    return _told(case, reference.run(correlation, trace, interpretation, types))


def _told(case: Case, outcome: Outcome) -> Answers:
    """All results of a run that a case can check; a forwarded event is given by its name unless its payload matters."""
    return {
        "triggers": answers.triggers(case["expect"].get("triggers"), outcome.triggers),
        "outputs": [answers.output(output, by_name=case["kind"] != "payload") for output in outcome.outputs],
        "aborted_at_end": list(outcome.aborted),
        "skipped": [skipped.at for skipped in outcome.skipped],
        "dead": [letter.at for letter in outcome.dead],
    }


def _typecheck(case: Case, _: bool) -> Answers:
    """Which mistakes or warnings does a text have?"""
    own, part = language_and_part(case["language"])
    if part in own.parts:
        own.part(part)(case["expression"])
    warnings = () if part in own.parts else own.read(case["expression"], {"types": _types(case)}).warnings
    return {"warning": answers.agreeing(case["expect"].get("warning"), warnings, answers.text(case))}


def _decompose(case: Case, _: bool) -> Answers:
    """Which parts of a filter can a node decide by itself, and which need several?"""
    own = _own(case)
    found = decompose(_filter(case), case["given"]["placement"])
    return {
        "node_local": [[part.node, answers.unlabelled(own, part.expression)] for part in found.node_local],
        "cross_node": [answers.unlabelled(own, part) for part in found.cross_node],
    }


def _of_text(answer: Callable[[Case, bool], Answers], *keys: str) -> Handler:
    """A handler for cases about a text."""
    return _handler(lambda case, engine: answer(case, _is_local(engine)), *keys)


def _handler(answer: Callable[[Case, str], Answers | Sends], *keys: str) -> Handler:
    """A handler that compares what a case expects with the results; an error is a result too."""

    def handle(case: Case, engine: str) -> Compared | Asked:
        if engine not in ENGINES:
            raise CaseError("unknown-engine", f"there is no engine {engine!r}")
        expected = dict(only_keys(case.get("expect"), (*keys, "error"), "expect"))
        if engine in ON_SPARK and expected.pop("aborted_at_end", None) is not None and not expected:
            raise Skip("a table of outputs does not show which labels are off")
        if not expected:
            raise CaseError("bad-case", "expect is empty", hint="say what must come out: " + ", ".join(keys))

        def compared(given: Answers, found: tuple[TocsinError, ...] = ()) -> Compared:
            agreed = answers.agreeing(expected.get("error"), found, answers.text(case))
            got = {**given, "error": agreed}
            return (
                {key: answers.normal(_own(case), key, value) for key, value in expected.items()},
                {key: got[key] for key in expected if key in got},
            )

        def refused(error: TocsinError) -> Compared:
            if isinstance(error, CaseError) or "error" not in expected:
                raise error
            return compared({}, answers.every(error))

        try:
            given = answer(case, engine)
        except TocsinError as error:
            return refused(error)
        if isinstance(given, Sends):
            return Asked(given, lambda outcome: compared(_told(case, outcome)), refused)
        return compared(given)

    return handle


KINDS: Mapping[str, Handler] = {
    "match": _of_text(_match, "matches", "shortest"),
    "triggers": _handler(_triggers, "triggers"),
    "equivalence": _of_text(_equivalence, "equal_triggers"),
    "labelexpr": _of_text(_labelexpr, "value"),
    "correlation": _handler(_correlation, *_OUTCOME),
    "payload": _handler(_correlation, *_OUTCOME),
    "typecheck": _of_text(_typecheck, "warning"),
    "parse": _of_text(_typecheck, "warning"),
    "decompose": _of_text(_decompose, "node_local", "cross_node"),
}
