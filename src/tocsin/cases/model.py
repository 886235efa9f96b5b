"""Test cases as the runner sees them: each kind has a handler, which returns the expected and the actual results.

Spark is slow to start and quick to run, so a handler does not call it. It returns a request, and the runner runs those of
many cases at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tocsin.errors import CaseError, TocsinError, did_you_mean

if TYPE_CHECKING:
    from tocsin.cases.parts import Part

ENGINES = ("reference", "local", "spark", "stream")
ON_SPARK = ENGINES[2:]
USUAL_ENGINES = ENGINES[:3]  # a stream takes a while

Case = Mapping[str, Any]
Compared = tuple[object, object]  # expected, got


def _raised(error: TocsinError) -> Compared:
    raise error


class Request(Protocol):
    """A request to an engine, as data, so that Spark can run many of them at once."""

    def part(self, number: int) -> Part:
        """The request as a part of a query; `number` is that of the case."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to Spark, and how the case evaluates the result, or an error instead of one."""

    request: Request
    compared: Callable[[Any], Compared]
    refused: Callable[[TocsinError], Compared] = _raised


Handler = Callable[[Case, str], Compared | Asked]  # the case and an engine


class Skip(Exception):  # noqa: N818  (not an error)
    """Raised when an engine does not apply to a case; the text says why."""


def only_keys(mapping: object, known: Iterable[str], place: str) -> Mapping[str, Any]:
    """The mapping, if it has only known keys: a key that is never checked would let a typo pass.

    >>> only_keys({"matchs": []}, ["matches"], "expect")
    Traceback (most recent call last):
    tocsin.errors.CaseError: unknown-key: expect has an unknown key 'matchs'
    hint: did you mean 'matches'?
    """
    if not isinstance(mapping, Mapping):
        raise CaseError("bad-case", f"{place} must be a mapping, not {mapping!r}")
    for key in mapping:
        if key not in known:
            message = f"{place} has an unknown key {key!r}"
            raise CaseError("unknown-key", message, hint=did_you_mean(str(key), known))
    return mapping
