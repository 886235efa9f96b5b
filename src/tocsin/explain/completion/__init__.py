"""Explain and check expressions that complete or fail, and the machines that run them."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.completion.expression import Interpretation, Modes, Program, Subscription
from tocsin.algebra.correlation.expression import Library
from tocsin.algebra.correlation.modes import simulate
from tocsin.analysis import findings
from tocsin.automata.completion import construct, simplify
from tocsin.errors import PatternError
from tocsin.explain.completion.diagrams import machine_diagram, syntax_tree
from tocsin.explain.completion.sizing import kernel, relevant_events, sizes
from tocsin.explain.completion.verdicts import CHECKS
from tocsin.explain.completion.wording import Printers, printers_of
from tocsin.explain.contents import Finding, Findings, Kernels, Text
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.parsed_text import ParsedText

__all__ = ["CHECKS", "explain"]

FAMILY = "completion"


def explain(parsed: ParsedText) -> Explanation:
    """Explain a program: trees, machines, their sizes after each pass, and the events that can matter."""
    program: Program = parsed.value
    printers = printers_of(parsed.language)
    text = printers.program(program)
    found = [
        section
        for subscription in program.subscriptions
        for section in _sections(subscription, program.interpretation, printers)
    ]
    warnings = tuple(map(Finding.of, findings(program)))
    sections = Section("text", Text(text)), *found, Section("warnings", Findings(warnings))
    return Explanation(FAMILY, parsed.language.name, text, sections)


def _sections(
    subscription: Subscription, interpretation: Interpretation, printers: Printers
) -> Iterator[Section]:
    name = subscription.name or "M"
    of = "" if subscription.name is None else f" of {name}"
    machine = construct(subscription.expression, interpretation)
    simple, sized = simplify(machine), sizes(machine)
    yield Section(f"tree{of}", syntax_tree(subscription.expression, printers))
    yield Section(f"machine{of}", machine_diagram(name, simple, printers))
    yield Section(f"sizes{of}", sized)
    yield Section(f"runs{of}", Kernels((kernel(name, sized),)), printed=False)
    yield Section(f"events that matter{of}", relevant_events(simple, printers))
    if isinstance(subscription.expression, Modes):
        simulated = Text(_simulated(subscription.expression, interpretation, name, printers))
        yield Section(f"correlation{of}", simulated)


def _simulated(modes: Modes, interpretation: Interpretation, name: str, printers: Printers) -> str:
    """A correlation that does what modes do; correlations know no modes, but they switch labels."""
    try:
        return printers.library(Library((simulate(modes, interpretation, name),)))
    except PatternError as error:
        return f"none: {error.message}"
