"""Writes a value by the rules of a grammar: the first rule whose meaning it is, with its operands written likewise.

>>> spaced(["First", "(", "A", ")"]), spaced(["$", "A", ";", "(B | C)"])
('First(A)', '$A ; (B | C)')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tocsin.errors import PatternError
from tocsin.languages.lexis import is_name
from tocsin.languages.profiles.grammar import Grammar
from tocsin.languages.profiles.settings import value_text
from tocsin.languages.profiles.syntax import Item, Rule
from tocsin.languages.profiles.template import matched


class Printer:
    """A grammar the other way round. `atom` is the text of what no rule writes, or None; `labels` are used one by one."""

    def __init__(
        self, title: str, grammar: Grammar, atom: Callable[[Any], str | None], labels: Sequence[str] = ()
    ) -> None:
        self.title = title
        self.grammar = grammar
        self.atom = atom
        self.labels = list(labels)

    def text(self, value: Any, level: int = 0) -> str:
        """The text of a value; raises `PatternError` if the language cannot express it."""
        own = self.atom(value)
        if own is not None:
            return own
        rule, bound = self._rule(value)
        text = spaced(self._pieces(rule, bound))
        return text if rule.level >= level else f"({text})"

    def _rule(self, value: Any) -> tuple[Rule, dict[str, Any]]:
        operands = getattr(value, "operands", None) or getattr(value, "parts", None) or ()
        shapes = self.grammar.opened(value)
        for rule in self.grammar.rules:
            if not rule.shown or (rule.row and len(operands) < 2):
                continue
            pattern = self.grammar.pattern(rule, len(operands) or 1)
            for shape in shapes:
                bound = matched(pattern, shape, self.grammar.fits)
                if bound is not None:
                    return rule, bound
        what = type(value).__name__.lower()
        message = f"{self.title} cannot say this {what}"
        raise PatternError("not-expressible", message, value.span, "another language may be able to")

    def _pieces(self, rule: Rule, bound: dict[str, Any]) -> Iterator[str]:
        if rule.row:
            inner = self.grammar.inner_level(rule, 2)
            for number, name in enumerate(name for name in bound if name.startswith("all.")):
                if number:
                    yield rule.items[1].text
                yield self.text(bound[name], inner)
            return
        for at, item in enumerate(rule.items):
            if item.is_hole:
                yield from self._hole(rule, at, item, bound)
            else:
                yield item.text

    def _hole(self, rule: Rule, at: int, item: Item, bound: dict[str, Any]) -> Iterator[str]:
        match item.kind:
            case "interval":
                since, until = (value_text("time", bound[name]) for name in ("since", "until"))
                yield f"[{since}, {until}]"
            case "label":
                yield self.labels.pop(0) if self.labels else "value"
            case "duration" | "time" | "count" | "frame":
                yield value_text(item.kind, bound[item.text])
            case "list":
                level = max(self.grammar.inner_level(rule, at), self.grammar.signs.get(",", -1) + 1)
                names = [name for name in bound if name.startswith(f"{item.text}.")]
                yield ", ".join(self.text(bound[name], level) for name in names)
            case _:
                yield self.text(bound[item.text], self.grammar.inner_level(rule, at))


def spaced(pieces: Sequence[str] | Iterator[str]) -> str:
    """Pieces of a text with spaces between them, except where people write none."""
    text = ""
    before = ""
    for number, piece in enumerate(pieces):
        function = piece == "(" and (is_name(before.replace("-", "_")) or before.endswith("*"))
        prefix = number == 1 and len(before) == 1 and before in "!$*~"
        closed = piece in (")", "]", ",") or before in ("(", "[") or ".." in (piece, before)
        frame = piece.startswith("_") and text.endswith(")")
        star = piece == "*" and is_name(before)
        counted = piece == "[" and number == 1
        text += piece if not text or function or prefix or closed or frame or star or counted else f" {piece}"
        before = piece
    return text
