"""Languages of the event algebra for tests: the notation of the paper, with what a language of each group offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from support.pairs_notation import read_algebra
from tocsin.algebra.pairs.expression import Expression, Timeframe, walk
from tocsin.algebra.pairs.groups import Traits, operator_of
from tocsin.algebra.pairs.notation import show
from tocsin.algebra.pairs.profile import Profile
from tocsin.errors import PatternError
from tocsin.languages.language import Context, Language


@dataclass(frozen=True)
class NoOptions:
    @classmethod
    def of(cls, given: Any) -> NoOptions:
        return cls()


def language_of(name: str, traits: Traits, written: Traits | None = None) -> Language:
    """A language with these traits, whose notation can write no more than `written` says."""
    can = written or traits

    def parse(text: str, options: object, context: Context) -> Profile:
        return Profile(context.name, read_algebra(text))

    def printed(profile: Profile) -> str:
        for part in walk(profile.expression):
            refuse(part)
        return show(profile.expression)

    def refuse(part: Expression) -> None:
        operator = operator_of(part)
        if operator is not None and operator not in can.operators:
            raise PatternError("not-expressible", f"{name} has no {operator.value}", part.span)
        frame: Timeframe | None = getattr(part, "timeframe", None)
        if isinstance(frame, int) and not can.timeframe:
            raise PatternError("not-expressible", f"{name} has no timeframes", part.span)

    return Language(
        name=name, title=name.title(), family="pairs", parse=parse, show=printed,
        value=Profile, options=NoOptions, called="a profile", traits=traits,
    )  # fmt: skip


ALGEBRA = language_of(
    "algebra",
    Traits.of(
        "conjunction", "disjunction", "sequence", "negation", "simultaneity", "selection",
        timeframe=True, consumption=("keep", "delete", "delete_reapply"), duplicates=("first", "last", "all", "ith"),
    ),
)  # fmt: skip
