"""Check programs and machines: what each accepts, gets stuck on and needs, and how they compare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin import analysis
from tocsin.algebra.completion.expression import (
    Expression,
    Handwritten,
    Interpretation,
    Program,
    Subscription,
)
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.run import Status
from tocsin.analysis import Budget, show_trace
from tocsin.automata.completion import construct, simulate
from tocsin.errors import LimitError, PatternError, Span
from tocsin.explain.check_report import (
    CheckReport,
    Comparison,
    Effect,
    Examined,
    NotCompared,
    Relation,
)
from tocsin.explain.completion.wording import Printers, printers_of
from tocsin.explain.contents import Finding, Trace
from tocsin.explain.family_checks import FamilyChecks
from tocsin.explain.parsed_text import ParsedText


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a check: a subscription, an expression without a name, or a machine."""

    what: str
    name: str
    one: Expression
    printers: Printers
    span: Span | None = None
    interpretation: Interpretation = Interpretation()


def subjects_of(parsed: ParsedText) -> tuple[Subject, ...]:
    """Return the subjects in a text; an expression without a name gets that of the text.

    Refuses a machine that can move for ever without an event.
    """
    program: Program = parsed.value
    printers = printers_of(parsed.language)
    analysis.refuse_endless(program)
    return tuple(
        Subject(
            _kind(one),
            parsed.name if one.name is None else one.name,
            one.expression,
            printers,
            one.span,
            program.interpretation,
        )
        for one in program.subscriptions
    )


def _kind(subscription: Subscription) -> str:
    if isinstance(subscription.expression, Handwritten):
        return "machine"
    return "expression" if subscription.name is None else "subscription"


def report(parsed: ParsedText) -> CheckReport:
    """Check each part of a text and compare the parts, with one budget for everything."""
    subjects, budget = subjects_of(parsed), Budget()
    interpretation = subjects[0].interpretation if subjects else Interpretation()
    findings, examined, comparable = list[Finding](), list[Examined](), list[Subject]()
    for subject in subjects:
        findings += _overlaps(subject, budget)
        found = analysis.examine(subject.one, interpretation, budget)
        findings += map(Finding.of, _warnings(subject, found))
        examined.append(_examined(subject, found))
        comparable += [subject] if found.live is not None else []
    compared = analysis.compare([subject.one for subject in comparable], interpretation, budget)
    names = [subject.name for subject in comparable]
    relations = [
        Relation(one.kind, names[one.left], names[one.right], one.witness) for one in compared.relations
    ]
    never = tuple(one.name for one in examined if one.live is None)
    return CheckReport(
        "completion",
        parsed.language.name,
        tuple(examined),
        tuple(relations),
        NotCompared(compared.left_out, compared.refused, never),
        findings=tuple(findings),
    )


def _examined(subject: Subject, found: analysis.Examined) -> Examined:
    effects = None
    if found.influence is not None:
        effects = tuple(
            Effect(one.event, subject.printers.output(one.output), one.before, one.after)
            for one in found.influence
        )
    return Examined(
        subject.what,
        subject.name,
        found.trivial,
        found.vacuous,
        found.live,
        effects,
        found.need,
        refused=found.refused,
    )


def _overlaps(subject: Subject, budget: Budget) -> list[Finding]:
    try:
        return list(map(Finding.of, analysis.overlapping_guards(subject.one, budget)))
    except LimitError as error:
        message = f"the guards of {subject.what} {subject.name} were not all compared: {error.message}"
        return [Finding.of(PatternError("not-analysed", message, subject.span))]


def _warnings(subject: Subject, found: analysis.Examined) -> Iterator[PatternError]:
    name = f"{subject.what} {subject.name}"
    if found.vacuous is not None and found.trivial is not None and found.live is not None:
        yield from analysis.worth_a_warning(name, subject.span, found.vacuous, found.trivial, found.live)
    if found.refused is not None:
        message = f"not all is known of {name}: {found.refused}"
        yield PatternError("not-analysed", message, subject.span)


def contains(left: Subject, right: Subject) -> Comparison:
    """Whether the first accepts all that the second accepts."""
    inside, outside = analysis.subjects(_machine(right), _machine(left))
    answer = analysis.contained(inside, outside)
    if answer.witness is None:
        words = f"{left.name} accepts all that {right.name} accepts"
    else:
        words = f"{right.name} accepts {show_trace(answer.witness)}, {left.name} does not"
    return Comparison("contains", left.name, right.name, answer.holds, answer.witness, words)


def equal(left: Subject, right: Subject) -> Comparison:
    """Whether two do the same."""
    one, other = analysis.subjects(_machine(left), _machine(right))
    answer = analysis.equal(one, other)
    if answer.witness is None:
        words = f"{left.name} and {right.name} do the same"
    else:
        does = [f"{it.name} {_does(it, answer.witness)}" for it in (left, right)]
        after = show_trace(answer.witness)
        words = f"{left.name} and {right.name} differ after {after}: {', '.join(does)}"
    return Comparison("equal", left.name, right.name, answer.holds, answer.witness, words)


def _machine(subject: Subject) -> Machine:
    """The machine of a subject, each built as its own text is read."""
    return construct(subject.one, subject.interpretation)


def _does(subject: Subject, trace: Trace) -> str:
    """The effect of the last event of a trace."""
    prepared = simulate.prepare(_machine(subject))
    configuration, outputs = simulate.start(prepared), list[str]()
    for event in trace:
        configuration, emits = simulate.feed(prepared, configuration, event)
        outputs = [subject.printers.output(emit.output) for emit in emits]
    pushes = f"pushes {' '.join(outputs)}" if outputs else "pushes nothing"
    status = simulate.status(prepared, configuration)
    return pushes if status is Status.RUNNING else f"{pushes} and has ended in {status}"


CHECKS = FamilyChecks(report, subjects_of, {"equal": equal, "contains": contains})
