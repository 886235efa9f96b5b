"""The pattern of a command line: its text or a file, its language and its options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tocsin.algebra.tokens.selection import Selection, Wanted
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.cli.texts import chosen, given_text, located
from tocsin.compile.family import KnownEvents, NamedText
from tocsin.compile.plan_texts import plan_texts
from tocsin.errors import InputError
from tocsin.events import Catalog
from tocsin.languages.attached import Attached
from tocsin.languages.builtin import LANGUAGES
from tocsin.languages.language import Context, Language
from tocsin.languages.registry import DEFAULT, OURS, language, language_of_file, selection_of
from tocsin.languages.rule_file import read_rule

# Options that are read from a file beside the pattern and have an argument of their own, with its help.
BESIDE = {
    "types": "the event types of correlations, an .idl file",
    "assembly": "the connections of correlations, a .cad file",
}


@dataclass(frozen=True, slots=True)
class GivenPattern:
    """A pattern as given, not yet parsed; `file` is None if it was on the command line."""

    text: str
    file: str | None
    language: str
    options: Mapping[str, object]
    selection: Selection | None = None  # which matches are wanted unless the text says so

    @property
    def sends(self) -> bool:
        """Whether its language sends events instead of reporting matches."""
        return language(self.language).sends

    @property
    def named_text(self) -> NamedText:
        """The pattern in the form that is compiled."""
        own = language(self.language)
        name = "" if own.sends else "pattern"
        return NamedText(own, name, self.text, self.options, self.selection)

    def parse(self, catalog: Catalog | None = None) -> Subscription:
        """The parsed subscription, in a language that has them."""
        own = language(self.language)
        with self.located():
            found = own.read(self.text, self.options, Context(catalog, self.selection))
        if not isinstance(found, Subscription):
            hint = "use one of a language that reports matches"
            raise InputError("bad-pattern", f"{own.title} has no patterns to match", hint=hint)
        return found

    def check(self) -> None:
        """Refuse a pattern with mistakes, as far as they show without the events."""
        with self.located():
            plan_texts([self.named_text], KnownEvents())

    def located(self) -> AbstractContextManager[None]:
        """A context in which mistakes in the pattern name its file."""
        return located(self.file)


def add_pattern(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a pattern to a command."""
    parser.add_argument(
        "pattern",
        metavar="PATTERN",
        action=_Pattern,
        help="the text of a pattern, or @FILE to read it from a file",
    )
    parser.add_argument(
        "--language",
        metavar="NAME",
        help=f"{', '.join(OURS)}, or one of an installed package; by the ending of a file, else {DEFAULT}",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how the language is read, as in restart=always, unless_tie=failure or overwrite=earliest",
    )
    parser.add_argument(
        "--matches",
        metavar="POLICY",
        help=f"which matches of a pattern are wanted: {', '.join(get_args(Wanted))}",
    )
    parser.add_argument(
        "--take",
        metavar="WHAT",
        help="what is reported of those that are complete at one moment: all, 'first 3', last, count",
    )


def add_files_beside(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for files that some languages read besides a pattern: `--types FILE` is `--option types=@FILE`."""
    for name, what in BESIDE.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=what)


def files_beside(own: Language, options: argparse.Namespace) -> dict[str, object]:
    """The language options given by such arguments; refused if the language has no option of that name."""
    given = {name: path for name in BESIDE if (path := getattr(options, name, None)) is not None}
    for name in given:
        if own.beside().get(name) != "file":
            hint = takers_of(name)
            raise InputError("bad-option", f"{own.title} has no --{name}", hint=hint)
    return {name: Attached.of(path) for name, path in given.items()}


def takers_of(name: str) -> str:
    """The languages that read an option from a file, as a hint."""
    takers = [one.title for one in LANGUAGES if one.beside().get(name) == "file"]
    return f"it is for texts of {' and '.join(takers)}"


class _Pattern(argparse.Action):
    """Stores the pattern and the language of its file; --language takes precedence."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        namespace.pattern = values
        if namespace.language is None:
            found = language_of_file(values[1:]) if values.startswith("@") else None
            namespace.language = DEFAULT if found is None else found.name


def given_pattern(options: argparse.Namespace) -> GivenPattern:
    """The pattern of a command line; refuses options that its language does not have."""
    said = read_rule(Path(options.pattern[1:])).settings if options.pattern.startswith("@") else {}
    own = language(said.get("language", options.language))
    for name in ("matches", "take"):  # what the command line says counts before what a rule file does
        if getattr(options, name, None) is None:
            setattr(options, name, said.get(name))
    if getattr(options, "key", "") is None and "key" in said:
        options.key = ",".join(said["key"])
    selection = selection_of(own, options.matches, options.take)
    asked = {
        **said.get("options", {}),
        **together(chosen(options.option), files_beside(own, options)),
    }
    given = GivenPattern(*given_text(options.pattern), own.name, asked, selection)
    own.options_of(given.options)  # a mistake in a file given by an option is reported there
    return given


def together(asked: Mapping[str, object], beside: Mapping[str, object]) -> dict[str, object]:
    """All options; refuses one that is given in both ways."""
    for name in beside:
        if name in asked:
            raise InputError("bad-option", f"--{name} and --option {name}=… are one option", hint="keep one")
    return {**asked, **beside}
