"""Runs the cases of the KSU correlation language (paper 001).

The engine `reference` takes the paper's definitions literally, `local` runs the compiled acceptors. Cases
about a text alone, its types or where its events come from, do not depend on the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from tocsin.algebra import correlation_semantics as reference
from tocsin.algebra.correlation import Branches, Collection, Correlation, Notice, Reading, Switch
from tocsin.algebra.correlation_outcome import Arrival, Outcome
from tocsin.algebra.correlation_split import decompose
from tocsin.algebra.correlation_types import Types
from tocsin.automata import acceptor
from tocsin.automata.acceptor.guard import compile_guard
from tocsin.automata.acceptor.guard import holds as holds_compiled
from tocsin.automata.acceptor.machine import is_complete, step
from tocsin.cases.ksu_answers import agreeing, bare, output_answer, payload, trigger_answer, unlabelled
from tocsin.cases.model import Case, Handler, Skip
from tocsin.errors import PatternError, PatternErrors
from tocsin.languages.ksu import parse, parse_filter, parse_guard, parse_idl

_MAX_TRACES = 1_000
_TRIGGER_KEYS = ("at", "branch", "labels")


def _compare(expected: Mapping[str, object], got: Mapping[str, object]) -> tuple[object, object]:
    """Both answers, key by key; a key that nothing answers makes the case fail."""
    return dict(expected), {key: got.get(key, f"nothing answers {key!r}") for key in expected}


def _is_local(case: Case, engine: str) -> bool:
    """Whether the compiled acceptor is asked for, not the reference; there is no third engine."""
    if engine not in ("reference", "local"):
        raise Skip(f"{case['kind']} cases of KSU do not run on the engine {engine!r}")
    return engine == "local"


def _filter_only(case: Case, branches: Branches) -> Correlation:
    """A correlation without a transformer, with the given labels switched off."""
    aborted = tuple((case.get("given") or {}).get("aborted", ()))
    return Correlation("", "", (), branches, (Switch("abort", aborted),))


def _text(case: Case) -> str:
    return f"{case['expression']}\n{case.get('idl') or ''}"


# --- filters and guards -----------------------------------------------------------------------------


def _match(case: Case, engine: str) -> tuple[object, object]:
    """Does the whole trace match, and is it a shortest match? `||` matches as `|` does."""
    trace = [str(event) for event in case["trace"]]
    correlation = _filter_only(case, (reduce(Collection, parse_filter(case["expression"])),))
    if _is_local(case, engine):
        program = acceptor.compile_correlation(correlation)
        branch, marks, complete = program.branches[0], 0, [False]
        dead = branch.dead(acceptor.start(program).off)
        for event in trace:
            marks = step(branch.machine, marks, dead, event)
            complete.append(is_complete(branch.machine, marks, dead))
        shortest = complete[-1] and not any(complete[:-1])
        return _compare(case["expect"], {"matches": complete[-1], "shortest": shortest})
    left = reference.without(correlation.branches[0], frozenset(correlation.initial[0].labels))
    matches = left is not None and reference.matches(left, trace)
    shortest = left is not None and reference.is_shortest(left, trace)
    return _compare(case["expect"], {"matches": matches, "shortest": shortest})


def _triggers(case: Case, engine: str) -> tuple[object, object]:
    """When does a filter trigger, on which window, with which labels?"""
    return _outcome_answers(case, engine, _filter_only(case, parse_filter(case["expression"])), None)


def _equivalence(case: Case, engine: str) -> tuple[object, object]:
    """Do two filters trigger alike? The reference tries every trace of a length, the acceptor decides."""
    left, right = parse_filter(case["expression"]), parse_filter(case["other"])
    if _is_local(case, engine):
        equal = acceptor.difference(left, right) is None
    else:
        equal = all(_windows(left, trace) == _windows(right, trace) for trace in _traces(case["alphabet"]))
    return _compare(case["expect"], {"equal_triggers": equal})


def _windows(branches: Branches, trace: Iterable[str]) -> set[tuple[int, int]]:
    return {trigger.window for trigger in reference.triggers(branches, trace)}


def _traces(alphabet: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Every trace of one length, if there are not too many; shorter ones are beginnings of these."""
    events = sorted({str(event) for event in alphabet})
    length = max(n for n in range(1, 9) if n == 1 or len(events) ** n <= _MAX_TRACES)
    return itertools.product(events, repeat=length)


def _labelexpr(case: Case, engine: str) -> tuple[object, object]:
    """Is a guard true, with these labels active and those aborted?"""
    guard = parse_guard(case["expression"])
    active, aborted = case["given"]["active"], case["given"]["aborted"]
    if not _is_local(case, engine):
        return _compare(case["expect"], {"value": reference.holds(guard, active, aborted)})
    numbers = {label: number for number, label in enumerate(sorted({*case["alphabet"], *active, *aborted}))}
    bits = [sum(1 << numbers[label] for label in set(labels)) for labels in (active, aborted)]
    return _compare(case["expect"], {"value": holds_compiled(compile_guard(guard, numbers), *bits)})


# --- correlations -----------------------------------------------------------------------------------


def _correlation(case: Case, engine: str) -> tuple[object, object]:
    """What does a correlation send, when does it trigger, and which labels are off in the end?"""
    types = parse_idl(case["idl"]) if case.get("idl") else None
    try:
        library = parse(case["expression"], types)
    except PatternErrors as found:
        return _compare(
            case["expect"], {"error": agreeing(case["expect"].get("error"), found.errors, _text(case))}
        )
    return _outcome_answers(case, engine, library.correlations[0], types)


def _outcome_answers(
    case: Case, engine: str, correlation: Correlation, types: Types | None
) -> tuple[object, object]:
    """Run the trace and compare all that a case may ask of the outcome."""
    trace = [_arrival(item) for item in case["trace"]]
    reading = Reading.of(case.get("options") or {})
    if _is_local(case, engine):
        outcome = acceptor.run(acceptor.compile_correlation(correlation, reading, types), trace)
    else:
        outcome = reference.run(correlation, trace, reading, types)
    expected = dict(case["expect"])
    keys = dict.fromkeys(key for trigger in expected.get("triggers", ()) for key in trigger) or _TRIGGER_KEYS
    if "outputs" in expected:
        expected["outputs"] = [[at, payload(written)] for at, written in expected["outputs"]]
    return _compare(expected, _answers(outcome, keys, by_name=case["kind"] != "payload"))


def _answers(outcome: Outcome, keys: Iterable[str], by_name: bool) -> Mapping[str, object]:
    return {
        "triggers": [trigger_answer(trigger, keys) for trigger in outcome.triggers],
        "outputs": [output_answer(output, by_name) for output in outcome.outputs],
        "aborted_at_end": list(outcome.aborted),
        "skipped": [skipped.at for skipped in outcome.skipped],
        "dead": [letter.at for letter in outcome.dead],
        "error": False,
    }


def _arrival(item: Any) -> Arrival:
    if not isinstance(item, Mapping):
        return Arrival(str(item))
    attributes = {key: value for key, value in item.items() if key not in ("e", "type")}
    return Arrival(str(item["e"]), item.get("type"), attributes)


# --- texts ------------------------------------------------------------------------------------------

_PARSERS: Mapping[str, Callable[[str], object]] = {
    "ksu-filter": parse_filter,
    "ksu-labelexpr": parse_guard,
    "ksu-idl": parse_idl,
}


def _typecheck(case: Case, engine: str) -> tuple[object, object]:
    """Which mistakes does a text have, or what is it warned about?"""
    _is_local(case, engine)
    expected = case["expect"]
    errors: tuple[PatternError, ...] = ()
    notices: tuple[Notice, ...] = ()
    try:
        if case["language"] in _PARSERS:
            _PARSERS[case["language"]](case["expression"])
        else:
            notices = parse(case["expression"], parse_idl(case["idl"]) if case.get("idl") else None).notices
    except PatternErrors as found:
        errors = found.errors
    return _compare(
        expected,
        {
            "error": agreeing(expected.get("error"), errors, _text(case)),
            "warning": agreeing(expected.get("warning"), notices, _text(case)),
        },
    )


def _decompose(case: Case, engine: str) -> tuple[object, object]:
    """Which parts of a filter can a node decide by itself, and which need several?"""
    _is_local(case, engine)
    found = decompose(parse_filter(case["expression"]), case["given"]["placement"])
    expected = dict(case["expect"])
    if "node_local" in expected:
        expected["node_local"] = [[node, unlabelled(text)] for node, text in expected["node_local"]]
    if "cross_node" in expected:
        expected["cross_node"] = [unlabelled(text) for text in expected["cross_node"]]
    return _compare(
        expected,
        {
            "node_local": [[part.node, bare(part.expression)] for part in found.node_local],
            "cross_node": [bare(part) for part in found.cross_node],
        },
    )


HANDLERS: Mapping[str, Handler] = {
    "match": _match,
    "triggers": _triggers,
    "equivalence": _equivalence,
    "labelexpr": _labelexpr,
    "correlation": _correlation,
    "payload": _correlation,
    "typecheck": _typecheck,
    "parse": _typecheck,
    "decompose": _decompose,
}
