"""Reading, writing and printing the texts of a command."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from tocsin.errors import InputError
from tocsin.languages.attached import Attached
from tocsin.languages.attached import in_file as in_file
from tocsin.languages.attached import located as located
from tocsin.languages.attached import read_text as read_text
from tocsin.languages.rule_file import read_rule


def given_text(pattern: str) -> tuple[str, str | None]:
    """The text of a command line, or of the file that @FILE names, and the name of that file.

    Of a rule file it is the pattern, at its place, so that mistakes are shown in their lines.
    """
    if not pattern.startswith("@"):
        return pattern, None
    return read_rule(Path(pattern[1:])).padded, pattern[1:]


def write_text(path: Path, text: str) -> None:
    """Write a file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError("bad-file", f"{path} cannot be written: {problem.strerror}") from None


def section(title: str, text: str) -> None:
    """Print something under a heading."""
    print(f"{title}\n{textwrap.indent(text, '  ')}\n")


def chosen(given: Iterable[str]) -> Mapping[str, object]:
    """The names and values of `--option NAME=VALUE`; a value `@FILE` is the text of a file, as a pattern is."""
    found: dict[str, object] = {}
    for option in given:
        name, equals, value = option.partition("=")
        if not equals:
            raise InputError(
                "bad-option", f"--option {option} has no value", hint="write --option NAME=VALUE"
            )
        value = value.strip()
        found[name.strip()] = Attached.of(Path(value[1:])) if value.startswith("@") else value
    return found
