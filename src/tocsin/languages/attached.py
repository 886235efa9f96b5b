"""Texts from files that go with a pattern, such as event types in IDL; a mistake in one names its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tocsin.errors import InputError, LimitError, PatternError, PatternErrors, PipelineError, PipelineErrors

MAX_BYTES = 2_000_000  # of a file with a text; a language refuses much less


class Attached(NamedTuple):
    """A text and the file it is from; None for a text that was given as such."""

    text: str
    file: str | None = None

    @classmethod
    def of(cls, given: object) -> Attached:
        """The text itself, or that of the file that a `Path` names.

        >>> Attached.of("eventtype Fix { };")
        Attached(text='eventtype Fix { };', file=None)
        """
        match given:
            case Attached():
                return given
            case str():
                return cls(given)
            case Path():
                return cls(read_text(given), str(given))
            case _:
                hint = "give a text, or a pathlib.Path to read it from"
                raise InputError("bad-option", f"{given!r} is neither a text nor a file", hint=hint)


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a file, with lines that end in `\\n`; one of more than `most` bytes is refused before it is read."""
    if "\0" in str(path):
        raise InputError("bad-file", f"{shortened(path)!r} cannot be a path: it has a NUL in it")
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise InputError("too-long", f"{shortened(path)} has more than {most:,} bytes, the limit")
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError("no-file", f"there is no file {shortened(path)}") from None
    except UnicodeDecodeError as problem:
        message = f"{path} is not text in UTF-8: byte {problem.start:,} is invalid"
        raise InputError("bad-file", message) from None
    except OSError as problem:
        raise InputError("bad-file", f"{shortened(path)} cannot be read: {problem.strerror}") from None


def shortened(path: Path) -> str:
    """A path to show inside a message."""
    text = str(path)
    return text if len(text) <= 200 else f"{text[:100]}…{text[-60:]}"


def in_file(found: Iterable[PatternError | LimitError], file: str) -> list[PipelineError]:
    """Mistakes and warnings with their file."""
    return [PipelineError(one.code, one.message, one.span, one.hint, file) for one in found]


@contextmanager
def located(file: str | None) -> Iterator[None]:
    """A context in which mistakes in a text name its file, if it has one."""
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
