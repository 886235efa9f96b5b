"""What a test case is to the runner: each kind has a handler, which says what was expected and what came.

Spark is slow to start and quick to run, so a handler does not ask it. It says what has to be asked, and the runner asks for
many cases at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin.cases.questions import Question
from tocsin.errors import CaseError, TocsinError, did_you_mean

ENGINES = ("reference", "local", "spark", "stream")
ON_SPARK = ENGINES[2:]
USUAL_ENGINES = ENGINES[:3]  # a stream takes its time

Case = Mapping[str, Any]
Compared = tuple[object, object]  # expected, got


def _raised(error: TocsinError) -> Compared:
    raise error


@dataclass(frozen=True, slots=True)
class Asked:
    """What a case asks of Spark; what it makes of the answer, and of an error that comes instead."""

    question: Question
    compared: Callable[[Any], Compared]
    refused: Callable[[TocsinError], Compared] = _raised


Handler = Callable[[Case, str], Compared | Asked]  # the case and an engine


class Skip(Exception):  # noqa: N818  (not an error)
    """An engine makes no sense for this case; the text says why."""


def only_keys(mapping: object, known: Iterable[str], place: str) -> Mapping[str, Any]:
    """The mapping, if it has no key but the known ones: a key that nobody looks at would let a typo pass.

    >>> only_keys({"matchs": []}, ["matches"], "expect")
    Traceback (most recent call last):
    tocsin.errors.CaseError: unknown-key: expect has a key 'matchs' that means nothing here
    hint: did you mean 'matches'?
    """
    if not isinstance(mapping, Mapping):
        raise CaseError("bad-case", f"{place} must be a mapping, not {mapping!r}")
    for key in mapping:
        if key not in known:
            message = f"{place} has a key {key!r} that means nothing here"
            raise CaseError("unknown-key", message, hint=did_you_mean(str(key), known))
    return mapping
