"""The pattern of a command line: its text or a file, its language and its options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tocsin.algebra.selection import Selection, Wanted
from tocsin.algebra.subscription import Reading, Subscription
from tocsin.cli.texts import chosen, given_text, located
from tocsin.events import Catalog
from tocsin.languages.registry import LANGUAGES, SENDING, parse_subscription, selection_of
from tocsin.spark.completion import check_options

ENDINGS = {".ecl": "ecl", ".cor": "ksu"}


@dataclass(frozen=True, slots=True)
class GivenPattern:
    """A pattern as it was given, not yet read; `file` is None if it stood on the command line."""

    text: str
    file: str | None
    language: str
    options: Mapping[str, object]
    selection: Selection | None = None  # which matches are wanted where the text does not say it

    @property
    def reading(self) -> Reading:
        """How a language of patterns is read."""
        return Reading.of(self.options)

    @property
    def sends(self) -> bool:
        """Whether its language sends events, and does not only report matches."""
        return self.language in SENDING

    def parse(self, catalog: Catalog | None = None) -> Subscription:
        """The subscription it stands for, in a language of patterns."""
        with self.located():
            return parse_subscription(
                self.text, self.language, catalog=catalog, reading=self.reading, selection=self.selection
            )

    def located(self) -> AbstractContextManager[None]:
        """Mistakes of the pattern that come up inside name the file it is from."""
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
        help=f"{', '.join((*LANGUAGES, *SENDING))}; by the ending of a file (.ecl, .cor), else core",
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


class _Pattern(argparse.Action):
    """Keeps the pattern, and the language that its file is in; --language still has the last word."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        namespace.pattern = values
        if namespace.language is None:
            ending = Path(values).suffix if values.startswith("@") else ""
            namespace.language = ENDINGS.get(ending, "core")


def given_pattern(options: argparse.Namespace) -> GivenPattern:
    """The pattern of a command line."""
    selection = selection_of(options.language, options.matches, options.take)
    given = GivenPattern(*given_text(options.pattern), options.language, chosen(options.option), selection)
    if given.sends:
        check_options(given.language, given.options)
    else:
        Reading.of(given.options)
    return given
