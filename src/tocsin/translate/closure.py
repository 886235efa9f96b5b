"""The rules of section 5.3: profiles of an active database, with closure `*`, intervals `IN [a, b]` and `NOT`, in the algebra.

>>> from tocsin.algebra.pairs.notation import show
>>> found = in_algebra("(* (E1 ; E2)) IN [3, 10]")
>>> show(found.meta), found.kind.value, found.rules[0].name
('(E1 ; E2)_7{z=first,w=first,unique}', 'equivalent', 'Section 5.3, row 4')

The closure picks the first duplicate, which is z = w = first with unique pairs; the interval becomes a timeframe of its length,
except that of a disjunction, which the algebra does not have. All of it is exact only by the paper's claim (Part C.5.1). The
texts are those of the section; what the whole language means is decided by its own parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tocsin.algebra.pairs.expression import (
    INFINITE,
    Conjunction,
    Disjunction,
    Expression,
    Framed,
    Negation,
    Primitive,
    Timeframe,
)
from tocsin.algebra.pairs.expression import Sequence as Ordered
from tocsin.algebra.pairs.operators import (
    conjunction,
    disjunction,
    framed,
    negation,
    selection,
    sequence,
    simultaneity,
)
from tocsin.algebra.pairs.parameters import FIRST, Pairing, Views
from tocsin.errors import PatternError, Span
from tocsin.translate.kinds import Kind, together
from tocsin.translate.parameters import UNIQUE_BY_CLAIM
from tocsin.translate.rules import Rule, T, X, Y, bind, fill

INF = float("inf")
CLOSED = Views(FIRST, FIRST, Pairing.UNIQUE)
NOT_BEFORE = negation(sequence(X, Y, within=T), T)
NOT_AFTER = negation(sequence(Y, X, within=T), T)
APART = conjunction(conjunction(X, Y, within=T), conjunction(NOT_BEFORE, NOT_AFTER, within=T), within=T)
ONLY_ONE = conjunction(framed(X, T), negation(conjunction(X, X, within=T), T), within=T)
_TABLE = "Section 5.3"
RULES = (
    Rule(
        _TABLE,
        1,
        conjunction(X, Y, within=T),
        conjunction(X, Y, within=T),
        Kind.EQUIVALENT,
        claimed=UNIQUE_BY_CLAIM,
    ),
    Rule(_TABLE, 3, disjunction(X, Y), disjunction(X, Y, within=INF), Kind.EQUIVALENT),
    Rule(_TABLE, 2, disjunction(X, Y), disjunction(X, Y, within=T), Kind.POSITIVE),
    Rule(
        _TABLE,
        4,
        sequence(X, Y, within=T),
        sequence(X, Y, within=T),
        Kind.EQUIVALENT,
        claimed=UNIQUE_BY_CLAIM,
    ),
    Rule(_TABLE, 5, negation(X, T), negation(X, T), Kind.EQUIVALENT),
    Rule(_TABLE, 6, simultaneity(X, Y, within=T), APART, Kind.EQUIVALENT, claimed=UNIQUE_BY_CLAIM),
    Rule(_TABLE, 7, selection(X, 1), ONLY_ONE, Kind.EQUIVALENT, claimed=UNIQUE_BY_CLAIM),
)
# Those of whole patterns come before those of one operator.
_BY_SIZE = (*RULES[-2:], *RULES[:-2])


@dataclass(frozen=True, slots=True)
class Lifted:
    """A profile in the algebra, with the kind and the rules used, outermost first."""

    meta: Expression
    kind: Kind
    rules: tuple[Rule, ...]


def in_algebra(text: str) -> Lifted:
    """What a text of section 5.3 is in the algebra; raises `PatternError`."""
    reader = _Reader(text)
    read = reader.expression()
    if reader.token is not None:
        reader.fail("the text goes on after its end")
    return _lifted(read)


def _lifted(expression: Expression) -> Lifted:
    if isinstance(expression, Primitive):
        return Lifted(expression, Kind.EQUIVALENT, ())
    if isinstance(expression, Framed):
        return _lifted(expression.body)
    if isinstance(expression, Negation) and expression.timeframe is None:
        raise PatternError("timeframe-missing", "NOT has no interval", None, "write NOT A IN [0, 9]")
    for rule in _BY_SIZE:
        binding = bind(rule.target, expression)
        if binding is None:
            continue
        below = {variable: _lifted(operand) for variable, operand in binding.operands.items()}
        operands = {variable: part.meta for variable, part in below.items()}
        meta = fill(rule.source, replace(binding, operands=operands, how=CLOSED))
        kinds = [part.kind for part in below.values()]
        if isinstance(expression, Negation):
            kinds = [kind.negated for kind in kinds]
        kind = together([rule.kind, *kinds])
        if kind is None:
            raise PatternError("no-rule", "it asks for more of one part and less of another")
        return Lifted(meta, kind, (rule, *(used for part in below.values() for used in part.rules)))
    raise PatternError("no-rule", "section 5.3 has no rule for this expression", expression.span)


# --- reading ----------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*([A-Za-z]\w*|\d+|∞|[*(),;|\[\]])")
_OPERATORS: dict[str, type[Conjunction] | type[Disjunction] | type[Ordered]] = {
    ",": Conjunction,
    "|": Disjunction,
    ";": Ordered,
}


class _Reader:
    """`* e`, `NOT e`, `(e)` and `(e op e)`, each with an interval behind it or inside the parentheses."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = self.start = self.depth = 0
        self.token: str | None = None
        self.next()

    def fail(self, message: str) -> None:
        raise PatternError(
            "syntax", message, Span(self.text, self.start, self.place), "write (* (A ; B)) IN [0, 9]"
        )

    def next(self) -> str | None:
        """The token that was next; goes on to the one after it."""
        before, match = self.token, _TOKEN.match(self.text, self.place)
        if match is None and self.text[self.place :].strip():
            self.start = self.place
            self.place += 1
            self.fail("this is not part of the notation")
        self.start = match.start(1) if match else len(self.text)
        self.place = match.end() if match else len(self.text)
        self.token = match[1] if match else None
        return before

    def take(self, *expected: str) -> str:
        if self.token not in expected:
            self.fail(f"expected {' or '.join(map(repr, expected))}")
        return self.next() or ""

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > 100:
            self.fail("there are more than 100 levels")
        found = self.plain()
        self.depth -= 1
        while self.token == "IN":
            self.next()
            found = _within(found, self.interval())
        return found

    def plain(self) -> Expression:
        match self.next():
            case "*":
                return self.plain()
            case "NOT":
                return Negation(self.plain())
            case "(":
                found = self.expression()
                if self.token in _OPERATORS:
                    operator = _OPERATORS[self.next() or ""]
                    found = operator((found, self.expression()))
                self.take(")")
                return found
            case str(name) if name[0].isalpha():
                return Primitive(name)
            case _:
                self.fail("expected an event, *, NOT or a parenthesis")
                raise AssertionError

    def interval(self) -> Timeframe:
        self.take("[")
        if self.token in ("∞", "inf"):
            self.next()
            self.take("]")
            return INFINITE
        start = self.number()
        self.take(",")
        end = INFINITE if self.token in ("∞", "inf") and self.next() else self.number()
        self.take("]")
        if isinstance(end, int) and end < start:
            self.fail("the interval ends before it starts")
        return end - start if isinstance(end, int) else INFINITE

    def number(self) -> int:
        word = self.next()
        if word is None or not word.isdigit():
            self.fail("expected a number")
        return int(word or 0)


def _within(expression: Expression, length: Timeframe) -> Expression:
    """The expression with the length of its interval as its timeframe."""
    match expression:
        case Conjunction() | Disjunction() | Ordered() | Negation() if expression.timeframe is None:
            return replace(expression, timeframe=length)
        case _:
            return Framed(expression, length)
