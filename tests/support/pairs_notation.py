"""Reads the notation in which the worked cases of the event algebra are written: infix with timeframes, and prefix.

(e1 ; !(e2)_5)_10      e1[2]      (S1(brightness<1000) ; T)_5 : change(L1)      ;(last:E1, first:E2, E3)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tocsin.algebra.pairs.expression import (
    INFINITE,
    Conjunction,
    Disjunction,
    Expression,
    Framed,
    Negation,
    Primitive,
    Selection,
    Sequence,
    Simultaneity,
    Timeframe,
)
from tocsin.algebra.pairs.operators import choice
from tocsin.algebra.pairs.parameters import Detection, Mode, nth
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Or
from tocsin.values import Relation

_TOKEN = re.compile(r"\s*(_(?:inf|\d+)|[A-Za-z][A-Za-z0-9]*|\d+(?:\.\d+)?|:=|[<>!]=|[!<>=()\[\],;:|^])")
_OPERATORS = {"|": Disjunction, ",": Conjunction, ";": Sequence, ":": Simultaneity}
_PREFIX = {"v": Disjunction, "^": Conjunction, ";": Sequence}


@dataclass
class _Reader:
    tokens: list[str]
    names: dict[str, Expression] = field(default_factory=dict)

    def next(self, *expected: str) -> str:
        token = self.tokens.pop(0)
        assert not expected or token in expected, (token, expected, self.tokens)
        return token

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def timeframe(self) -> Timeframe | None:
        if not self.peek().startswith("_"):
            return None
        text = self.next()[1:]
        return INFINITE if text == "inf" else int(text)

    def expression(self) -> Expression:
        expression = self.plain()
        while self.peek() == "[":
            self.next("[")
            expression = Selection(expression, nth(int(self.next())))
            self.next("]")
        return expression

    def plain(self) -> Expression:
        if self.peek() == "!":
            self.next("!")
            body = self.inside() if self.peek() == "(" else (self.atom(),)
            frame = self.timeframe()
            return Negation(body[0] if len(body) == 1 else body[1](body[0::2]), frame)
        if self.peek() == "(":
            left, *rest = self.inside()
            frame = self.timeframe()
            if rest:
                return rest[0]((left, rest[1]), frame)
            return left if frame is None else Framed(left, frame)
        return self.atom()

    def inside(self) -> tuple:
        """What stands in parentheses: an expression, perhaps with an operator and another one."""
        self.next("(")
        found: tuple = (self.expression(),)
        if self.peek() != ")":
            operator = _OPERATORS[self.next(*_OPERATORS)]
            found = (*found, operator, self.expression())
        self.next(")")
        return found

    def atom(self) -> Expression:
        name = self.next()
        if self.peek() != "(":
            return self.names.get(name, Primitive(name))
        self.next("(")
        filter = self.condition()
        self.next(")")
        return Primitive(name, filter)

    def condition(self) -> Filter:
        parts = [self.comparison()]
        word = ""
        while self.peek() in ("AND", "OR"):
            word = self.next()
            parts.append(self.comparison())
        if not word:
            return parts[0]
        return And(tuple(parts)) if word == "AND" else Or(tuple(parts))

    def comparison(self) -> Filter:
        if self.peek() == "(":
            self.next("(")
            filter = self.condition()
            self.next(")")
            return filter
        attribute = Attribute(self.next())
        if self.peek() not in set(Relation):
            return Compare(attribute, Relation.EQ, Literal(True))
        return Compare(attribute, Relation(self.next()), Literal(float(self.next())))

    def prefix(self, how: Detection) -> Expression:
        """`;(last:E1, first:E2, E3)`, where E1 is the class of the events e1."""
        operator = _PREFIX[self.next(*_PREFIX)]
        self.next("(")
        operands, modes = [], []
        while True:
            word = self.next()
            consumption = how.modes[0].consumption
            mode = Mode(consumption=consumption)
            if self.peek() == ":":
                self.next(":")
                mode, word = Mode(choice(word), consumption), self.next()
            operands.append(self.names.get(word, Primitive(word.lower())))
            modes.append(mode)
            if self.next(",", ")") == ")":
                break
        detection = Detection(tuple(modes), how.traversal, how.coupling, how.concurrency)
        return operator(tuple(operands), None, detection)


def _tokens(text: str) -> list[str]:
    found = _TOKEN.findall(text)
    assert "".join(found) == re.sub(r"\s+", "", text), text
    return found


def read_algebra(text: str) -> Expression:
    """An expression in the infix notation; an action after it is left out."""
    reader = _Reader(_tokens(text))
    expression = reader.expression()
    assert reader.peek() in ("", ":"), text
    return expression


def read_filter(text: str) -> Filter:
    """A condition on attributes, such as `((sys<95) OR (dia<50))`."""
    return _Reader(_tokens(text)).condition()


def read_prefix(text: str, how: Detection) -> Expression:
    """An expression in the prefix notation, or the last of several definitions; the modes of `how` hold for each."""
    reader = _Reader(_tokens(text))
    if ":=" not in reader.tokens:
        return reader.prefix(how)
    while True:
        name = reader.next()
        reader.next(":=")
        expression = reader.names[name] = reader.prefix(how)
        if not reader.peek():
            return expression
        reader.next(",")
