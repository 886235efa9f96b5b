"""A grammar made of rules: which of them can come where, in what order they bind, and which words they reserve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tocsin.errors import InputError
from tocsin.languages.lexis import is_name
from tocsin.languages.profiles.syntax import LEVELS, Rule, default_level, items_of
from tocsin.languages.profiles.template import Functions, Hole, Template, holes

MAX_SIZE = 20_000  # parts of an expression, each counted as often as it occurs


@dataclass(frozen=True)
class Grammar:
    """The rules of a language with the values of its options.

    `only_in_parentheses`: an infix operator needs parentheses around it. `constants`: numbers and texts can be operands.
    `fits` says whether a value can stand in a hole of a kind, `opened` gives a value in each way in which patterns look at it.
    """

    rules: tuple[Rule, ...]
    names: Mapping[str, Any]
    fits: Callable[[str, Any], bool]
    opened: Callable[[Any], tuple[Any, ...]] = lambda value: (value,)
    only_in_parentheses: bool = False
    constants: bool = False

    @cached_property
    def leading(self) -> dict[str, tuple[Rule, ...]]:
        """The rules that start with a literal, by its first piece."""
        return _by_piece((rule.items[0].pieces[0], rule) for rule in self.rules if rule.leads)

    @cached_property
    def following(self) -> tuple[Rule, ...]:
        """The rules that start with an operand."""
        return tuple(rule for rule in self.rules if not rule.leads)

    @cached_property
    def signs(self) -> dict[str, int]:
        """The levels of infix operators, by their sign."""
        return {rule.items[1].pieces[0]: rule.level for rule in self.rules if rule.is_infix}

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Everything that is written with signs."""
        return frozenset(
            p for rule in self.rules for p in rule.literals() if not is_name(p) and not p.isdigit()
        )

    @cached_property
    def reserved(self) -> frozenset[str]:
        """The words that cannot be names; those of functions can, unless their parenthesis follows."""
        functions = {rule.items[0].pieces[0] for rule in self.rules if _is_function(rule)}
        words = {p for rule in self.rules for p in rule.literals() if is_name(p)}
        return frozenset(words - functions)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The words that are functions before a parenthesis."""
        return frozenset(rule.items[0].pieces[0] for rule in self.rules if _is_function(rule))

    def inner_level(self, rule: Rule, at: int) -> int:
        """How tightly the operand at a place of a rule has to bind: tighter than a sign that follows it there."""
        level = rule.inner_level(at)
        if at and at + 1 < len(rule.items) and not rule.items[at + 1].is_hole:
            return max(level, self.signs.get(rule.items[at + 1].pieces[0], -1) + 1)
        return level

    def pattern(self, rule: Rule, number: int = 2) -> Any:
        """What a rule means, with holes for its operands; `number` is how many a row or a list has."""
        return rule.template.value({**self.names, **_holes(rule, number)})

    @cached_property
    def weights(self) -> dict[Rule, tuple[int, int, dict[str, int]]]:
        """Of each rule its number of nodes, its depth, and how often each operand occurs in what it means."""
        return {rule: _weight(self.pattern(rule)) for rule in self.rules}


def _holes(rule: Rule, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in rule.items:
        if not item.is_hole:
            continue
        if item.kind == "list":
            found[item.text] = tuple(Hole(f"{item.text}.{i}", "list") for i in range(number))
        elif item.kind == "interval":
            found |= {"since": Hole("since", "time"), "until": Hole("until", "time")}
        else:
            found[item.text] = Hole(item.text, item.kind)
    if rule.row:
        found["all"] = tuple(Hole(f"all.{i}", rule.items[0].kind) for i in range(number))
    return found


def _weight(pattern: Any) -> tuple[int, int, dict[str, int]]:
    nodes, deepest = 0, 0
    times: dict[str, int] = {}
    for name, depth in holes(pattern):
        deepest = max(deepest, depth)
        if name:
            name = name.partition(".")[0]
            times[name] = times.get(name, 0) + 1
        else:
            nodes += 1
    return nodes, deepest, times


def _is_function(rule: Rule) -> bool:
    """Whether a rule starts with a word that something other than an operand follows."""
    first = rule.items[0]
    return rule.leads and is_name(first.pieces[0]) and (len(first.pieces) > 1 or not rule.items[1].is_hole)


def _by_piece(found: Iterable[tuple[str, Rule]]) -> dict[str, tuple[Rule, ...]]:
    rules: dict[str, tuple[Rule, ...]] = {}
    for piece, rule in found:
        rules[piece] = (*rules.get(piece, ()), rule)
    return rules


def rule_of(table: Mapping[str, Any], functions: Functions) -> Rule:
    """A rule from its table: `name`, `syntax`, `means`, and perhaps `level`, `row` and `shown`."""
    items = items_of(str(table["syntax"]))
    level = str(table.get("level", "")) or default_level(items)
    if level not in LEVELS:
        hint = f"give it a level: {', '.join(LEVELS)}"
        raise InputError("bad-description", f"nothing says how tightly {table['syntax']!r} binds", hint=hint)
    rule = Rule(
        str(table["name"]),
        str(table["syntax"]),
        items,
        LEVELS[level],
        Template(str(table["means"]), functions),
        bool(table.get("row", False)),
        bool(table.get("shown", True)),
    )
    # What only stands for one of its operands would match everything, itself included.
    return replace(rule, shown=rule.shown and "(" in rule.template.text)
