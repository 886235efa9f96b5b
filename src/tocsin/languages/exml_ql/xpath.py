"""Reads XPath subscriptions into the same blocks: the subset that filters of XML streams have.

```
path      = ("/" | "//") step { ("/" | "//") step } ;
step      = (NAME | "*") { "[" condition "]" } ;
condition = "@" NAME [ relation ] | "text()" "=" STRING | below [ relation ] ;
below     = [ ".//" ] step { ("/" | "//") step } ;
relation  = ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) ( STRING | NUMBER ) ;
```

A condition holds if one child, attribute or text satisfies it. A relation to a number compares numbers, and what is no
number is different from each. A text in quotes after `=` is a text child or the value of an attribute, as in a pattern.
"""

from __future__ import annotations

import re
from itertools import count
from typing import NamedTuple

from tocsin.algebra.blocks.conditions import (
    Arithmetic,
    Comparison,
    Constant,
    Expression,
    Opposite,
    Predicate,
    Relation,
    Value,
)
from tocsin.algebra.blocks.paths import AnyName, Chain, Name, Path, Repeated
from tocsin.algebra.blocks.query import Attribute, Pattern, Text, Variable
from tocsin.errors import PatternErrors
from tocsin.languages.exml_ql.scanner import Scanner
from tocsin.languages.exml_ql.words import TAG_NAME
from tocsin.languages.lexis import Failure

_TEXT = re.compile(r"text\s*\(\s*\)")
_STRING = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_RELATIONS: tuple[Relation, ...] = ("<=", ">=", "!=", "=", "<", ">")
_REST = "an axis, a function other than text(), and a position are not read"


class PathBlock(NamedTuple):
    """An XPath subscription as the index takes it."""

    pattern: Pattern
    predicates: tuple[Predicate, ...]
    root_only: bool


def parse_xpath(text: str) -> PathBlock:
    """Read an XPath subscription; raises `PatternErrors` with the mistake.

    >>> block = parse_xpath('/order//item[@sku="x1"]')
    >>> block.pattern.tag, block.root_only
    (Name(name='order'), True)
    """
    scanner = Scanner(text, comments=False)  # where // is a step
    reader = _Reader(scanner)
    try:
        if not scanner.sees("/"):
            scanner.fail("'/' or '//'", "a subscription begins at the root, or anywhere with //")
        anywhere = scanner.sees("//")
        scanner.sign("//" if anywhere else "/")
        pattern = reader.steps(below=False)
        if not scanner.ended:
            scanner.fail("the end of the path", _REST)
    except Failure:
        raise PatternErrors(scanner.errors) from None
    return PathBlock(pattern, tuple(reader.predicates), not anywhere)


class _Reader:
    """The steps of a path, and the comparisons found on the way."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.predicates: list[Predicate] = []
        self._numbers = count(1)

    def steps(self, below: bool, *, compared: bool = False) -> Pattern:
        """A step with what comes after it; `below` if it may lie any number of levels deeper.

        With `compared` a relation may follow the last step.
        """
        scanner = self.scanner
        if scanner.sign("*"):
            name: Path = AnyName()
        elif found := scanner.take(TAG_NAME):
            name = Name(found[0])
        else:
            scanner.fail("the name of an element, or *", _REST)
        if scanner.sees("(", ":"):
            scanner.fail("the end of the step", _REST)
        attributes: list[Attribute] = []
        parts: list[Pattern | Text | Variable] = []
        while scanner.sign("["):
            self._condition(attributes, parts)
            scanner.expect("]", "']'", _REST)
        if scanner.sees("/"):
            with scanner.nested():
                deeper = scanner.sign("//")
                if not deeper:
                    scanner.sign("/")
                parts.append(self.steps(deeper, compared=compared))
        elif compared and (value := self._compared()) is not None:
            parts.append(value)
        tag = Chain((Repeated(AnyName(), "*"), name)) if below else name
        return Pattern(tag, tuple(attributes), tuple(parts))

    def _condition(self, attributes: list[Attribute], parts: list[Pattern | Text | Variable]) -> None:
        scanner = self.scanner
        if scanner.sign("@"):
            found = scanner.take(TAG_NAME)
            if found is None:
                scanner.fail("the name of an attribute")
            attributes.append(Attribute(found[0], self._compared() or self._variable()))
        elif scanner.take(_TEXT):
            scanner.expect("=", "'='", "text() is compared with =; compare the element itself, as in [b > 3]")
            value = self._constant()
            if not isinstance(value, Constant) or not value.quoted:
                scanner.fail("a text in quotes")
            parts.append(Text(value.text))
        else:
            with scanner.nested():
                parts.append(self.steps(scanner.sign(".//"), compared=True))

    def _compared(self) -> Text | Variable | None:
        """A relation with a constant: a text that must be there, or a variable with a predicate."""
        relation = next((one for one in _RELATIONS if self.scanner.sign(one)), None)
        if relation is None:
            return None
        constant = self._constant()
        if constant.quoted and relation == "=":
            return Text(constant.text)
        variable = self._variable()
        value: Expression = Value(variable.name)
        if not constant.quoted:
            # A sum is always one of numbers: what is no number has none.
            value = Arithmetic("+", value, Constant("0", quoted=False))
        if relation == "!=" and not constant.quoted:
            self.predicates.append(Opposite(Comparison("=", value, constant)))
        else:
            self.predicates.append(Comparison(relation, value, constant))
        return variable

    def _constant(self) -> Constant:
        if found := self.scanner.take(_STRING):
            return Constant(found[1] if found[1] is not None else found[2], quoted=True)
        if found := self.scanner.take(_NUMBER):
            return Constant(found[0], quoted=False)
        self.scanner.fail("a text in quotes or a number")

    def _variable(self) -> Variable:
        return Variable(f"_{next(self._numbers)}")
