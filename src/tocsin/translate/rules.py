"""A translation rule: two profiles of the event algebra with variables, one for the algebra and one for a group.

Variables stand in ordinary expressions: `X` and `Y` for operands, `T` for a timeframe, `I` for the number of a
selection. `bind` compares an expression with such a profile, `fill` puts operands in.

>>> from tocsin.algebra.pairs.notation import show
>>> from tocsin.algebra.pairs.operators import conjunction, event, sequence
>>> found = bind(sequence(X, Y, within=T), sequence("a", conjunction("b", "c"), within=7))
>>> show(fill(conjunction(Y, X, within=T), found))
'((b, c), a)_7'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tocsin.algebra.pairs.expression import (
    INFINITE,
    Conjunction,
    Disjunction,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Simultaneity,
    Timeframe,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.groups import Operator, operator_of
from tocsin.algebra.pairs.parameters import Evaluation, Pick, Views, nth
from tocsin.translate.kinds import Condition, Kind, Lost

X, Y = Primitive("Ex"), Primitive("Ey")
# No timeframe and no number of an occurrence is negative, so these cannot be mistaken for one.
T = -1
I = nth(-1)  # noqa: E741  (the paper's letter)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of a table.

    Args:
        source: what is asked of the Meta-ENS, with variables.
        target: the same in terms of the group; what is installed there if there is a post-filter.
        condition: what the post-filter compares.
        post_filter: what the post-filter detects in the notifications of X.
        lost: what the target does not look at.
        claimed: why the paper's kind is not true of every trace; empty if it is.
    """

    table: str
    row: int
    source: Expression
    target: Expression
    kind: Kind
    condition: Condition | None = None
    post_filter: Expression | None = None
    lost: tuple[Lost, ...] = ()
    claimed: str = ""

    @property
    def name(self) -> str:
        """The table and the row."""
        return f"{self.table}, row {self.row}"

    @property
    def operator(self) -> Operator | None:
        """The operator that it translates."""
        return operator_of(self.source)


@dataclass(frozen=True, slots=True)
class Binding:
    """What the variables of a rule stand for. `how` is the evaluation of the outermost operator."""

    operands: dict[Primitive, Expression] = field(default_factory=dict)
    timeframe: Timeframe | None = None
    framed: bool = False
    pick: Pick | None = None
    how: Evaluation = Views()


def bind(template: Expression, expression: Expression) -> Binding | None:
    """What the variables of a template stand for, so that it becomes the expression; None if it cannot.

    The parameters of operators are not compared, for they are translated on their own.
    """
    found = _bind(template, expression, Binding())
    if found is None or not isinstance(expression, Conjunction | Disjunction | Ordered | Simultaneity):
        return found
    return replace(found, how=expression.how)


def _bind(template: Expression, expression: Expression, found: Binding) -> Binding | None:
    match template, expression:
        case (Primitive(), _):
            return _bind_operand(template, expression, found)
        case (Negation(body, frame), Negation(given, other)) | (Framed(body, frame), Framed(given, other)):
            framed = _bind_frame(frame, other, found)
            return None if framed is None else _bind(body, given, framed)
        case Selection(body, pick), Selection(given, chosen):
            if pick == I and chosen.low is not None and chosen.low == chosen.high:
                found = replace(found, pick=chosen)
            elif pick != chosen:
                return None
            return _bind(body, given, found)
        case ((Conjunction() | Disjunction() | Ordered() | Simultaneity()), _):
            return _bind_composition(template, expression, found)
        case _:
            return None


def _bind_operand(variable: Primitive, expression: Expression, found: Binding) -> Binding | None:
    known = found.operands.get(variable)
    if known is not None and known != expression:
        return None
    return replace(found, operands={**found.operands, variable: expression})


def _bind_frame(frame: Timeframe | None, other: Timeframe | None, found: Binding) -> Binding | None:
    """A timeframe that is left out is infinite."""
    if frame != T:
        return found if (frame or INFINITE) == (INFINITE if other is None else other) else None
    if found.framed and found.timeframe != other:
        return None
    return replace(found, framed=True, timeframe=other)


def _bind_composition(
    template: Conjunction | Disjunction | Ordered | Simultaneity, expression: Expression, found: Binding
) -> Binding | None:
    if type(template) is not type(expression) or not isinstance(expression, type(template)):
        return None
    special = isinstance(expression, Simultaneity) and expression.tolerance
    if special or (isinstance(expression, Ordered) and expression.without is not None):
        return None
    framed = _bind_frame(template.timeframe, expression.timeframe, found)
    if framed is None or len(template.operands) != len(expression.operands):
        return None
    for part, given in zip(template.operands, expression.operands, strict=True):
        below = _bind(part, given, framed)
        if below is None:
            return None
        framed = below
    return framed


def fill(template: Expression, binding: Binding, inner: Evaluation = Views()) -> Expression:
    """The template with everything in the places of its variables; its inner operators are evaluated as `inner`."""

    def frame(written: Timeframe | None) -> Timeframe | None:
        return binding.timeframe if written == T else written

    return _mapped(
        template, lambda variable: binding.operands[variable], frame, binding.pick, inner, binding.how
    )


def _mapped(
    template: Expression,
    operand: Callable[[Primitive], Expression],
    frame: Callable[[Timeframe | None], Timeframe | None],
    pick: Pick | None,
    inner: Evaluation,
    outer: Evaluation,
) -> Expression:
    def below(part: Expression) -> Expression:
        return _mapped(part, operand, frame, pick, inner, inner)

    match template:
        case Primitive():
            return operand(template)
        case Negation(body, written):
            return replace(template, body=below(body), timeframe=frame(written))
        case Framed(body, written):
            around = frame(written)
            return below(body) if around is None else replace(template, body=below(body), timeframe=around)
        case Selection(body, written):
            return replace(
                template, body=below(body), pick=pick if written == I and pick is not None else written
            )
        case Conjunction() | Disjunction() | Ordered() | Simultaneity():
            operands = tuple(below(part) for part in template.operands)
            return replace(template, operands=operands, timeframe=frame(template.timeframe), how=outer)
        case _:
            raise TypeError(f"{template} is not written in a rule")
