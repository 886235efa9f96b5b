"""Name the part of a checkpoint in errors about damage: nothing else distinguishes a damaged file from the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tocsin.errors import InputError
from tocsin.runtime.encoding import damaged

DAMAGED = "checkpoint-damaged"


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Prefix an error about damaged bytes with the name of the part that was read."""
    try:
        yield
    except InputError as problem:
        if problem.code != DAMAGED or what in problem.message:
            raise
        raise InputError(DAMAGED, f"{what}: {problem.message}", hint=problem.hint) from None


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Report values of an unexpected shape as damage, too, while a checkpoint is decoded."""
    with naming(what):
        try:
            yield
        except InputError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError) as problem:
            raise damaged(
                f"it has not the fields it should have ({type(problem).__name__}: {problem})"
            ) from None
