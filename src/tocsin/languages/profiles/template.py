"""What an operator means, as data: `"sequence(a, b, within=window)"`, read in both directions.

With operands in place of its names a template gives a value; with holes in their place it gives a pattern, and matching a
value with the pattern finds the operands again. So one text serves the parser and the printer. It is looked at, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from tocsin.errors import InputError

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Hole:
    """A place for an operand or a value of a kind in a pattern; `plus` is added to a number."""

    name: str
    kind: str = ""
    plus: int = 0

    def __add__(self, number: int) -> Hole:
        return Hole(self.name, self.kind, self.plus + number)


class Template:
    """A text of calls, names and constants.

    >>> Template("pair(a, n + 1)", {"pair": lambda *both: both}).value({"a": "x", "n": 2})
    ('x', 3)
    """

    def __init__(self, text: str, functions: Functions) -> None:
        self.text = text
        self.functions = functions
        try:
            self._tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            raise _bad(text, "it is no call of a function") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def names(self) -> set[str]:
        """The names that it needs values for."""
        calls = {id(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        found = (n for n in ast.walk(self._tree) if isinstance(n, ast.Name) and id(n) not in calls)
        return {node.id for node in found}

    def value(self, names: Mapping[str, Any]) -> Any:
        """What it gives for these values of its names."""
        return self._value(self._tree, names)

    def _value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name) if name in names:
                return names[name]
            case ast.BinOp(left, ast.Add(), ast.Constant(int(number))):
                return self._value(left, names) + number
            case ast.Tuple(parts):
                return tuple(self._value(part, names) for part in parts)
            case ast.Call(ast.Name(name), arguments, keywords) if name in self.functions:
                given: list[Any] = []
                for one in arguments:
                    if isinstance(one, ast.Starred):
                        given += self._value(one.value, names)
                    else:
                        given.append(self._value(one, names))
                named = {k.arg: self._value(k.value, names) for k in keywords if k.arg}
                return self.functions[name](*given, **named)
            case _:
                raise _bad(self.text, f"{ast.unparse(node)!r} is not known in it")


def _bad(text: str, why: str) -> InputError:
    hint = "write calls such as sequence(a, b, within=t), with the names of the syntax and of the options"
    return InputError("bad-description", f"the meaning {text!r} cannot be read: {why}", hint=hint)


def matched(pattern: Any, value: Any, fits: Callable[[str, Any], bool]) -> dict[str, Any] | None:
    """The values of the holes of a pattern with which it equals a value; None if there are none.

    >>> matched((Hole("a"), Hole("n", "count", 1)), ("x", 3), lambda kind, value: True)
    {'a': 'x', 'n': 2}
    """
    found: dict[str, Any] = {}
    return found if _match(pattern, value, fits, found) else None


def _match(pattern: Any, value: Any, fits: Callable[[str, Any], bool], found: dict[str, Any]) -> bool:
    if isinstance(pattern, Hole):
        if pattern.plus:
            if not isinstance(value, int) or isinstance(value, bool):
                return False
            value = value - pattern.plus
        if pattern.name in found:
            return bool(found[pattern.name] == value)
        found[pattern.name] = value
        return fits(pattern.kind, value)
    if is_dataclass(pattern) and not isinstance(pattern, type):
        if type(pattern) is not type(value):
            return False
        compared = (one.name for one in fields(pattern) if one.compare)
        return all(_match(getattr(pattern, n), getattr(value, n), fits, found) for n in compared)
    if isinstance(pattern, tuple):
        if not isinstance(value, tuple) or len(pattern) != len(value):
            return False
        return all(_match(*both, fits, found) for both in zip(pattern, value, strict=True))
    return type(pattern) is type(value) and bool(pattern == value)


def holes(pattern: Any) -> Iterator[tuple[str, int]]:
    """Each hole of a pattern with how deep it lies; nodes that are no holes come with an empty name."""
    waiting = [(pattern, 1)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, Hole):
            yield part.name, depth
        elif isinstance(part, tuple):
            waiting += [(one, depth) for one in part]
        elif is_dataclass(part) and not isinstance(part, type):
            yield "", depth
            waiting += [(getattr(part, one.name), depth + 1) for one in fields(part) if one.compare]
