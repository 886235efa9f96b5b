"""What a language of the event algebra offers, as far as it says.

A language says it in its `traits`, or in the description that it is made of. One that says nothing is taken to have all there
is: what its notation cannot write after all shows when it is written.
"""

from __future__ import annotations

from typing import Protocol

from tocsin.algebra.pairs.groups import Duplicates, Group, Operator, Traits
from tocsin.algebra.pairs.parameters import Consumption
from tocsin.errors import InputError
from tocsin.languages.language import Language
from tocsin.languages.registry import languages

FAMILY = "pairs"
DESCRIPTION = "description"  # the part of a language that gives it
EVERYTHING = Traits.of(
    *Operator,
    timeframe=True,
    consumption=(Consumption.KEEP, Consumption.DELETE, Consumption.REAPPLY),
    duplicates=Duplicates,
)
# The words of Table 13 and of section 3 for what is called otherwise here.
_WORDS = {
    "delete & reapply": "delete_reapply",
    "nth": "ith",
    "detailed": "ith",
    "n..m": "ith",
    "n to m": "ith",
}


class Features(Protocol):
    """What a column of the survey says of a language."""

    operators: tuple[str, ...]
    timeframe: bool
    consumption: tuple[str, ...]
    duplicates: tuple[str, ...]


class Described(Protocol):
    """The description of a language: what section 3 says of it, and its group by Table 14."""

    @property
    def text(self) -> Features:
        """What the text says."""

    @property
    def group(self) -> str:
        """The group that Table 14 puts it into."""


def offers(own: Language) -> Traits:
    """What a language offers; an `InputError` if it is not of the event algebra."""
    if own.offered is not None:
        return own.offered
    if own.family != FAMILY:
        known = ", ".join(one.name for one in languages() if one.family == FAMILY) or "none is installed"
        hint = f"profiles are translated between languages of the event algebra: {known}"
        raise InputError("not-translated", f"{own.title} is not a language of the event algebra", hint=hint)
    return traits_of(own.part(DESCRIPTION)()) if DESCRIPTION in own.parts else EVERYTHING


def traits_of(description: Described) -> Traits:
    """The traits of a language from its description. What is not said of duplicates and consumption is not known."""
    text, group = description.text, description.group
    return Traits(
        Group[group] if group in Group.__members__ else None,
        frozenset(map(Operator, text.operators)),
        text.timeframe,
        frozenset(Consumption(_WORDS.get(one, one)) for one in text.consumption) or None,
        frozenset(Duplicates(_WORDS.get(one, one)) for one in text.duplicates) or None,
    )
