"""What a test case is to the runner: each kind has a handler, which says what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tocsin.errors import CaseError, did_you_mean

ENGINES = ("reference", "local", "spark", "stream")
USUAL_ENGINES = ENGINES[:3]  # a stream takes many seconds a case

Case = Mapping[str, Any]
Handler = Callable[[Case, str], tuple[object, object]]  # the case and an engine -> expected, got


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
