"""What a language can write, found by writing it: which evaluations of an operator, and with which of its options.

A description names the options of a language, the words that each takes, and which of them is a duration. Every choice is a
`Manner` of writing; a duration is left at its default, or is that of a timeframe of the profile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Protocol

from tocsin.algebra.pairs.expression import Composition, Expression, Framed, Primitive, walk
from tocsin.algebra.pairs.groups import EVALUATIONS
from tocsin.algebra.pairs.parameters import Evaluation, Views
from tocsin.algebra.pairs.profile import Profile
from tocsin.errors import TocsinError
from tocsin.events import format_duration
from tocsin.languages.language import Language
from tocsin.translate.offers import DESCRIPTION

Manner = Mapping[str, str]
PICK_WORDS = ("first", "last", "all")
MOST_MANNERS = 60


class Option(Protocol):
    """An option as a description has it."""

    name: str
    kind: str
    values: Mapping[str, object]


def manners(own: Language, expression: Expression) -> Iterator[Manner]:
    """The choices of options that make a difference to operators, the default ones first."""
    options: Sequence[Option] = own.part(DESCRIPTION)().options if DESCRIPTION in own.parts else ()
    frames = {
        frame for part in walk(expression) if isinstance(frame := getattr(part, "timeframe", None), int)
    }
    choices: list[list[tuple[str, str] | None]] = []
    for option in options:
        words = {"word": tuple(option.values), "pick": PICK_WORDS}.get(option.kind, ())
        if option.kind == "duration":
            words = tuple(format_duration(frame) for frame in sorted(frames))
        choices.append([None, *((option.name, word) for word in words)])
    for number, chosen in enumerate(product(*choices)):
        if number == MOST_MANNERS:
            return
        yield dict(one for one in chosen if one is not None)


@dataclass
class Writer:
    """Writes profiles of a language in one manner. It remembers which evaluations can be written."""

    own: Language
    manner: Manner
    known: dict[tuple[type, object], tuple[Evaluation, ...]] = field(default_factory=dict)

    def evaluations(self, expression: Composition) -> Sequence[Evaluation]:
        """The evaluations of an operator that can be written; that of the expression first, if it can."""
        sort = (type(expression), expression.timeframe)
        if sort not in self.known:
            self.known[sort] = tuple(how for how in EVALUATIONS if self._can_write(expression, how))
        asked = () if not self._can_write(expression, expression.how) else (expression.how,)
        return (*asked, *self.known[sort])

    def _can_write(self, expression: Composition, how: Evaluation) -> bool:
        operands = tuple(Primitive(f"e{number}") for number in range(len(expression.operands)))
        fits = isinstance(how, Views) or len(how.modes) == len(operands)
        frames = dict.fromkeys((expression.timeframe, None))
        return fits and any(
            self._writes(replace(expression, operands=operands, timeframe=frame, how=how)) for frame in frames
        )

    def _writes(self, expression: Expression) -> bool:
        try:
            self.text(Profile("profile", expression))
        except TocsinError:
            return False
        return True

    def text(self, profile: Profile) -> str:
        """A profile in the language; raises `PatternError` if it cannot be written."""
        bare = profile.expression
        if isinstance(bare, Framed):  # says nothing of an event
            bare = bare.body
        return self.own.text_of(replace(profile, expression=bare, parameters=self.manner))
