"""Explanations of patterns and reports about them, as values that print, draw themselves and become JSON."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tocsin.explain.check_report import CheckReport
from tocsin.explain.check_texts import link_texts, parse_to_check, report_on
from tocsin.explain.compare_named import compare_texts
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.parsed_text import ParsedText
from tocsin.languages.language import Language
from tocsin.languages.registry import DEFAULT, parse, selection_of
from tocsin.languages.registry import language as language_named

if TYPE_CHECKING:
    from tocsin.events import Catalog

__all__ = ["CheckReport", "Explanation", "Section", "check", "explain"]


def explain(
    text: str,
    language: str | Language = DEFAULT,
    *,
    options: Mapping[str, object] | object | None = None,
    catalog: Catalog | None = None,
    matches: str | None = None,
    take: str | None = None,
) -> Explanation:
    """Explain a pattern: its meaning, how it is detected, and what that costs; raise `PatternErrors` with all mistakes.

    The result prints as text, and a notebook shows it with its automata drawn.

    >>> import tocsin
    >>> found = tocsin.explain("([Door], [Temp(temp<15)])_{T1=5min}")
    >>> print(found.trees[0].words)
    the first starts T1=5min, the second hears it
    >>> from tocsin.explain.contents import Kernels, Waits
    >>> [kernel.kernel for kernel in found.parts(Kernels)[0].kernels]
    ['groups']
    >>> [(wait.state, wait.longest) for wait in found.parts(Waits)[0].waits]
    [('S1', 300000000)]

    Args:
        options: those of the language, as in `{"restart": "always"}`, or `{"types": Path("events.idl")}` for correlations.
        catalog: the event types that the pattern is checked against.
        matches: which matches are wanted, where the pattern does not say it, as in `"any"`.
        take: which of those that are complete at one moment are reported, as in `"first 3"`.
    """
    own = language_named(language)
    selection, chosen = selection_of(own, matches, take), own.options_of(options)
    value = parse(text, own, options=chosen, catalog=catalog, selection=selection)
    found: Explanation = own.on("explain")(ParsedText(own, value, chosen, catalog))
    return found


def check(
    text: str,
    language: str | Language = DEFAULT,
    *,
    compare_with: str | None = None,
    options: Mapping[str, object] | object | None = None,
    catalog: Catalog | None = None,
) -> CheckReport:
    """Check a text before it runs, and return a report; raise `PatternErrors` with all mistakes.

    >>> import tocsin
    >>> once, both = "push(x) {sequential {a, b}}", "push(x) {accumulate {a, b}}"
    >>> for comparison in tocsin.check(once, "ecl", compare_with=both).comparisons:
    ...     print(comparison)
    no: this and the other differ after b a: this pushes nothing, the other pushes x and has ended in success
    no: the other accepts b a, this does not
    yes: the other accepts all that this accepts

    Args:
        compare_with: another text of the language; both must hold one expression, machine or correlation.
        options: those of the language; see `explain`.
        catalog: the event types that the pattern is checked against.
    """
    own = language_named(language)
    chosen = own.options_of(options)
    this = parse_to_check(text, own, chosen, catalog=catalog, name="this")
    (linked,), attached = link_texts([this])
    report = report_on(linked)
    findings = [finding for one in (report, *attached) for finding in one.findings]
    report = replace(report, findings=tuple(findings))
    if compare_with is None:
        return report
    other = parse_to_check(compare_with, own, chosen, catalog=catalog, name="the other")
    return replace(report, comparisons=compare_texts(this, other))


class _Callable(ModuleType):
    """This module, called like a function: `tocsin.explain` names both, and the import system sets the module."""

    def __call__(self, *arguments: Any, **options: Any) -> Explanation:
        return explain(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
