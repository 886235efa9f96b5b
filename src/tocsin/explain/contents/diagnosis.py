"""Findings about a text: the problem, its place, a trace of events that shows it, and a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from typing import Literal as OneOf

from tocsin.errors import TocsinError

Severity = OneOf["error", "warning"]
Trace = tuple[Mapping[str, Any], ...]  # events, each as its fields


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a text; `excerpt` is the line with the place underlined, `witness` the shortest trace."""

    code: str
    message: str
    severity: Severity = "warning"
    file: str | None = None
    line: int | None = None
    column: int | None = None
    place: tuple[int, int] | None = None
    excerpt: str | None = None
    hint: str | None = None
    witness: Trace | None = None

    @classmethod
    def of(cls, error: TocsinError, severity: Severity = "warning") -> Finding:
        """The finding that an error describes, with its file and its witness if it has them.

        >>> from tocsin.errors import PatternError, Span
        >>> print(Finding.of(PatternError("never-true", "no A satisfies this", Span("[A(k<1 AND k>2)]", 3, 14))))
        never-true: no A satisfies this (line 1, column 4)
        1 | [A(k<1 AND k>2)]
          |    ^^^^^^^^^^^
        """
        span = error.span
        line, column = (None, None) if span is None else span.line_column
        return cls(
            error.code,
            error.message,
            severity,
            getattr(error, "file", None),
            line,
            column,
            None if span is None else (span.start, span.end),
            None if span is None else span.underline(),
            error.hint,
            getattr(error, "witness", None),
        )

    def in_file(self, file: str) -> Finding:
        """The finding with the file that it is about."""
        return replace(self, file=file)

    def __str__(self) -> str:
        where = [] if self.file is None else [self.file]
        where += [] if self.line is None else [f"line {self.line}, column {self.column}"]
        lines = [f"{self.code}: {self.message}" + (f" ({', '.join(where)})" if where else "")]
        lines += [] if self.excerpt is None else [self.excerpt]
        lines += [f"hint: {self.hint}"] if self.hint else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings in the order of the text."""

    findings: tuple[Finding, ...]
