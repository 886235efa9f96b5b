"""A TOML file with the position of every key: `tomllib` reads values, but not where they are.

>>> document = Document("job.toml", "[[source]]\\nname = 'doors'\\nlimit = [{ every = '1min' }]\\n")
>>> document.span(("source", 0, "limit", 0, "every")).line_column
(3, 12)
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tocsin.errors import InputError, PipelineError, Span
from tocsin.languages.attached import read_text

Place = tuple[str | int, ...]

_BLANK = re.compile(r"(?:\s+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|' + r"'''.*?'{3,5}" + r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'", re.DOTALL
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")
# What the limits below are counted in: strings and comments, as a whole, words, and single signs.
_TOKEN = re.compile(_STRING.pattern + r"|#[^\n]*|[\w+-]+|\n|[^\s\w]", re.DOTALL)
_DIGITS = re.compile(r"[+-]?(?:0[xob])?[0-9a-fA-F_]*[0-9]", re.ASCII)
MAX_NESTING = 50  # brackets inside each other
MAX_PARTS = 50  # of a key: a.b.c has three
MAX_DIGITS = 64  # of a number
_AT = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")


@dataclass(frozen=True)
class Document:
    """The text of a TOML file, and the positions of its keys and values."""

    file: str
    text: str
    _keys: dict[Place, Span] = field(init=False, repr=False, compare=False)
    _values: dict[Place, Span] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        scanner = _Scanner(self.text)
        scanner.document()
        object.__setattr__(self, "_keys", scanner.keys)
        object.__setattr__(self, "_values", scanner.values)

    def span(self, place: Place, *, value: bool = False) -> Span | None:
        """Return the span of a key or of its value; for a missing key, that of its table."""
        if value and place in self._values:
            return self._values[place]
        while place and place not in self._keys:
            place = place[:-1]
        return self._keys.get(place)

    def inside(self, place: Place, text: str, span: Span | None) -> Span | None:
        """Map a span within the text value of a key to a span of the file.

        None if the text is not in the file as it is, because it was written with escapes.
        """
        value = self._values.get(place)
        at = -1 if value is None else self.text.find(text, value.start, value.end)
        if at < 0 or span is None:
            return None
        return Span(self.text, at + span.start, at + span.end)


def read_document(path: Path) -> tuple[Document, dict[str, Any]]:
    """Return the file and its values; raise `PipelineError` if it is not valid TOML."""
    file = str(path)
    try:
        text = read_text(path)
    except InputError as problem:
        raise PipelineError(problem.code, problem.message) from None
    _check_extent(file, text)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _syntax_error(file, text, str(problem)) from None
    return Document(file, text), values


def _check_extent(file: str, text: str) -> None:
    """Refuse input that would take `tomllib` for ever: deep nesting, keys with very many parts, very long numbers."""
    depth = parts = 0
    for found in _TOKEN.finditer(text):
        sign = found[0]
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth = max(0, depth - 1)
        elif sign == ".":
            parts += 1
        elif sign in "\n=,":
            parts = 0
        for much, limit, code, what in (
            (depth, MAX_NESTING, "too-deep", "more than {:,} brackets inside each other"),
            (parts, MAX_PARTS, "too-long", "a key has more than {:,} parts"),
            (
                len(sign) if _DIGITS.fullmatch(sign) else 0,
                MAX_DIGITS,
                "bad-number",
                "a number has more than {:,} digits",
            ),
        ):
            if much > limit:
                span = Span(text, found.start(), min(found.end(), found.start() + 40))
                raise PipelineError(code, what.format(limit), span, None, file)


def _syntax_error(file: str, text: str, said: str) -> PipelineError:
    match = _AT.fullmatch(said)
    span = None
    if match is not None:
        lines = text.split("\n")
        at = sum(len(line) + 1 for line in lines[: int(match[2]) - 1]) + int(match[3]) - 1
        span = Span(text, at, at + 1)
    message = match[1] if match else said.removesuffix(" (at end of document)")
    return PipelineError("toml-syntax", message[:1].lower() + message[1:], span, "see https://toml.io", file)


class _Scanner:
    """Walks over a text that `tomllib` accepts, and records the position of each key and value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.keys: dict[Place, Span] = {}
        self.values: dict[Place, Span] = {}
        self._counts: dict[Place, int] = {}  # how many tables an array of tables has so far

    def document(self) -> None:
        table: Place = ()
        while self._skip(_BLANK) < len(self.text):
            start = self.at
            if self._take("[["):
                place = self._place(self._key())
                index = self._counts[place] = self._counts.get(place, -1) + 1
                table = (*place, index)
                self._take("]]")
                self.keys.setdefault(place, Span(self.text, start, self.at))
                self.keys[table] = Span(self.text, start, self.at)
            elif self._take("["):
                table = self._place(self._key())
                self._take("]")
                self._note(table, start, self.at)
            else:
                self._pair(table)

    def _place(self, names: list[str]) -> Place:
        """Return the path of a header; inside an array of tables, it refers to the last one."""
        place: Place = ()
        for name in names:
            if place in self._counts:
                place = (*place, self._counts[place])
            place = (*place, name)
        return place

    def _note(self, place: Place, start: int, end: int) -> None:
        """Record the position of a key, and of the tables it implies that were not named before."""
        for length in range(1, len(place) + 1):
            self.keys.setdefault(place[:length], Span(self.text, start, end))
        self.keys[place] = Span(self.text, start, end)

    def _pair(self, table: Place) -> None:
        start = self.at
        place = (*table, *self._key())
        self._note(place, start, len(self.text[start : self.at].rstrip()) + start)
        self._take("=")
        self._skip(_SPACE)
        self._value(place)

    def _key(self) -> list[str]:
        names: list[str] = []
        while True:
            self._skip(_SPACE)
            if quoted := _STRING.match(self.text, self.at):
                names.append(tomllib.loads(f"x = {quoted[0]}")["x"])
                self.at = quoted.end()
            elif bare := _BARE_KEY.match(self.text, self.at):
                names.append(bare[0])
                self.at = bare.end()
            self._skip(_SPACE)
            if not self._take("."):
                return names

    def _value(self, place: Place) -> None:
        start = self.at
        if self._take("["):
            index = 0
            while self._skip(_BLANK) < len(self.text) and not self._take("]"):
                self._value((*place, index))
                index += 1
                self._skip(_BLANK)
                self._take(",")
        elif self._take("{"):
            while self._skip(_BLANK) < len(self.text) and not self._take("}"):
                self._pair(place)
                self._skip(_BLANK)
                self._take(",")
        else:
            found = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            assert found is not None  # a scalar may be empty, which ends the loop that asked
            self.at = max(found.end(), self.at + 1)
        self.values[place] = Span(self.text, start, len(self.text[start : self.at].rstrip()) + start)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _take(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True
