"""A file with one rule: what people need to know of it, its pattern, and its test cases.

    ---
    name: FailedThenPaid
    description: Three failed payments, then one that went through.
    severity: high
    tags: [payments, fraud]
    ---
    [Failed];[Failed];[Failed];[Paid]
    ---
    - events: [Failed @ 1s, Failed @ 2s, Failed @ 3s, Paid @ 4s]
      matches: [[1, 2, 3, 4]]

The lines `---` divide it: first YAML with the keys of `KEYS`, then the pattern in the language of the file's ending, then, if
there is a third line, test cases in YAML without a `pattern`. A file whose first line is not `---` is a pattern and nothing
else. Places of mistakes are places in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tocsin.errors import PipelineError, PipelineErrors, Span, did_you_mean
from tocsin.events import parse_duration
from tocsin.languages.attached import read_text
from tocsin.languages.lexis import is_name
from tocsin.languages.yaml_document import Document

KEYS = (
    *("name", "description", "severity", "tags", "key", "language"),
    *("matches", "take", "attributes", "options", "quiet"),
)
_RULER = re.compile(r"^---[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a rule, which its matches carry."""

    description: str | None = None
    severity: str | None = None
    tags: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Metadata()


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A file with one rule. `settings` are the keys of a subscription that it gives, checked for their types only."""

    file: str
    whole: str
    pattern: tuple[int, int]  # where it begins and ends in the whole text
    name: str | None = None
    metadata: Metadata = Metadata()
    settings: Mapping[str, Any] = field(default_factory=dict)
    cases: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The pattern."""
        return self.whole[slice(*self.pattern)]

    @property
    def padded(self) -> str:
        """The pattern at its place: what stands above it is blank."""
        start, end = self.pattern
        return re.sub(r"[^\n]", " ", self.whole[:start]) + self.whole[start:end]

    @property
    def title(self) -> str:
        """The name of the rule; without one, the name of its file as a name that patterns can use."""
        return self.name or re.sub(r"^(?=\d)|\W", "_", Path(self.file).stem)

    def placed(self, span: Span | None) -> Span | None:
        """A span of the pattern as a span of the file."""
        if span is None or span.text != self.text:
            return span
        start, _ = self.pattern
        return Span(self.whole, start + span.start, start + span.end)


def read_rule(path: Path) -> RuleFile:
    """The rule in a file; raises `PipelineErrors` with all mistakes above its pattern."""
    return split_rule(str(path), read_text(path).replace("\r\n", "\n"))


def split_rule(file: str, whole: str) -> RuleFile:
    """The rule in the text of a file.

    >>> rule = split_rule("fire.tocsin", "---\\nseverity: high\\n---\\n[Smoke];[Heat]\\n")
    >>> rule.title, rule.metadata.severity, rule.text
    ('fire', 'high', '[Smoke];[Heat]\\n')
    """
    rulers = [(found.start(), min(found.end() + 1, len(whole))) for found in _RULER.finditer(whole)]
    if not rulers or rulers[0][0] != 0:
        return RuleFile(file, whole, (0, len(whole)))
    if len(rulers) == 1:
        hint = "end what stands above the pattern with another line ---"
        raise PipelineErrors(
            [PipelineError("bad-rule-file", "there is no pattern", Span(whole, 0, 3), hint, file)]
        )
    (_, start), (end, pattern), *more = rulers
    pattern_end = more[0][0] if more else len(whole)
    cases = (more[0][1], len(whole)) if more else None
    found = _Head(Document(file, whole, part=(start, end), located=True)).read()
    return RuleFile(file, whole, (pattern, pattern_end), *found, cases)


class _Head:
    """Read the header above a pattern; mistakes are collected, so that all are reported."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._errors: list[PipelineError] = []
        nodes = document.nodes()
        self._fields = document.fields(nodes[0]) if nodes else {}

    def read(self) -> tuple[str | None, Metadata, dict[str, Any]]:
        for key, (node, _) in self._fields.items():
            if key not in KEYS:
                self._note(node, f"a rule has no key {key!r}", did_you_mean(key, KEYS), "unknown-key")
        name = self._text("name")
        if name is not None and not is_name(name):
            hint = "letters, digits and _, and no digit first"
            self._note(self._fields["name"][1], f"{name!r} cannot be the name of a rule", hint, "bad-name")
        metadata = Metadata(self._text("description"), self._text("severity"), self._texts("tags") or ())
        quiet = self._text("quiet")
        if quiet is not None and not parse_duration(quiet):
            hint = "write 1min or 1.5h; units: ms, s, min, h, d"
            self._note(self._fields["quiet"][1], f"{quiet!r} is not a duration", hint, "bad-duration")
        settings: dict[str, Any] = {
            **{key: self._text(key) for key in ("language", "matches", "take")},
            **{key: self._texts(key) for key in ("key", "attributes")},
            "options": self._mapping("options"),
            "quiet": quiet,
        }
        if self._errors:
            raise PipelineErrors(self._errors)
        return name, metadata, {key: value for key, value in settings.items() if value is not None}

    def _note(self, node: yaml.Node, message: str, hint: str | None, code: str = "bad-type") -> None:
        problem = self._document.problem(node, message, hint, code)
        assert isinstance(problem, PipelineError)
        self._errors.append(problem)

    def _value(self, key: str) -> Any:
        return self._document.value(self._fields[key][1]) if key in self._fields else None

    def _text(self, key: str) -> str | None:
        value = self._value(key)
        if key not in self._fields or (isinstance(value, str) and value.strip()):
            return value if value is None else str(value).strip()
        self._note(self._fields[key][1], f"{key} must be a text", "put it in quotes")
        return None

    def _texts(self, key: str) -> tuple[str, ...] | None:
        value = self._value(key)
        if value is None and key not in self._fields:
            return None
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(one, str) and one for one in listed):
            return tuple(listed)
        self._note(self._fields[key][1], f"{key} must be a list of texts", f"write {key}: [one, another]")
        return None

    def _mapping(self, key: str) -> dict[str, Any] | None:
        value = self._value(key)
        if key not in self._fields or isinstance(value, dict):
            return value  # type: ignore[no-any-return]
        self._note(self._fields[key][1], f"{key} must be a mapping", f"write {key}: {{restart: always}}")
        return None
