"""The texts a command reads and writes, and what it prints of them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tocsin.errors import InputError, LimitError, PatternError, PatternErrors, PipelineError, PipelineErrors


def read_text(path: Path) -> str:
    """The text of a file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("no-file", f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise InputError("bad-file", f"{path} is not text in UTF-8") from None
    except OSError as problem:
        raise InputError("bad-file", f"{path} cannot be read: {problem.strerror}") from None


def given_text(pattern: str) -> tuple[str, str | None]:
    """The text of a command line, or of the file that @FILE names, and the name of that file."""
    if not pattern.startswith("@"):
        return pattern, None
    return read_text(Path(pattern[1:])), pattern[1:]


def write_text(path: Path, text: str) -> None:
    """Write a file."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError("bad-file", f"{path} cannot be written: {problem.strerror}") from None


def section(title: str, text: str) -> None:
    """Print something under a heading."""
    print(f"{title}\n{textwrap.indent(text, '  ')}\n")


def tree(head: str, below: Iterable[str]) -> str:
    """A line with trees under it.

    >>> print(tree("both", ["a", tree("one of", ["b", "c"])]))
    both
    ├─ a
    └─ one of
       ├─ b
       └─ c
    """
    lines, each = [head], list(below)
    for number, child in enumerate(each):
        last = number == len(each) - 1
        first, *rest = child.splitlines()
        lines.append(("└─ " if last else "├─ ") + first)
        lines += [("   " if last else "│  ") + line for line in rest]
    return "\n".join(lines)


def columns(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns; the first is as wide as it needs to be.

    >>> print(columns([("a", "1"), ("long", "2")]))
    a     1
    long  2
    """
    listed = list(rows)
    width = max((len(left) for left, _ in listed), default=0)
    return "\n".join(f"{left:<{width}}  {right}".rstrip() for left, right in listed)


def in_file(found: Iterable[PatternError | LimitError], file: str) -> list[PipelineError]:
    """Mistakes and warnings with the file they are about."""
    return [PipelineError(one.code, one.message, one.span, one.hint, file) for one in found]


@contextmanager
def located(file: str | None) -> Iterator[None]:
    """Mistakes of a text that come up inside name the file it is from, if it is from one."""
    try:
        yield
    except PatternErrors as problems:
        if file is None:
            raise
        raise PipelineErrors(in_file(problems.errors, file)) from None
    except (PatternError, LimitError) as problem:
        if file is None:
            raise
        raise PipelineErrors(in_file([problem], file)) from None


def chosen(given: Iterable[str]) -> Mapping[str, object]:
    """The names and values of `--option NAME=VALUE`."""
    found: dict[str, object] = {}
    for option in given:
        name, equals, value = option.partition("=")
        if not equals:
            raise InputError(
                "bad-option", f"--option {option} has no value", hint="write --option NAME=VALUE"
            )
        found[name.strip()] = value.strip()
    return found
