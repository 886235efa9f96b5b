"""Every error that Tocsin raises on purpose: what is wrong, where in the user's text, and what to do next.

>>> span = Span("FILTER s[prise > 100]", 9, 14)
>>> print(PatternError("unknown-attribute", "SELL has no attribute 'prise'", span, "did you mean 'price'?"))
unknown-attribute: SELL has no attribute 'prise' (line 1, column 10)
1 | FILTER s[prise > 100]
  |          ^^^^^
hint: did you mean 'price'?
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SHOWN = 100  # characters of a line


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a user's text, from `start` up to but not including `end`."""

    text: str
    start: int
    end: int

    @property
    def line_column(self) -> tuple[int, int]:
        """Line and column of the first character, both counted from 1."""
        before = self.text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1

    def underline(self) -> str:
        """The line the span starts on, with carets under the span; a long line is cut to the part around it.

        >>> print(Span("[A];[B", 4, 6).underline())
        1 | [A];[B
          |     ^^
        """
        line, column = self.line_column
        first = self.start - (column - 1)
        stop = self.text.find("\n", first)
        whole = self.text[first : len(self.text) if stop < 0 else stop]
        at, length = column - 1, min(self.end, first + len(whole)) - self.start
        margin = max(0, SHOWN - length) // 2
        left = max(0, min(at - margin, len(whole) - SHOWN))
        shown, before = whole[left : left + SHOWN], "…" if left else ""
        after = "…" if left + SHOWN < len(whole) else ""
        width = max(1, min(length, left + SHOWN - at))
        # Tabs stay tabs in the padding, so that the carets line up in any terminal.
        padding = "".join("\t" if c == "\t" else " " for c in before + whole[left:at])
        label = str(line)
        return f"{label} | {before}{shown}{after}\n{' ' * len(label)} | {padding}{'^' * width}"

    def through(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(self.text, min(self.start, other.start), max(self.end, other.end))


class TocsinError(Exception):
    """The root of every error Tocsin raises on purpose."""

    def __init__(self, code: str, message: str, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(code, message, span, hint)
        self.code = code
        self.message = message
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        if place := self._place():
            lines[0] += f" ({place})"
        if self.span is not None:
            lines.append(self.span.underline())
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def _place(self) -> str:
        """The position of the mistake as text; empty if it is not known."""
        if self.span is None:
            return ""
        line, column = self.span.line_column
        return f"line {line}, column {column}"


class PatternError(TocsinError, ValueError):
    """One mistake in the text of a pattern."""


class PatternErrors(TocsinError, ValueError):
    """All mistakes of one text, in the order in which they appear."""

    def __init__(self, errors: Sequence[PatternError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda e: (e.span is None, e.span.start if e.span else 0)))
        first = self.errors[0]
        super().__init__(first.code, first.message, first.span, first.hint)

    def __str__(self) -> str:
        return "\n\n".join(str(error) for error in self.errors)


class SetupError(TocsinError, RuntimeError):
    """The machine lacks something Tocsin needs, such as Java."""


class BrokerError(TocsinError, RuntimeError):
    """A message broker is unreachable, refuses the login, or no longer holds the requested messages."""


class InputError(TocsinError, ValueError):
    """The events do not fit the pattern: a missing column, a wrong type, a time that cannot be read."""


class PipelineError(TocsinError, ValueError):
    """A mistake in a pipeline file, or in a pattern file that it names; `file` is the path.

    >>> print(PipelineError("unknown-key", "[[source]] has no key 'pth'", Span("pth = 1", 0, 3), file="job.toml"))
    unknown-key: [[source]] has no key 'pth' (job.toml, line 1, column 1)
    1 | pth = 1
      | ^^^
    """

    def __init__(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        hint: str | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(code, message, span, hint)
        self.file = file

    def _place(self) -> str:
        return ", ".join(part for part in (self.file, super()._place()) if part)


class PipelineErrors(PipelineError):
    """All mistakes of one pipeline file, in the order in which they appear."""

    def __init__(self, errors: Sequence[PipelineError]) -> None:
        self.errors = tuple(
            sorted(errors, key=lambda e: (e.span is None, e.file or "", e.span.start if e.span else 0))
        )
        first = self.errors[0]
        super().__init__(first.code, first.message, first.span, first.hint, first.file)

    def __str__(self) -> str:
        return "\n\n".join(str(error) for error in self.errors)


class CaseError(TocsinError, ValueError):
    """A mistake in a file of test cases."""


class LimitError(TocsinError, RuntimeError):
    """A pattern grew past a stated bound."""


class StreamError(TocsinError, RuntimeError):
    """A running stream stopped because of an event, a sink or Spark; its pipeline file was valid when it started."""


class ServiceError(TocsinError, RuntimeError):
    """Some subscribers failed during a delivery; all the others were served.

    >>> print(ServiceError([("the callback warn of the subscription 'Cold'", ValueError("no line"))]))
    subscriber-failed: the callback warn of the subscription 'Cold' failed: ValueError: no line
    hint: every other subscriber was served; `failures` has the errors
    """

    def __init__(self, failures: Sequence[tuple[str, Exception]]) -> None:
        self.failures = tuple(failures)
        message = "; ".join(f"{who} failed: {type(error).__name__}: {error}" for who, error in failures)
        hint = "every other subscriber was served; `failures` has the errors"
        super().__init__("subscriber-failed", message, None, hint)


class TocsinWarning(UserWarning):
    """Something that is allowed, and is probably not what was meant.

    >>> print(TocsinWarning("never-occurs", "no event is of the type 'A'", "did you mean 'B'?"))
    never-occurs: no event is of the type 'A'
    hint: did you mean 'B'?
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(code, message, hint)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f"\nhint: {self.hint}" if self.hint else "")


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint that names the closest known spelling, or `otherwise` with the choices.

    >>> did_you_mean("tmep", ["temp", "location"])
    "did you mean 'temp'?"
    """
    choices = sorted(set(known))
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    if otherwise:
        return otherwise
    return "known: " + ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "") if choices else ""


def counted(number: int, one: str, many: str = "") -> str:
    """A number of things, as in `1 match` and `2 matches`; by default several end in `s`.

    >>> counted(1, "event"), counted(0, "event"), counted(1234, "match", "matches")
    ('1 event', '0 events', '1,234 matches')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
