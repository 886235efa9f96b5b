"""The modes of ECL as a correlation: switching parts off and on simulates `in (p) do {…}`.

`in (p) do {repeat {push(x) {accumulate {a, b}}}} in (q) do {repeat {push(y) {c}}}` becomes

    m1:(b1:(a+b) | g1_2:q) | m2:(b2:c | g2_1:p)
    { abort (m2);
      case b1 & !g1_2: push new x {};   case g1_2: abort (m1); revive (m2);
      case b2 & !g2_1: push new y {};   case g2_1: abort (m2); revive (m1); }

The paper's own simulation puts the guards into a branch beside the modes. It begins in no mode, lets the mode
that ends see the guard's event, and starts a mode again on its own guard, all of which ECL does not
(C.1.13, C.2.13). Here each mode holds the guards of the others: so a guard's event is seen before anything is
pushed, the guard of the mode that runs is not armed, and an aborted mode leaves nothing of a case behind.

**What is simulated.** Guards, and the predicates of the bodies, ask for an event type or for one of several. A
body is `false`, or one or more of these side by side (`parallel`): `push(x) {φ}`, `repeat {push(x) {φ}}` and
`repeat {push(x) {do {φ} unless {φ'}}}`, where φ and φ' are built with accumulate, select and sequential, and
x is a name or a new event of constants.

**Why not more.** A filter sees the port of an event and nothing else, so there are no other predicates. It is
complete or not, and cannot fail: so `fail`, `select*`, `persist`, `loop` and a do-unless that is not started
again have no counterpart. It sends events only when a whole branch triggers, so nothing is pushed inside φ;
and what it sends on it names, so `push(*)`, which sends the last event of any name, has none either. It does not
count rounds. Modes inside modes could be put inside each other as labels are; they are left out to keep this
short.

Paper: 001, section 5.4, and 4.4.2 for do-unless.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

from tocsin.algebra.completion import expression as ecl
from tocsin.algebra.completion.output import Constant, Make, Output
from tocsin.algebra.correlation.expression import (
    Accumulation,
    And,
    Assignment,
    Atom,
    Case,
    Collection,
    Correlation,
    Expression,
    Guard,
    Is,
    Labelled,
    Not,
    Parameter,
    PushNew,
    Sequence,
    Switch,
    walk,
)
from tocsin.algebra.predicate import Attribute, Compare, Filter, Literal, Or
from tocsin.errors import PatternError, Span
from tocsin.values import Relation

_LIKE_A_LABEL = re.compile(r"[mbug]\d+(_\d+)*_*")


@dataclass(frozen=True, slots=True)
class _Task:
    """A part of a mode's body: what it waits for, what restarts it, what it sends, how often."""

    awaited: Expression
    unless: Expression | None
    sends: PushNew
    once: bool

    @property
    def watched(self) -> tuple[Expression, ...]:
        return (self.awaited,) if self.unless is None else (self.awaited, self.unless)


def simulate(
    modes: ecl.Modes, interpretation: ecl.Interpretation = ecl.Interpretation(), name: str = "Modes"
) -> Correlation:
    """The correlation that sends what a mode expression pushes; refuses one that has no counterpart.

    Events of the correlation are named like their types.

    >>> from tocsin.algebra.completion.expression import FALSE, Mode, Modes, Predicate
    >>> on, off = (Compare(Attribute("type"), Relation.EQ, Literal(kind)) for kind in ("on", "off"))
    >>> body = ecl.Repeat(ecl.Push(Constant("x"), Predicate(on)))
    >>> found = simulate(Modes((Mode(on, body), Mode(off, Predicate(FALSE)))))
    >>> [case.guard for case in found.cases][:2]
    [And(parts=(Is(label='b1'), Not(part=Is(label='g1_2')))), Is(label='g1_2')]
    """
    guards = [_one_of(mode.guard, mode.span) for mode in modes.modes]
    bodies = [list(_tasks(mode.body)) for mode in modes.modes]
    if len(guards) == 1 and not bodies[0]:
        raise _refused("a single mode that does nothing", modes.span)
    types = _named([*guards, *(part for body in bodies for task in body for part in task.watched)])
    several = max(1, *map(len, bodies))
    branches, aborted, cases = list[Expression](), list[str](), list[Case]()
    for number in range(1, several + 1):
        end = (f"_{number}" if several > 1 else "") + _unlike(types)
        tasks = [body[number - 1] if number <= len(body) else None for body in bodies]
        parts = [_Mode(i, end, tasks, guards, interpretation) for i in range(len(guards))]
        branches.append(reduce(Collection, [part.filter() for part in parts]))
        aborted += [part.label for part in parts[1:]]
        cases += [case for part in parts for case in part.cases()]
    return Correlation(
        "Output",
        name,
        tuple(Parameter("Event", type) for type in types),
        tuple(branches),
        (Switch("abort", tuple(aborted)),) if aborted else (),
        tuple(cases),
    )


@dataclass(frozen=True, slots=True)
class _Mode:
    """One mode in one branch: its number, the suffix of all labels, what each mode does here, and the guards."""

    number: int
    end: str
    tasks: list[_Task | None]
    guards: list[Expression]
    interpretation: ecl.Interpretation

    @property
    def label(self) -> str:
        return self._label("m", self.number)

    def _label(self, kind: str, *numbers: int) -> str:
        return kind + "_".join(str(number + 1) for number in numbers) + self.end

    def _armed(self) -> Iterator[tuple[int, str]]:
        """The modes that can follow, each with the label of its guard in this one."""
        for other in range(len(self.guards)):
            if other != self.number:
                yield other, self._label("g", self.number, other)

    def filter(self) -> Expression:
        """The filter expression for what can happen while the mode runs."""
        parts: list[Expression] = []
        task = self.tasks[self.number]
        if task is not None:
            parts.append(Labelled(self._label("b", self.number), task.awaited))
            if task.unless is not None:
                parts.append(Labelled(self._label("u", self.number), task.unless))
        parts += [Labelled(label, self.guards[other]) for other, label in self._armed()]
        return Labelled(self.label, reduce(Collection, parts))

    def cases(self) -> Iterator[Case]:
        """The cases of the mode: of guards satisfied together the first wins, and a guard wins over the body."""
        guards = [label for _, label in self._armed()]
        task = self.tasks[self.number]
        if task is not None:
            body = self._label("b", self.number)
            tie_fails = task.unless is not None and self.interpretation.unless_tie == "failure"
            stronger = [self._label("u", self.number)] if tie_fails else []
            if task.once:
                # Once the body is aborted too, the mode's label keeps the case to the triggers of this branch.
                switched_off = Switch("abort", (body,))
                yield Case(_but_none_of([body, self.label], [*guards, *stronger]), (task.sends, switched_off))
            else:
                yield Case(_but_none_of([body], [*guards, *stronger]), (task.sends,))
        for place, (other, label) in enumerate(self._armed()):
            entered = self.tasks[other]
            revived = [self._label("m", other)]
            revived += [self._label("b", other)] if entered is not None and entered.once else []
            change = Switch("abort", (self.label,)), Switch("revive", tuple(revived))
            yield Case(_but_none_of([label], guards[:place]), change)


def _but_none_of(wanted: Iterable[str], others: Iterable[str]) -> Guard:
    parts: list[Guard] = [*map(Is, wanted), *(Not(Is(other)) for other in others)]
    return And(tuple(parts)) if len(parts) > 1 else parts[0]


def _unlike(events: Iterable[str]) -> str:
    """A suffix for labels, so that none is named like an event."""
    if not any(_LIKE_A_LABEL.fullmatch(event) for event in events):
        return ""
    return "_" * (1 + max(len(event) - len(event.rstrip("_")) for event in events))


def _named(expressions: Iterable[Expression]) -> tuple[str, ...]:
    """The events that some expressions name, in textual order."""
    parts = (part for expression in expressions for part in walk(expression))
    return tuple(dict.fromkeys(part.event for part in parts if isinstance(part, Atom)))


# --- reading ECL ------------------------------------------------------------------------------------


def _tasks(body: ecl.Expression) -> Iterator[_Task]:
    match _unnamed(body):
        case ecl.Parallel(parts):
            for part in parts:
                yield from _tasks(part)
        case ecl.Predicate(filter) if filter == ecl.FALSE:
            return
        case ecl.Push() as pushed_once:
            yield _task(pushed_once, pushed_once.body, None, once=True)
        case ecl.Repeat(inner, None) if isinstance(push := _unnamed(inner), ecl.Push):
            goal = _unnamed(push.body)
            if isinstance(goal, ecl.DoUnless):
                yield _task(push, goal.body, goal.unless, once=False)
            else:
                yield _task(push, goal, None, once=False)
        case _:
            raise _refused("a body other than push, repeat {push} and those in parallel", body.span)


def _task(push: ecl.Push, body: ecl.Expression, unless: ecl.Expression | None, *, once: bool) -> _Task:
    sends = _sends(push.output, push.span)
    return _Task(_awaited(body), None if unless is None else _awaited(unless), sends, once)


def _awaited(expression: ecl.Expression) -> Expression:
    match _unnamed(expression):
        case ecl.Predicate(filter):
            return _one_of(filter, expression.span)
        case ecl.Accumulate(parts):
            return reduce(Accumulation, map(_awaited, parts))
        case ecl.Select(parts):
            return reduce(Collection, map(_awaited, parts))
        case ecl.Sequential(parts):
            return reduce(Sequence, map(_awaited, parts))
        case _:
            raise _refused("an operator that can fail, push or repeat inside a push", expression.span)


def _unnamed(expression: ecl.Expression) -> ecl.Expression:
    while isinstance(expression, ecl.Named):
        expression = expression.body
    return expression


def _one_of(filter: Filter, span: Span | None) -> Expression:
    """An event of one of several types."""
    match filter:
        case Compare(Attribute("type"), Relation.EQ, Literal(str() as type)) if type.isidentifier():
            return Atom(type, span)
        case Or(parts) if parts:
            return reduce(Collection, [_one_of(part, span) for part in parts])
        case _:
            raise _refused("a predicate other than the name of an event type, or of one of several", span)


def _sends(output: Output, span: Span | None) -> PushNew:
    match output:
        case Constant(str() as type) if type.isidentifier():
            return PushNew(type)
        case Make(type, fields):
            assigned = [(name, value) for name, value in fields if isinstance(value, Literal)]
            if len(assigned) == len(fields):
                return PushNew(type, tuple(Assignment(name, value) for name, value in assigned))
    raise _refused("an output that is neither a name nor a new event of constants", span)


def _refused(what: str, span: Span | None) -> PatternError:
    return PatternError("not-simulated", f"a correlation cannot simulate {what}", span)
