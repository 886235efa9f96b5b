"""A table of a pipeline file, read key by key: missing and wrong keys are noted, not raised.

So one run reports every mistake of a file. `finish` notes the keys nobody asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tocsin.errors import PipelineError, Span, did_you_mean
from tocsin.events import parse_duration
from tocsin.languages.lexis import MAX_DURATION, is_name, shortened
from tocsin.spark.pipeline.file.document import Document, Place
from tocsin.spark.pipeline.places import problem_of, whole

Choice = TypeVar("Choice", bound=str)
MAX_NUMBER = (1 << 31) - 1
MAX_NAME = 100  # bytes of the name of a source or a subscription, which folders and tables are called by


class Table:
    """One table of the file, and the list of mistakes shared by all its tables."""

    def __init__(
        self, document: Document, errors: list[PipelineError], values: Any, place: Place = ()
    ) -> None:
        self.document, self.errors, self.place = document, errors, place
        self.values: dict[str, Any] = values
        self.asked: set[str] = set()

    @property
    def title(self) -> str:
        """The header of the table, as in `[[source]]`."""
        name = ".".join(str(part) for part in self.place if isinstance(part, str))
        if self.place and isinstance(self.place[-1], int):
            return f"[[{name}]]" if len(self.place) == 2 else f"an entry of {name}"
        return f"[{name}]" if name else "the file"

    def note(
        self,
        code: str,
        message: str,
        key: str | int | None = None,
        hint: str | None = None,
        *,
        value: bool = False,
    ) -> None:
        """Note a mistake: at a key, at its value, or at the table itself."""
        place = self.place if key is None else (*self.place, key)
        self.note_at(code, message, self.document.span(place, value=value), hint)

    def note_at(self, code: str, message: str, span: Span | None, hint: str | None = None) -> None:
        self.errors.append(PipelineError(code, message, span, hint, self.document.file))

    def missing(self, key: str, hint: str | None = None) -> None:
        self.note("missing-key", f"{self.title} has no {key!r}", hint=hint)

    def text(self, key: str, *, required: bool = False, hint: str | None = None) -> str | None:
        """Return a text that is not empty."""
        value = self._get(key, str, "a text")
        if value is None and required and key not in self.values:
            self.missing(key, hint)
        if value is not None and not value.strip():
            self.note("bad-value", f"{key} is empty", key, hint, value=True)
            return None
        return None if value is None else str(value)

    def name(self, key: str, what: str) -> str | None:
        """Return a name that is valid in patterns and as a folder."""
        value = self.text(key, required=True)
        if value is not None and not is_name(value):
            hint = "letters, digits and _, and no digit first"
            self.note("bad-name", f"{shortened(value)!r} cannot be the name of {what}", key, hint, value=True)
            # The checks that follow look for folders of that name.
            return "".join(sign if sign.isprintable() else "_" for sign in value)
        elif value is not None and len(value.encode()) > MAX_NAME:
            message = f"the name of {what} has {len(value.encode()):,} bytes; the limit is {MAX_NAME}"
            self.note("bad-name", message, key, "folders get that name", value=True)
            return value[:MAX_NAME]
        return value

    def choice(self, key: str, choices: Sequence[Choice], default: Choice | None = None) -> Choice | None:
        """Return one of the given words."""
        value = self.text(key, required=default is None, hint="one of " + ", ".join(choices))
        if value is None:
            return default
        for known in choices:
            if value == known:
                return known
        hint = did_you_mean(value, choices, "one of " + ", ".join(choices))
        self.note("bad-value", f"{key} cannot be {value!r}", key, hint, value=True)
        return default

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Return a list of texts; a single text stands for a list of one."""
        value = self.values.get(key)
        if isinstance(value, str):
            single = self.text(key)
            return None if single is None else (single,)
        found = self._get(key, list, "a list of texts")
        if found is None:
            return None
        for index, item in enumerate(found):
            if not isinstance(item, str) or not item.strip():
                self.errors.append(
                    PipelineError(
                        "bad-type",
                        f"{key} holds {_shown(item)}, but must be a list of texts",
                        self.document.span((*self.place, key, index), value=True),
                        None,
                        self.document.file,
                    )
                )
                return None
        return tuple(found)

    def flag(self, key: str) -> bool | None:
        return self._get(key, bool, "true or false")  # type: ignore[no-any-return]

    def number(self, key: str, minimum: int) -> int | None:
        """Return a whole number that is not too small."""
        value = self._get(key, int, "a whole number")
        if value is not None and value < minimum:
            self.note("bad-value", f"{key} is less than {minimum}", key, value=True)
            return None
        if value is not None and value > MAX_NUMBER:
            self.note("bad-value", f"{key} is more than {MAX_NUMBER:,}", key, value=True)
            return None
        return None if value is None else int(value)

    def duration(self, key: str, *, required: bool = True, none: bool = False) -> int | None:
        """Return a duration in microseconds; it must be positive, unless zero is allowed."""
        value = self.text(key, required=required, hint="a duration such as 1min")
        if value is None:
            return None
        # Python refuses to parse very long numbers, and no duration needs more digits.
        microseconds = parse_duration(value) if len(value) <= 30 else None
        if microseconds is not None and microseconds > MAX_DURATION:
            hint = "at most some 36,000 years"
            self.note("bad-duration", f"{value} is too long", key, hint, value=True)
            return None
        if microseconds is None or (microseconds == 0 and not none):
            hint = "write 1min or 1.5h; units: ms, s, min, h, d"
            self.note("bad-duration", f"{shortened(value)!r} is not a duration", key, hint, value=True)
            return None
        return microseconds

    def table(self, key: str) -> Table | None:
        values = self._get(key, dict, "a table")
        return None if values is None else Table(self.document, self.errors, values, (*self.place, key))

    def tables(self, key: str) -> list[Table]:
        """Return the tables of a list: `[[key]]`, or `key = [{ … }]`."""
        found = self._get(key, list, f"a list of tables, as in [[{key}]]")
        made = []
        for index, values in enumerate(found or ()):
            if isinstance(values, dict):
                made.append(Table(self.document, self.errors, values, (*self.place, key, index)))
            else:
                self.note("bad-type", f"{key} holds {_shown(values)}, but must hold tables", key, value=True)
        return made

    def names(self) -> Iterable[str]:
        """Return every key, and mark all as read."""
        self.asked.update(self.values)
        return tuple(self.values)

    def finish(self) -> None:
        """Note unknown keys."""
        for key in self.values:
            if key not in self.asked:
                message = f"{self.title} has no key {key!r}"
                self.note("unknown-key", message, key, did_you_mean(key, self.asked))

    def _get(self, key: str, type: type, wanted: str) -> Any:
        self.asked.add(key)
        value = self.values.get(key)
        # A truth value is a number to Python, but not to the person who wrote the file.
        if value is not None and (
            not isinstance(value, type) or (isinstance(value, bool) and type is not bool)
        ):
            self.note("bad-type", f"{key} is {_shown(value)}, but must be {wanted}", key, value=True)
            return None
        return value


def _shown(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {value!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return f"the time {value}"


def resolved(table: Table, path: str, key: str = "path", *, wild: bool = False) -> str:
    """Return a path of the file as an absolute one, unless it has a scheme such as s3://; note impossible paths."""
    problem = problem_of(path, wild=wild)
    full = "" if problem else whole(path, Path(table.document.file).parent.absolute())
    problem = problem or problem_of(full, wild=wild)
    if problem is not None:
        table.note("bad-path", f"{shortened(path)!r} cannot be a path: {problem}", key, value=True)
        return ""
    return full
