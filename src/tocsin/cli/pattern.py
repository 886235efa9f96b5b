"""The pattern of a command line: its text or a file, its language and its options."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tocsin.algebra.subscription import Reading, Subscription
from tocsin.errors import InputError, PatternErrors, PipelineError, PipelineErrors
from tocsin.events import Catalog
from tocsin.languages.registry import LANGUAGES, parse


@dataclass(frozen=True, slots=True)
class GivenPattern:
    """A pattern as it was given, not yet read; `file` is None if it stood on the command line."""

    text: str
    file: str | None
    language: str
    reading: Reading

    def parse(self, catalog: Catalog | None = None) -> Subscription:
        """The subscription it stands for."""
        with self.located():
            return parse(self.text, self.language, catalog=catalog, reading=self.reading)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Mistakes of the pattern that come up inside name the file it is from."""
        try:
            yield
        except PatternErrors as problems:
            if self.file is None:
                raise
            found = [PipelineError(e.code, e.message, e.span, e.hint, self.file) for e in problems.errors]
            raise PipelineErrors(found) from None


def add_pattern(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a pattern to a command."""
    parser.add_argument(
        "pattern", metavar="PATTERN", help="the text of a pattern, or @FILE to read it from a file"
    )
    parser.add_argument(
        "--language", default="core", metavar="NAME", help=f"{', '.join(LANGUAGES)}; core if not given"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how the language is read, as in restart=always or strong_scope=first-symbol",
    )


def given_pattern(options: argparse.Namespace) -> GivenPattern:
    """The pattern of a command line."""
    chosen: dict[str, object] = {}
    for option in options.option:
        name, equals, value = option.partition("=")
        if not equals:
            raise InputError(
                "bad-option", f"--option {option} has no value", hint="write --option NAME=VALUE"
            )
        chosen[name.strip()] = value.strip()
    reading = Reading.of(chosen)
    if not options.pattern.startswith("@"):
        return GivenPattern(options.pattern, None, options.language, reading)
    path = Path(options.pattern[1:])
    try:
        return GivenPattern(path.read_text(encoding="utf-8"), str(path), options.language, reading)
    except FileNotFoundError:
        raise InputError("no-file", f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise InputError("bad-file", f"{path} is not text in UTF-8") from None
    except OSError as problem:
        raise InputError("bad-file", f"{path} cannot be read: {problem.strerror}") from None
