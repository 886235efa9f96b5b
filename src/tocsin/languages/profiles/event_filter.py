"""Conditions on the attributes of an event: operators from a table, attributes and constants as atoms.

The same parser and printer serve conditions behind an event, as in `Temp(temp > 20 AND NOT room = 'A')`, and whole
filter languages that have signs and functions of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add, mul, sub, truediv
from typing import Any, get_args

from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or
from tocsin.errors import InputError, PatternError
from tocsin.languages.lexis import Reader
from tocsin.languages.profiles.grammar import Grammar, rule_of
from tocsin.languages.profiles.parser import Parser, quoted
from tocsin.languages.profiles.printer import Printer
from tocsin.languages.profiles.template import Hole
from tocsin.values import Relation

_SPECIAL = re.compile(r"[\\%_]")
TRUE = Literal(True)


@dataclass(frozen=True, slots=True)
class Likeness:
    """A `Like` as a pattern sees it: a text to be found in a way, such as `begins`."""

    operand: Any
    text: Any
    way: str


_WAYS = {"begins": ("", "%"), "ends": ("%", ""), "contains": ("%", "%")}
_WILD = {"*": "%", "?": "_"}


def _likeness(operand: Any, text: Any, way: str) -> Any:
    if isinstance(text, Hole):
        return Likeness(operand, text, way)
    string = _string(text)
    if way == "like":
        return Like(operand, string)
    if way == "wildcard":
        return Like(operand, "".join(_WILD.get(c) or _escaped(c) for c in string))
    before, behind = _WAYS[way]
    return Like(operand, before + _escaped(string) + behind)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def opened(value: Any) -> tuple[Any, ...]:
    """A value as patterns look at it: a `Like` in each way in which it can be said."""
    if not isinstance(value, Like):
        return (value,)
    found = [Likeness(value.operand, Literal(value.pattern), "like")]
    for way, (before, behind) in _WAYS.items():
        middle = value.pattern[len(before) : len(value.pattern) - len(behind)]
        plain = re.sub(r"\\(.)", r"\1", middle, flags=re.DOTALL)
        if before + _escaped(plain) + behind == value.pattern:
            found.append(Likeness(value.operand, Literal(plain), way))
    signs = {sign: wild for wild, sign in _WILD.items()}
    wild = re.sub(r"\\(.)|(.)", lambda m: m[1] or signs.get(m[2], m[2]), value.pattern, flags=re.DOTALL)
    if _likeness(None, Literal(wild), "wildcard").pattern == value.pattern:
        found.append(Likeness(value.operand, Literal(wild), "wildcard"))
    return tuple(found)


def _string(text: Any) -> str:
    if isinstance(text, Literal) and isinstance(text.value, str):
        return text.value
    raise PatternError(
        "type-mismatch", "a text is compared here", getattr(text, "span", None), "write 'text'"
    )


def _compare(left: Any, relation: str, right: Any) -> Compare:
    return Compare(left, Relation(relation), right)


def _calculate(sign: str, left: Any, right: Any) -> Any:
    """Arithmetic on constants."""
    if isinstance(left, Hole) or isinstance(right, Hole):
        return Literal(0)
    one, other = left.value, right.value
    if any(isinstance(value, bool | str) for value in (one, other)):
        raise PatternError("type-mismatch", "arithmetic is on numbers", left.span)
    if sign == "/" and not other:
        raise PatternError("bad-number", "this divides by 0", right.span)
    result = _ARITHMETIC[sign](one, other)
    if abs(result) > 1e308 or (isinstance(result, int) and abs(result) >= 1 << 63):
        raise PatternError("bad-number", "the result is too large", left.span)
    return Literal(result)


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": mul, "/": truediv}


def _unknown(*parts: Any, what: str = "this") -> Any:
    if any(isinstance(part, Hole) for part in parts):
        return Literal(0)
    hint = "predicates compare an attribute with a constant"
    raise PatternError("not-expressible", f"{what} cannot be tested", None, hint)


def _any(operand: Any, *texts: Any, way: str) -> Any:
    """One of several texts."""
    found = tuple(_likeness(operand, text, way) for text in texts)
    return found[0] if len(found) == 1 else Or(found)


def _one_of(operand: Any, *values: Any) -> Any:
    found = tuple(Compare(operand, Relation.EQ, value) for value in values)
    return found[0] if len(found) == 1 else Or(found)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "compare": _compare,
    "both": lambda *parts: And(parts),
    "either": lambda *parts: Or(parts),
    "negate": Not,
    "null": IsNull,
    "like": _any,
    "one_of": _one_of,
    "calculate": _calculate,
    "unknown": _unknown,
}


def fits(kind: str, value: Any) -> bool:
    """Whether a value can stand in a hole of a kind."""
    match kind:
        case "attribute":
            return isinstance(value, Attribute)
        case "literal" | "list":
            return isinstance(value, Literal)
        case _:
            return isinstance(value, get_args(Filter))


@dataclass(frozen=True)
class Conditions:
    """The grammar of conditions of a language, and its atoms.

    One of `signs` stands before attributes; with `bare` an attribute can stand alone.
    """

    title: str
    grammar: Grammar
    signs: tuple[str, ...] = ()
    bare: bool = True
    refuse: Callable[[Reader], bool] = lambda reader: False
    wanted: str = field(default="a condition such as temp > 20", init=False)

    @property
    def symbols(self) -> frozenset[str]:
        return self.grammar.symbols | {"(", ")", "-", ",", "`", *self.signs}

    def read(self, reader: Reader) -> Filter:
        """The condition that starts here; raises Failure after a mistake."""
        parser = Parser(reader, self.grammar, self)
        start = reader.here
        value = parser.expression()
        if self.refuse(reader):
            parser.give_up()
        found: Filter = parser.operand("", value, start)
        return found

    def atom(self, parser: Parser) -> Any:
        reader = parser.reader
        here = reader.here
        negative = reader.at("-") and reader.ahead().kind == "number"
        if negative:
            reader.advance()
        if reader.at("number", "string"):
            token = reader.advance()
            value = token.value
            return Literal(
                -value if negative and not isinstance(value, str) else value, reader.span_from(here)
            )
        if reader.at_word("true", "false", "TRUE", "FALSE"):
            return Literal(reader.advance().text.lower() == "true", here.span)
        if self.signs:
            if not reader.at(*self.signs):
                return None
            reader.advance()
        if not reader.at("name") or here.text in self.grammar.reserved:
            if self.signs:
                parser.fail("the name of an attribute")
            return None
        return Attribute(str(reader.advance().value), reader.span_from(here))

    def operand(self, kind: str, value: Any) -> Any:
        if kind in ("literal", "list") and isinstance(value, Literal):
            return value
        if kind == "attribute" and isinstance(value, Attribute):
            return value
        if kind == "" and self.bare and isinstance(value, Attribute):
            return Compare(value, Relation.EQ, TRUE, value.span)
        if kind in ("", "primary") and isinstance(value, get_args(Filter)):
            return value
        wanted = {"literal": "a constant", "list": "a constant", "attribute": "an attribute"}.get(
            kind, "a condition"
        )
        found = {Attribute: "an attribute", Literal: "a constant"}.get(type(value), "a condition")
        hint = "compare an attribute with a constant, as in temp > 20"
        raise PatternError("bad-operand", f"{wanted} is needed here, not {found}", value.span, hint)

    def unexpected(self, reader: Reader, wanted: str) -> None:
        if not self.refuse(reader):
            reader.unexpected(wanted)

    def text(self, filter: Filter) -> str:
        """The text of a condition; raises `PatternError` if there is none."""
        return Printer(self.title, self.grammar, self._atom).text(filter)

    def _atom(self, value: Any) -> str | None:
        match value:
            case Attribute(name):
                return "".join(self.signs[:1]) + quoted(
                    name, self.grammar.reserved | self.grammar.functions | _CONSTANTS
                )
            case Literal(value=constant):
                return literal_text(constant)
            case Compare(Attribute() as attribute, Relation.EQ, Literal(True)) if (
                self.bare and value.right == TRUE
            ):
                return self._atom(attribute)
            case _:
                return None


_CONSTANTS = frozenset({"true", "false", "TRUE", "FALSE"})


def literal_text(value: int | float | str | bool) -> str:
    """A constant as it is read again."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def conditions_of(
    title: str,
    table: Mapping[str, Any],
    rules: Sequence[Mapping[str, Any]],
    refuse: Callable[[Reader], bool] = lambda reader: False,
) -> Conditions:
    """The conditions of a language, from the table of its description."""
    for rule in rules:
        if not {"name", "syntax", "means"} <= rule.keys():
            raise InputError("bad-description", f"a condition of {title} lacks name, syntax or means")
    words = {word: word for word in ("like", "wildcard", *_WAYS)}
    grammar = Grammar(tuple(rule_of(rule, FUNCTIONS) for rule in rules), words, fits, opened, constants=True)
    return Conditions(
        title, grammar, tuple(table.get("attribute", ())), bool(table.get("bare", True)), refuse
    )
