"""Reads an expression by the rules of a grammar: one parser for all languages, and for the conditions in them.

After an operand the rules that start with one are tried, as far as they bind tightly enough; a suffix directly behind a
parenthesis belongs to that. Rules that begin alike are followed together, item by item, so nothing is read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Protocol

from tocsin.errors import InputError, PatternError, PatternErrors
from tocsin.languages.lexis import Failure, Reader, Token, is_name
from tocsin.languages.profiles.grammar import MAX_SIZE, Grammar
from tocsin.languages.profiles.settings import SECOND, read_duration
from tocsin.languages.profiles.syntax import LEVELS, PRIMARY, Item, Rule, is_operand

MAX_DEPTH = 100


class Atoms(Protocol):
    """What stands where an operand is expected and no rule applies; `wanted` says in words what that is."""

    @property
    def wanted(self) -> str: ...

    def atom(self, parser: Parser) -> Any:
        """The atom that starts here, or None, without moving, if there is none."""

    def operand(self, kind: str, value: Any) -> Any:
        """A value as the operand of a kind; raises PatternError if it can be none."""

    def unexpected(self, reader: Reader, wanted: str) -> None:
        """Record that something else was expected here."""


class Parser:
    """A reader with a grammar."""

    def __init__(self, reader: Reader, grammar: Grammar, atoms: Atoms) -> None:
        self.reader = reader
        self.grammar = grammar
        self.atoms = atoms
        self.labels: list[str] = []
        self._inside = 0
        self._sizes: dict[
            int, tuple[Any, int, int]
        ] = {}  # the value itself keeps its id from being used again

    def expression(self, level: int = 0) -> Any:
        """What starts here and binds at least so tightly."""
        with self.reader.nested():
            start = self.reader.here
            value = self._start(level)
            closed = self.reader.last.kind == ")"
            while rules := self._rules_behind(level, closed, value):
                value = self._continue(rules, value, start)
                closed = closed and not rules[0].is_infix
            return value

    def fail(self, wanted: str) -> NoReturn:
        """Record what was expected here, and give up on the text."""
        self.atoms.unexpected(self.reader, wanted)
        self.give_up()

    def give_up(self) -> NoReturn:
        """Leave the text after a mistake that is recorded already."""
        raise Failure

    # --- where something starts ---------------------------------------------------------------------

    def _start(self, level: int) -> Any:
        reader = self.reader
        rules = tuple(rule for rule in self.grammar.leading.get(reader.here.text, ()) if self._is_here(rule))
        if rules:
            start = reader.here
            return self._follow(rules, 0, {}, start, shortest=level == PRIMARY)
        if reader.at("("):
            reader.advance()
            self._inside += 1
            value = self.expression()
            self._inside -= 1
            if not reader.accept(")"):
                self.fail("')' or an operator")
            return value
        value = self.atoms.atom(self)
        if value is None:
            self.fail(self.atoms.wanted)
        return value

    def _is_here(self, rule: Rule) -> bool:
        """Whether the pieces at the start of a rule stand here, up to its first hole."""
        if self.reader.here.kind in ("string", "number") or self.reader.here.text.startswith("`"):
            return False
        ahead = 0
        for item in rule.items:
            if item.is_hole:
                return True
            for piece in item.pieces:
                if self.reader.ahead(ahead).text != piece:
                    return False
                ahead += 1
        return True

    # --- behind an operand --------------------------------------------------------------------------

    def _rules_behind(self, level: int, closed: bool, value: Any) -> tuple[Rule, ...]:
        """The rules that go on with what is before this place: those that can have it as an operand, if there are any."""
        outside = self.grammar.only_in_parentheses and not self._inside
        possible = [rule for rule in self.grammar.following if not (rule.is_infix and outside)]
        here = [rule for rule in possible if self._stands_here(rule, 1)]
        # With none that can go on, one whose sign stands here is followed, so that the error is behind the sign.
        here = here or [rule for rule in possible if self._stands_here(rule, 1, literals=True)]
        found = [rule for rule in here if self._reach(rule, closed) >= level]
        able = [rule for rule in found if self._can_be(rule.items[0].kind, value)] or found
        return tuple(rule for rule in able if rule.items[0] == able[0].items[0])

    def _reach(self, rule: Rule, closed: bool) -> int:
        return LEVELS["tight"] if rule.is_suffix and closed else rule.level

    def _can_be(self, kind: str, value: Any) -> bool:
        try:
            self.atoms.operand(kind, value)
        except PatternError:
            return False
        return True

    def _continue(self, rules: Sequence[Rule], first: Any, start: Token) -> Any:
        kind = rules[0].items[0].kind
        bound = {rules[0].items[0].text: self.operand(kind, first, start)}
        return self._follow(rules, 1, bound, start)

    # --- the items of rules ---------------------------------------------------------------------------

    def _follow(
        self, rules: Sequence[Rule], at: int, bound: dict[str, Any], start: Token, shortest: bool = False
    ) -> Any:
        """Read the items of rules that agree so far, and give what the one means that is left; or the first that ends."""
        brackets = 0
        while True:
            going = [rule for rule in rules if len(rule.items) > at]
            done = [rule for rule in rules if len(rule.items) == at]
            chosen = [] if done and shortest else self._choose(going, at, bool(done))
            if not chosen:
                if not done:
                    self.fail(" or ".join(dict.fromkeys(_words(rule.items[at]) for rule in going)))
                self._inside -= brackets
                return self._meaning(done[0], bound, start)
            item = chosen[0].items[at]
            if item.is_hole:
                self._read_hole(chosen[0], at, bound)
            else:
                for _ in item.pieces:
                    opening = self.reader.advance().text
                    brackets += (opening in "([{") - (opening in ")]}")
                    self._inside += (opening in "([{") - (opening in ")]}")
            rules, at = chosen, at + 1

    def _choose(self, rules: Sequence[Rule], at: int, done: bool) -> list[Rule]:
        """The rules whose next item stands here: values before literals before operands."""
        wanted: tuple[Callable[[Item], bool], ...]
        wanted = (lambda i: i.is_hole and not is_operand(i), lambda i: not i.is_hole, is_operand)
        for kind in wanted:
            for rule in rules:
                item = rule.items[at]
                if kind(item) and self._stands_here(rule, at):
                    return [other for other in rules if other.items[at] == item]
        if done:
            return []
        literal = next((rule.items[at] for rule in rules if self._stands_here(rule, at, literals=True)), None)
        return [rule for rule in rules if rule.items[at] == literal]

    def _stands_here(self, rule: Rule, at: int, literals: bool = False) -> bool:
        """Whether a rule can go on here: with its next literals, and the hole behind them; or with one literal alone."""
        ahead = 0
        for item in rule.items[at : at + 1 if literals else None]:
            if item.is_hole:
                return not literals and self._accepts(item, ahead)
            for piece in item.pieces:
                token = self.reader.ahead(ahead)
                if token.text != piece or token.kind == "string":
                    return False
                ahead += 1
        return True

    def _accepts(self, item: Item, ahead: int) -> bool:
        """Whether the value or operand of a hole can start at a token ahead."""
        here, next = self.reader.ahead(ahead), self.reader.ahead(ahead + 1)
        match item.kind:
            case "duration":
                return here.kind in ("duration", "number")
            case "time":
                return here.kind in ("time", "number")
            case "count":
                return here.kind == "number" and isinstance(here.value, int) and here.value > 0
            case "frame":
                return here.kind == "name" and here.text.startswith("_")
            case "label":
                return here.kind == "name"
            case "interval":
                times = here.kind == "[" and next.kind in ("number", "time")
                return times or (here.text in ("overlap", "extend") and next.kind == "(")
            case "" | "primary" | "event" | "sequence":
                sign = here.kind == "name" and here.text in self.grammar.reserved
                if sign and here.text not in self.grammar.leading:
                    return False
                return self.grammar.constants or here.kind not in ("number", "time", "duration", "string")
            case _:
                return True

    def _read_hole(self, rule: Rule, at: int, bound: dict[str, Any]) -> None:
        item, reader = rule.items[at], self.reader
        match item.kind:
            case "duration" | "time":
                bound[item.text] = self._amount(reader.advance())
            case "count":
                bound[item.text] = int(reader.advance().value)
            case "frame":
                bound[item.text] = self._frame(reader.advance())
            case "label":
                bound[item.text] = str(reader.advance().value)
                self.labels.append(bound[item.text])
            case "interval":
                bound["since"], bound["until"] = self._interval()
            case "list":
                bound[item.text] = self._row(rule, at, "list", ",")
            case kind:
                start = reader.here
                value = self.operand(kind, self.expression(self.grammar.inner_level(rule, at)), start)
                bound[item.text] = value
                if rule.row:
                    bound["all"] = (bound[rule.items[0].text], value)
                    while self._stands_here(rule, 1):
                        for _ in rule.items[1].pieces:
                            reader.advance()
                        start = reader.here
                        more = self.expression(self.grammar.inner_level(rule, at))
                        bound["all"] = (*bound["all"], self.operand(kind, more, start))

    def _row(self, rule: Rule, at: int, kind: str, sign: str) -> tuple[Any, ...]:
        level = max(self.grammar.inner_level(rule, at), self.grammar.signs.get(sign, -1) + 1)
        found = []
        while True:
            start = self.reader.here
            found.append(self.operand(kind, self.expression(level), start))
            if not self.reader.accept(sign):
                return tuple(found)

    def operand(self, kind: str, value: Any, start: Token) -> Any:
        try:
            return self.atoms.operand(kind, value)
        except PatternError as error:
            self.reader.note(error.code, error.message, self.reader.span_from(start), error.hint)
            raise Failure from None

    def _amount(self, token: Token) -> int:
        """Microseconds; a number without a unit is of seconds."""
        value = token.value
        return round(float(value) * SECOND) if token.kind == "number" else int(value)

    def _frame(self, token: Token) -> Any:
        text = token.text[1:]
        if text == "inf":
            return self.grammar.names["inf"]
        found = read_duration(text)
        if found is None:
            hint = "write _5min, _30 for seconds, or _inf"
            self.reader.note("bad-timeframe", f"{token.text} is not a timeframe", token.span, hint)
            raise Failure
        return found

    def _interval(self) -> tuple[int, int]:
        """`[start, end]`, or what two of them have in common (overlap), or reach together (extend)."""
        reader, start = self.reader, self.reader.here
        with reader.nested():
            if reader.at("name"):
                common = reader.advance().text == "overlap"
                reader.expect("(", "'('")
                one = self._interval()
                reader.expect(",", "',' and another interval")
                other = self._interval()
                reader.expect(")", "')'")
                ends = list(zip(one, other, strict=True))
                found = (max(ends[0]), min(ends[1])) if common else (min(ends[0]), max(ends[1]))
            else:
                reader.expect("[", "an interval such as [0, 10]")
                since = self._moment()
                reader.expect(",", "',' and the end of the interval")
                found = (since, self._moment())
                reader.expect("]", "']'")
        if found[1] < found[0]:
            span = reader.span_from(start)
            reader.note("empty-interval", "this interval ends before it starts", span, "write [start, end]")
            raise Failure
        return found

    def _moment(self) -> int:
        if not self.reader.at("number", "time"):
            self.fail("a time such as 2024-01-31T19:00:00, or a number of seconds")
        return self._amount(self.reader.advance())

    # --- what a rule means ----------------------------------------------------------------------------

    def _meaning(self, rule: Rule, bound: dict[str, Any], start: Token) -> Any:
        span = self.reader.span_from(start)
        size, depth = self._measure(rule, bound)
        if size > MAX_SIZE or depth > MAX_DEPTH:
            what = f"more than {MAX_DEPTH} levels" if depth > MAX_DEPTH else f"more than {MAX_SIZE:,} parts"
            self.reader.note("too-deep" if depth > MAX_DEPTH else "too-large", f"this has {what}", span)
            raise PatternErrors(self.reader.errors)
        try:
            value = replace(rule.template.value({**self.grammar.names, **bound}), span=span)
        except (PatternError, InputError) as error:
            self.reader.note(error.code, error.message, error.span or span, error.hint)
            raise Failure from None
        self._sizes[id(value)] = value, size, depth
        return value

    def _measure(self, rule: Rule, bound: dict[str, Any]) -> tuple[int, int]:
        """How large and how deep the meaning of a rule is, from what is known of its operands."""
        nodes, own, times = self.grammar.weights[rule]
        size, deepest = nodes, 0
        for name, value in bound.items():
            for part in value if isinstance(value, tuple) else (value,):
                _, inner, depth = self._sizes.get(id(part), (None, 1, 1))
                size += (
                    max(1, times.get(name, 0) // 2) * inner
                    if isinstance(value, tuple)
                    else (times.get(name, 0) * inner)
                )
                deepest = max(deepest, depth)
        return size, own + deepest


def _words(item: Item) -> str:
    kinds = {
        "frame": "a timeframe",
        "interval": "an interval",
        "label": "a name",
        "time": "a time",
        "list": "events",
    }
    if not item.is_hole:
        return f"'{item.text}'"
    return kinds.get(item.kind, f"a {item.kind}" if item.kind not in ("", "primary") else "an operand")


def quoted(name: str, reserved: frozenset[str]) -> str:
    """A name as it has to be written: in backticks if it could be something else."""
    plain = is_name(name) and name not in reserved and not name.startswith("_")
    return name if plain else "`" + name.replace("`", "``") + "`"
