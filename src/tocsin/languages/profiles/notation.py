"""The notation of one language: the grammars of its description with the values of its options, for parser and printer."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any

from tocsin.algebra.pairs.expression import Primitive
from tocsin.errors import PatternError
from tocsin.languages.lexis import Reader
from tocsin.languages.profiles import meaning
from tocsin.languages.profiles.description import Description
from tocsin.languages.profiles.event_filter import Conditions, conditions_of
from tocsin.languages.profiles.grammar import Grammar, rule_of
from tocsin.languages.profiles.parser import Parser, quoted
from tocsin.languages.profiles.printer import Printer
from tocsin.languages.profiles.refusal import refuse_composition
from tocsin.languages.profiles.settings import names_of, options_type
from tocsin.languages.profiles.template import Template

_ALWAYS = frozenset("()[],=`:-")


@dataclass(frozen=True)
class Notation:
    """A description as what parser and printer need."""

    own: Description

    @cached_property
    def options(self) -> Any:
        """The class of the options of the language."""
        return options_type(self.own.title, self.own.options)

    @cached_property
    def rules(self) -> tuple[Any, ...]:
        return tuple(rule_of(table, meaning.FUNCTIONS) for table in self.own.operators)

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions on events: those of the language, or those that most share."""
        rules = self.own.more.get("condition")
        if rules is None:
            return _plain_conditions()
        refuse = partial(refuse_composition, own=self.own)
        return conditions_of(self.own.title, self.own.more.get("conditions", {}), rules, refuse)

    @property
    def filters(self) -> bool:
        """Whether a whole text is one condition."""
        return bool(self.own.more.get("filters", False))

    def grammar(self, chosen: Mapping[str, str]) -> Grammar:
        """The grammar with the values of these options."""
        key = tuple(sorted(chosen.items()))
        if key not in self._grammars:
            if len(self._grammars) > 100:
                self._grammars.clear()
            self._grammars[key] = self._made(chosen)
        return self._grammars[key]

    @cached_property
    def _grammars(self) -> dict[tuple[tuple[str, str], ...], Grammar]:
        return {}

    def _made(self, chosen: Mapping[str, str]) -> Grammar:
        names = {**meaning.WORDS, **names_of(self.own.options, chosen)}
        only = bool(self.own.more.get("only_in_parentheses", False))
        return Grammar(self.rules, names, meaning.fits, meaning.opened, only)

    @cached_property
    def symbols(self) -> list[str]:
        """Every sign that a text may contain, and those of other languages, so that they can be named in an error."""
        signs = {piece for rule in self.rules for piece in rule.literals() if not piece.isidentifier()}
        return sorted(signs | self.conditions.symbols | _ALWAYS | _FOREIGN)

    @cached_property
    def leading_words(self) -> frozenset[str]:
        """The words that stand before whole profiles."""
        return frozenset(str(one["word"]) for one in self.own.more.get("whole", ()) if one.get("word"))

    def wholes(self) -> list[tuple[str, Template]]:
        """How whole profiles are written: a word before them, and what they mean then."""
        found = self.own.more.get("whole", ())
        return [(str(one.get("word", "")), Template(str(one["means"]), meaning.FUNCTIONS)) for one in found]


_FOREIGN = frozenset((";", "|", "||", "&", "&&", "."))


@cache
def _plain_conditions() -> Conditions:
    text = (files("tocsin.languages.profiles") / "conditions.toml").read_text(encoding="utf-8")
    given = tomllib.loads(text)
    return conditions_of("this language", given.get("conditions", {}), given["condition"])


@dataclass(frozen=True)
class Events:
    """The atoms of a language: events by name, perhaps with a condition."""

    notation: Notation
    grammar: Grammar
    wanted: str = "an event"

    @property
    def reserved(self) -> frozenset[str]:
        """The words that no event can be called without backticks: those of operators, and those before whole profiles."""
        return self.grammar.reserved | self.notation.leading_words

    def atom(self, parser: Parser) -> Any:
        reader, here = parser.reader, parser.reader.here
        if not reader.at("name") or here.text in self.reserved or here.text.startswith("_"):
            return None
        name = str(reader.advance().value)
        filter = None
        if reader.at("("):
            reader.advance()
            filter = self.notation.conditions.read(reader)
            if not reader.accept(")"):
                self.notation.conditions.unexpected(reader, "')' or a comparison")
                parser.give_up()
        return Primitive(name, filter, reader.span_from(here))

    def operand(self, kind: str, value: Any) -> Any:
        if not meaning.fits(kind, value):
            wanted = "one event" if kind == "event" else f"a {kind}"
            hint = "name an event" if kind == "event" else f"write the {kind} in parentheses"
            raise PatternError("bad-operand", f"{wanted} is needed here", value.span, hint)
        return value

    def unexpected(self, reader: Reader, wanted: str) -> None:
        if not refuse_composition(reader, self.notation.own):
            reader.unexpected(wanted)

    def text(self, value: Any) -> str | None:
        """The text of an event; None if it is something else."""
        if not isinstance(value, Primitive):
            return None
        functions = self.grammar.functions if value.filter is not None else frozenset()
        name = quoted(value.name, self.reserved | functions)
        return name if value.filter is None else f"{name}({self.notation.conditions.text(value.filter)})"


def printer_of(notation: Notation, grammar: Grammar, labels: list[str]) -> Printer:
    """The printer of a language."""
    return Printer(notation.own.title, grammar, Events(notation, grammar).text, labels)
