"""The syntax of an operator as data: `"<a> ; <b>"`, `"TIMES ( <n:count> , <a> )"`, `"<a> IN <i:interval>"`.

Chunks between spaces are holes `<name>` or `<name:kind>`, or literals. How tightly a rule binds is its level; the paper
is silent about it, so all languages share one order (Part B.7): prefix, then sequence, conjunction, disjunction, exclusion.
A suffix binds to the parenthesis before it, and without one to the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tocsin.languages.profiles.template import Template

LEVELS = {
    "suffix": 0,
    "without": 1,
    "or": 2,
    "and": 3,
    "then": 4,
    "not": 4,
    "compare": 5,
    "plus": 6,
    "times": 7,
    "prefix": 8,
    "tight": 9,
    "primary": 10,
}
PRIMARY = LEVELS["primary"]
OPERANDS = ("", "primary", "list", "event", "sequence", "attribute", "literal")
_HOLE = re.compile(r"<([a-z]\w*)(?::([a-z]+))?>")
_PIECES = re.compile(r"\w+|[^\w\s]+")
_OPENS = "([{,"


@dataclass(frozen=True, slots=True)
class Item:
    """A literal, as the tokens it is made of, or a hole for an operand or a value of a kind."""

    text: str
    pieces: tuple[str, ...] = ()
    kind: str = ""

    @property
    def is_hole(self) -> bool:
        return not self.pieces


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to write something: items, how tightly they bind, and what they mean.

    `row`: more operands can follow, each behind the sign. `shown`: the printer may use it.
    """

    name: str
    syntax: str
    items: tuple[Item, ...]
    level: int
    template: Template
    row: bool = False
    shown: bool = True

    @property
    def leads(self) -> bool:
        """Whether it starts with a literal or a value, not with an operand."""
        return not is_operand(self.items[0])

    @property
    def is_suffix(self) -> bool:
        """Whether it follows its operand and ends with something else."""
        return not self.leads and not is_operand(self.items[-1])

    @property
    def is_infix(self) -> bool:
        return not self.leads and not self.is_suffix

    def inner_level(self, at: int) -> int:
        """How tightly the operand at this place has to bind to stand without parentheses."""
        if self.items[at].kind == "primary":
            return PRIMARY
        if at == 0:
            return PRIMARY if self.is_suffix else self.level + self.row
        before = self.items[at - 1]
        if not self.is_infix and not before.is_hole and before.pieces[-1][-1] in _OPENS:
            return 0
        return self.level if self.level >= LEVELS["prefix"] else self.level + 1

    def literals(self) -> Iterable[str]:
        return (piece for item in self.items for piece in item.pieces)


def is_operand(item: Item) -> bool:
    """Whether an item is an expression, not a sign or a number."""
    return item.is_hole and item.kind in OPERANDS


def items_of(syntax: str) -> tuple[Item, ...]:
    """The items of a syntax.

    >>> [(item.text, item.kind or item.pieces) for item in items_of("<a> IN <i:interval>")]
    [('a', ()), ('IN', ('IN',)), ('i', 'interval')]
    """
    found = []
    for chunk in syntax.split():
        hole = _HOLE.fullmatch(chunk)
        found.append(
            Item(hole[1], kind=hole[2] or "") if hole else Item(chunk, tuple(_PIECES.findall(chunk)))
        )
    return tuple(found)


def default_level(items: Sequence[Item]) -> str:
    """The level of a rule that does not say one: of an infix none, so that it has to."""
    operands = [is_operand(item) for item in items]
    if operands[0]:
        return "" if operands[-1] else "suffix"
    return "prefix" if operands[-1] else "primary"
