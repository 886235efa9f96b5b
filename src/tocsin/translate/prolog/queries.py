"""The predicates of the transformer: `event/1` checks an event term, `transformation/2` relates two languages.

Both work with variables in any place, and give every solution in the order of the groups and of the rows of their tables:

>>> ask("event([sequence,[e1,3],[e2,20],10])").answer
False
>>> ask("?- transformation([event-algebra, [sequence, [e1,4], [e3,6], 10]], X).").solutions
('[group1,[sequence,[e1,4],[e3,6],10]]', '[group2,[sequence,[e1,4],[e3,6],10]]', '[group3,[conjunction,[e1,4],[e3,6]]]')
>>> ask("transformation([event-algebra, X], [group3, [conjunction, [e1,4], [e3,6]]])").solutions
('[conjunction,[e1,4],[e3,6],_1]', '[sequence,[e1,4],[e3,6],_1]')

A timeframe that a group does not have stays a variable. The paper's program has three groups; the other two, `group4` (TCE) and
`group5` (SCE), answer when they are named.

Paper: 004, section 6.2; Part C.5.22.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tocsin.algebra.pairs.expression import Expression, Framed, Primitive, Selection, Unbounded, parts
from tocsin.algebra.pairs.groups import Group, Operator, operator_of
from tocsin.errors import PatternError
from tocsin.translate.prolog.terms import (
    Bindings,
    Compound,
    Term,
    Variable,
    read_term,
    show_term,
    substituted,
    unify,
    variables,
)
from tocsin.translate.rules import I
from tocsin.translate.tables import rows

ALGEBRA = "event-algebra"
GROUPS = {"group1": Group.OTCE, "group2": Group.STCE, "group3": Group.CE}
OTHERS = {"group4": Group.TCE, "group5": Group.SCE}
BINARY: dict[Operator, Callable[[int, int, int], bool]] = {
    Operator.CONJUNCTION: lambda one, other, frame: abs(other - one) <= frame,
    Operator.SEQUENCE: lambda one, other, frame: 0 < other - one <= frame,
    Operator.SIMULTANEITY: lambda one, other, frame: one == other,
    Operator.DISJUNCTION: lambda one, other, frame: True,
}
_NAME = re.compile("e[1-9]")
MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes or no, and what the variables of the query stand for in each solution."""

    answer: bool
    solutions: tuple[str, ...] = ()


@dataclass
class _Names:
    """Variables of rules, each time with new names; and how many steps a query may still take."""

    number: int = 0
    steps: int = MOST_STEPS

    def fresh(self, name: str) -> Variable:
        self.number += 1
        return Variable(f"_{name}{self.number}")


def ask(query: str) -> Answer:
    """The answer to a query; raises `PatternError` if it is none that is known."""
    term = read_term(query)
    match term:
        case Compound("event", (event,)):
            return Answer(is_event(event))
        case Compound("transformation", (one, other)):
            return _all_solutions(term, one, other)
        case _:
            raise PatternError(
                "unknown-query",
                f"{show_term(term)} is not a query of the transformer",
                hint="ask event(E) or transformation([event-algebra,E],[Group,X])",
            )


# --- event/1 --------------------------------------------------------------------------------------------


def is_event(term: Term) -> bool:
    """Whether a term is an event that can have occurred: integers as times, and in the order of its operators."""
    return _time(term) is not None


def _time(term: Term) -> int | None:
    """When an event occurs; None if it cannot. A timeframe that is a variable is as long as it needs to be."""
    match term:
        case (str(name), int(time)):
            return time if _NAME.fullmatch(name) else None
        case (Operator.NEGATION.value, event, frame):
            start = _time(event)
            if isinstance(frame, Variable):
                return start
            return start + frame if start is not None and isinstance(frame, int) and frame >= 0 else None
        case (Operator.SELECTION.value, event, int(number)):
            return _time(event) if number > 0 else None
        case (str(name), one, other, frame) if name in BINARY:
            return _composed(Operator(name), _time(one), _time(other), frame)
        case _:
            return None


def _composed(operator: Operator, one: int | None, other: int | None, frame: Term) -> int | None:
    if one is None or other is None:
        return None
    if isinstance(frame, Variable):
        frame = abs(other - one)
    if not isinstance(frame, int) or not BINARY[operator](one, other, frame):
        return None
    return min(one, other) if operator is Operator.DISJUNCTION else max(one, other)


# --- transformation/2 -----------------------------------------------------------------------------------


def _all_solutions(query: Term, one: Term, other: Term) -> Answer:
    names = _Names()
    asked = list(dict.fromkeys(variables(query)))
    found = [_solution(asked, bindings) for bindings in _transformations(one, other, names)]
    return Answer(bool(found), tuple(dict.fromkeys(found)) if asked else ())


def _solution(asked: list[Variable], bindings: Bindings) -> str:
    """What the variables of a query stand for; those of rules that are left open are numbered."""
    values = [substituted(variable, bindings) for variable in asked]
    left = [variable for variable in dict.fromkeys(variables(tuple(values))) if variable not in asked]
    named: Bindings = {variable: Variable(f"_{number}") for number, variable in enumerate(left, 1)}
    texts = [show_term(substituted(value, named)) for value in values]
    if len(asked) == 1:
        return texts[0]
    return ", ".join(f"{variable.name} = {text}" for variable, text in zip(asked, texts, strict=True))


def _transformations(one: Term, other: Term, names: _Names) -> Iterator[Bindings]:
    """The bindings under which the second term is the first in terms of its group."""
    event, group, said = names.fresh("E"), names.fresh("G"), names.fresh("X")
    bindings = unify(one, (ALGEBRA, event), {})
    bindings = None if bindings is None else unify(other, (group, said), bindings)
    if bindings is None:
        return
    known = substituted(group, bindings)
    for name, each in {**GROUPS, **OTHERS}.items():
        if known != name and not (isinstance(known, Variable) and name in GROUPS):
            continue
        of_group = unify(group, name, bindings)
        for found in _related(event, said, each, of_group or bindings, names):
            if is_event(substituted(event, found)):
                yield found


def _related(event: Term, said: Term, group: Group, bindings: Bindings, names: _Names) -> Iterator[Bindings]:
    """The bindings under which one term says in a group what the other says in the algebra."""
    names.steps -= 1
    if names.steps < 0:
        raise PatternError("too-much", "the query has too many solutions", hint="leave fewer variables in it")
    one, other = substituted(event, bindings), substituted(said, bindings)
    if isinstance(one, Variable) and isinstance(other, Variable):
        raise PatternError(
            "too-many-variables", "both sides of the query are open", hint="give one of the events"
        )
    if _is_primitive(one) or _is_primitive(other):
        same = unify(one, other, bindings)
        if same is not None:
            yield same
        return
    for rule in rows(group):
        open = _Open(names, names.fresh("T"), names.fresh("I"))
        asked = open.term(rule.source, 0, True)
        answered = open.term(rule.target, 1, group.timeframes)
        found = unify(asked, one, bindings)
        found = None if found is None else unify(answered, other, found)
        if found is not None:
            yield from _operands(list(open.operands.values()), group, found, names)


def _operands(
    pairs: list[tuple[Term, Term]], group: Group, bindings: Bindings, names: _Names
) -> Iterator[Bindings]:
    if not pairs:
        yield bindings
        return
    for found in _related(*pairs[0], group, bindings, names):
        yield from _operands(pairs[1:], group, found, names)


def _is_primitive(term: Term) -> bool:
    return (
        isinstance(term, tuple)
        and len(term) == 2
        and isinstance(term[0], str)
        and bool(_NAME.fullmatch(term[0]))
    )


@dataclass
class _Open:
    """The variables of one use of a rule; each side has a variable of its own for an operand."""

    names: _Names
    frame: Variable
    number: Variable
    operands: dict[Primitive, tuple[Term, Term]] = field(default_factory=dict)

    def term(self, expression: Expression, side: int, framed: bool) -> Term:
        """A side of a rule as a term."""
        if isinstance(expression, Primitive):
            if expression not in self.operands:
                self.operands[expression] = (self.names.fresh("X"), self.names.fresh("X"))
            return self.operands[expression][side]
        if isinstance(expression, Framed):
            return self.term(expression.body, side, framed)
        operator = operator_of(expression)
        assert operator is not None, expression
        inside = [self.term(part, side, framed) for part in parts(expression)]
        if isinstance(expression, Selection):
            return (
                operator.value,
                *inside,
                self.number if expression.pick == I else expression.pick.low or 0,
            )
        own = getattr(expression, "timeframe", None)
        if isinstance(own, Unbounded):
            return (operator.value, *inside, own.value)
        return (operator.value, *inside, self.frame) if framed else (operator.value, *inside)
