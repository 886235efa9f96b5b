"""Explain and check profiles of the event algebra."""

from __future__ import annotations

from collections.abc import Iterator

from tocsin.algebra.pairs.clock import clock
from tocsin.algebra.pairs.expression import primitives, walk, with_timeframes
from tocsin.algebra.pairs.profile import Profile
from tocsin.algebra.pairs.warnings import warnings
from tocsin.algebra.predicate import Attribute, Literal, comparisons
from tocsin.automata.pairs.compile import Wanted, compile_profiles
from tocsin.events import format_duration
from tocsin.explain.check_report import CheckReport, Examined
from tocsin.explain.contents import (
    Finding,
    Findings,
    Kernel,
    Kernels,
    Needs,
    Predicate,
    Predicates,
    Text,
)
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.family_checks import FamilyChecks
from tocsin.explain.pairs.wording import syntax_tree
from tocsin.explain.parsed_text import ParsedText
from tocsin.languages.registry import with_parts
from tocsin.runtime.operators import Operators
from tocsin.values import kind

__all__ = ["CHECKS", "explain"]

FAMILY = "pairs"
_KINDS = {"number": "float"}


def explain(parsed: ParsedText) -> Explanation:
    """What a profile means, how it is run, and what it needs."""
    profile: Profile = parsed.value
    text = parsed.language.text_of(profile)
    show = with_parts(parsed.language, "show-expression").part("show-expression")
    sections = [
        Section("profile", Text(text)),
        Section("tree", syntax_tree(profile.expression, show)),
        Section("predicates", Predicates(tuple(_predicates(profile, show))), printed=False),
        Section("runs", Kernels((_kernel(profile),))),
        Section("needs", _needs(profile)),
        Section("clock", Text(_clock(profile, show))),
        Section("warnings", Findings(_findings(profile))),
    ]
    return Explanation(FAMILY, parsed.language.name, text, tuple(sections))


def report(parsed: ParsedText) -> CheckReport:
    """What is odd about a profile, and how large its program is."""
    profile: Profile = parsed.value
    counts = {
        "operators": sum(1 for _ in walk(profile.expression)) - len(primitives(profile.expression)),
        "classes of events": len(dict.fromkeys(primitives(profile.expression))),
        "nodes": len(_program(profile).nodes),
    }
    examined = Examined("profile", profile.name, counts=counts)
    return CheckReport(FAMILY, parsed.language.name, (examined,), findings=_findings(profile))


# Whether two profiles find the same is decided by the rules of translation, not here.
CHECKS = FamilyChecks(report, lambda parsed: (parsed.value,))


def _findings(profile: Profile) -> tuple[Finding, ...]:
    return tuple(map(Finding.of, warnings(profile.expression)))


def _program(profile: Profile) -> Operators:
    compiled = compile_profiles([Wanted(profile.name, profile.expression, None, bool(profile.actions))])
    program = compiled.plan.detectors[0].program
    assert isinstance(program, Operators)
    return program


def _kernel(profile: Profile) -> Kernel:
    nodes = len(_program(profile).nodes)
    bounded = not any(warning.code == "unbounded-state" for warning in warnings(profile.expression))
    because = "timeframes, duplicates and consumption bound what is kept"
    if not bounded:
        because = "an operator keeps instances for ever, up to the limit of partial matches"
    return Kernel(profile.name, FAMILY, f"each event is given to {nodes} nodes, inner ones first", because)


def _predicates(profile: Profile, show: object) -> Iterator[Predicate]:
    assert callable(show)
    for one in dict.fromkeys(primitives(profile.expression)):
        yield Predicate(one.name, "of this type" if one.filter is None else str(show(one)))


def _needs(profile: Profile) -> Needs:
    types: dict[str, dict[str, str]] = {}
    for one in primitives(profile.expression):
        own = types.setdefault(one.name, {})
        for comparison in comparisons(one.filter):
            if isinstance(comparison.left, Attribute) and isinstance(comparison.right, Literal):
                known = kind(comparison.right.value)
                own[comparison.left.name] = _KINDS.get(known, known)
    return Needs(types)


def _clock(profile: Profile, show: object) -> str:
    """When the clock ticks, if the events of the profile make it tick."""
    assert callable(show)
    known = clock(with_timeframes(profile.expression))
    lines = [f"{format_duration(delay)} after {show(primitive)}" for primitive, delay in known]
    return "\n".join(lines) or "nothing is decided by the clock"
