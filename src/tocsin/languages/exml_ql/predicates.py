"""Reads predicates: comparisons with arithmetic, and what AND, OR and NOT make of them."""

from __future__ import annotations

from typing import Literal as OneOf
from typing import get_args

from tocsin.algebra.blocks.conditions import (
    Arithmetic,
    Comparison,
    Constant,
    Every,
    Expression,
    Opposite,
    Predicate,
    Relation,
    Some,
    Value,
)
from tocsin.languages.exml_ql.scanner import Scanner
from tocsin.languages.exml_ql.words import NUMBER, VARIABLE

_Part = Predicate | Expression
_RELATIONS: tuple[Relation, ...] = tuple(sorted(get_args(Relation), key=len, reverse=True))


def predicate(scanner: Scanner) -> Predicate:
    """A predicate, up to where no sign or word continues it."""
    return _holds(scanner, _some(scanner))


def _holds(scanner: Scanner, part: _Part) -> Predicate:
    if isinstance(part, Comparison | Every | Some | Opposite):
        return part
    scanner.fail("a comparison", "as in $x < 3")


def _value(scanner: Scanner, part: _Part) -> Expression:
    if isinstance(part, Value | Constant | Arithmetic):
        return part
    scanner.fail("a value", "a comparison is no value to compare or to reckon with")


def _some(scanner: Scanner) -> _Part:
    first = _every(scanner)
    parts = [first]
    while scanner.word("OR"):
        parts.append(_every(scanner))
    return first if len(parts) == 1 else Some(tuple(_holds(scanner, part) for part in parts))


def _every(scanner: Scanner) -> _Part:
    first = _opposite(scanner)
    parts = [first]
    while scanner.word("AND"):
        parts.append(_opposite(scanner))
    return first if len(parts) == 1 else Every(tuple(_holds(scanner, part) for part in parts))


def _opposite(scanner: Scanner) -> _Part:
    if scanner.word("NOT"):
        with scanner.nested():
            return Opposite(_holds(scanner, _opposite(scanner)))
    return _comparison(scanner)


def _comparison(scanner: Scanner) -> _Part:
    left = _sum(scanner)
    # After a comparison `<` begins the next pattern.
    if isinstance(left, Comparison | Every | Some | Opposite):
        return left
    for relation in _RELATIONS:
        if scanner.sign(relation):
            return Comparison(relation, left, _value(scanner, _sum(scanner)))
    return left


def _sum(scanner: Scanner) -> _Part:
    left = _product(scanner)
    while sign := _sign(scanner, "+", "-"):
        left = Arithmetic(sign, _value(scanner, left), _value(scanner, _product(scanner)))
    return left


def _product(scanner: Scanner) -> _Part:
    left = _atom(scanner)
    while sign := _sign(scanner, "*", "/"):
        left = Arithmetic(sign, _value(scanner, left), _value(scanner, _atom(scanner)))
    return left


def _sign(scanner: Scanner, *signs: OneOf["+", "-", "*", "/"]) -> OneOf["+", "-", "*", "/"] | None:
    return next((sign for sign in signs if scanner.sign(sign)), None)


def _atom(scanner: Scanner) -> _Part:
    if scanner.sign("("):
        with scanner.nested():
            inner = _some(scanner)
        scanner.expect(")", "')'")
        return inner
    if VARIABLE.match(scanner.text, scanner.at):
        return Value(*scanner.variable())
    if scanner.sees('"'):
        return Constant(scanner.string("a text"), quoted=True)
    minus = "-" if scanner.sign("-") else ""
    if found := scanner.take(NUMBER):
        return Constant(minus + found[0], quoted=False)
    hint = 'a value is a variable, a number, or a text in double quotes, as in $x = "open"'
    scanner.fail("a value", hint)
