"""Programs of the completion family: their subscriptions become machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tocsin.algebra.completion.check import check
from tocsin.algebra.completion.expression import Program
from tocsin.analysis import findings, refuse_endless
from tocsin.automata.completion.draft import ecl_drafts
from tocsin.compile.family import Family, KnownEvents, NamedText, Sending, parsed
from tocsin.errors import PatternError, PatternErrors
from tocsin.events import Catalog


def read(texts: Sequence[NamedText], known: KnownEvents) -> list[Sending]:
    """The machines of programs, which share common parts.

    If the attributes are known, the programs may name no others.
    """
    programs: dict[str, Program] = {text.name: parsed(text) for text in texts}
    for program in programs.values():
        refuse_endless(program)
    if known.kinds is not None:
        errors = [error for program in programs.values() for error in check(program, known.kinds)]
        if errors:
            raise PatternErrors(errors)
    catalog = known.types or Catalog()
    above = [catalog.belongs_to(event_type.name) for event_type in catalog.types] or None
    drafts = ecl_drafts(programs, above)
    return [Sending(drafts, {name: _origin(name, programs) for name in drafts.meanings})]


def _origin(name: str, texts: Iterable[str]) -> str:
    """The name of a subscription without that of its text."""
    return next((name.removeprefix(f"{t}.") for t in texts if t and name.startswith(f"{t}.")), name)


def warnings(text: NamedText, known: KnownEvents) -> list[PatternError]:
    """Warnings from the analysis of a program."""
    return findings(parsed(text))


FAMILY = Family(read, warnings)
