"""Explain and check patterns that are detected by automata with tokens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.detection_plan import BitTest
from tocsin.automata.tokens import needs as analysed
from tocsin.automata.tokens.automaton import Automaton
from tocsin.automata.tokens.compile import CompiledTokens, compile
from tocsin.automata.tokens.never import never
from tocsin.automata.tokens.show import SpecText, atom_text, timer_text
from tocsin.errors import PatternError
from tocsin.events import Catalog
from tocsin.explain.check_report import CheckReport, Examined
from tocsin.explain.contents import (
    Detector,
    Detectors,
    Finding,
    Findings,
    Needs,
    Predicate,
    Predicates,
    Text,
    Wait,
    Waits,
)
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.family_checks import FamilyChecks
from tocsin.explain.parsed_text import ParsedText
from tocsin.explain.tokens.diagrams import automaton_diagram, syntax_tree
from tocsin.explain.tokens.kernel_choice import kernels
from tocsin.explain.tokens.wanted_matches import matches
from tocsin.explain.tokens.wording import Printers, detector_name, pattern_text, printers_of, spec_text

FAMILY = "tokens"


def explain(parsed: ParsedText) -> Explanation:
    """Explain a subscription: its meaning, its detectors and automata, how they run, and what they need."""
    subscription: Subscription = parsed.value
    printers = printers_of(parsed.language)
    text = printers.subscription(subscription)
    compiled = compile([subscription])
    on_points = compile([subscription], points=True)
    own = partial(spec_text, printers=printers)
    needed = analysed.needs(subscription, compiled.graph, compiled.automata)
    timers = tuple(timer_text(timer) for timer in needed.timers)
    sections = [
        Section("pattern", Text(text)),
        Section("matches", matches(subscription.selection)),
        Section("tree", syntax_tree(subscription.pattern, printers.spec)),
        *(
            Section(f"tree of {one.name}", syntax_tree(one.pattern, printers.spec))
            for one in subscription.definitions
        ),
        Section("detectors", Detectors(tuple(_detectors(compiled, printers)))),
        *(
            Section(f"automaton of {name}", automaton_diagram(name, automaton, own))
            for name, automaton in _named(compiled)
        ),
        Section("predicates", Predicates(tuple(_predicates(compiled, printers))), printed=False),
        Section("runs", kernels(compiled, on_points)),
        Section("needs", Needs(needed.types, needed.variables, timers, needed.longest)),
        Section("partial matches", Waits(tuple(_waits(needed, compiled, own)))),
        Section(
            "warnings", Findings(tuple(map(Finding.of, _warnings(subscription, compiled, parsed.catalog))))
        ),
    ]
    return Explanation(FAMILY, parsed.language.name, text, tuple(sections))


def report(parsed: ParsedText) -> CheckReport:
    """Check a subscription: what can never happen or ends for good, and the size of its automata."""
    subscription: Subscription = parsed.value
    compiled = compile([subscription])
    states = [state for automaton in compiled.automata for state in automaton.states]
    needed = analysed.needs(subscription, compiled.graph, compiled.automata)
    counts = {
        "detectors": len(compiled.automata),
        "states": len(states),
        "transitions": sum(len(state.moves) for state in states),
        "predicates": len(compiled.tests),
        "events in a match": needed.longest,
    }
    findings = map(Finding.of, _warnings(subscription, compiled, parsed.catalog))
    examined = Examined("pattern", subscription.name, counts=counts)
    return CheckReport(FAMILY, parsed.language.name, (examined,), findings=tuple(findings))


# Whether two patterns find the same matches is not decided, so no question can be asked of two.
CHECKS = FamilyChecks(report, lambda parsed: (parsed.value,))


def _warnings(
    subscription: Subscription, compiled: CompiledTokens, catalog: Catalog | None
) -> list[PatternError]:
    return [*never(subscription, catalog), *analysed.dead_ends(subscription, compiled.automata)]


def _named(compiled: CompiledTokens) -> Iterator[tuple[str, Automaton]]:
    for number, automaton in enumerate(compiled.automata):
        yield detector_name(number), automaton


def _detectors(compiled: CompiledTokens, printers: Printers) -> Iterator[Detector]:
    graph = compiled.graph
    for number, detector in enumerate(graph.detectors):
        readers = [detector_name(k) for k, other in enumerate(graph.detectors) if number in other.inputs]
        yield Detector(
            detector_name(number),
            pattern_text(detector.pattern, printers),
            tuple(map(detector_name, detector.inputs)),
            tuple(readers),
            any(output == number for _, output in graph.outputs),
        )


def _predicates(compiled: CompiledTokens, printers: Printers) -> Iterator[Predicate]:
    for _, test in compiled.tests:
        if isinstance(test, BitTest):
            condition = "of this type" if test.filter is None else printers.filter(test.filter)
            yield Predicate(test.type or "any event", condition if test.truth else f"not ({condition})")


def _waits(needed: analysed.Needs, compiled: CompiledTokens, own: SpecText) -> Iterator[Wait]:
    several = len(compiled.automata) > 1
    for wait in needed.waits:
        yield Wait(
            detector_name(wait.detector) if several else "",
            f"S{wait.state}",
            tuple(atom_text(atom, own) for atom in wait.atoms),
            wait.longest,
            tuple(timer.name for timer in wait.timers),
            wait.can_miss,
            tuple(map(timer_text, wait.moments)),
        )
