"""How a family compiles texts: its inputs, its results, and the functions between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tocsin.algebra.tokens.selection import Selection
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.pairs.compile import Wanted
from tocsin.automata.transduce import Drafts
from tocsin.errors import PatternError
from tocsin.events import Catalog, EventType
from tocsin.languages.language import Language


@dataclass(frozen=True, slots=True)
class NamedText:
    """A text, or its parsed value, with its name and the options of its language, as a mapping or a value."""

    language: Language
    name: str
    given: Any
    options: Any = None
    selection: Selection | None = None  # which matches are wanted unless the text says so


@dataclass(frozen=True, slots=True)
class KnownEvents:
    """Advance knowledge of the events: the kinds of their attributes, and their types; None if unknown.

    `points`: no event has a duration.
    """

    kinds: Mapping[str, str] | None = None
    catalog: Catalog | None = None
    points: bool = False

    @property
    def types(self) -> Catalog | None:
        """The catalog to read patterns with; without one, any type may have the known attributes."""
        if self.catalog is None and self.kinds is not None:
            return Catalog(common=self.kinds)
        return self.catalog


@dataclass(frozen=True, slots=True)
class Sending:
    """A text that sends events, ready to become part of a plan.

    Args:
        origins: for each name that rows are reported under, the source of the events it sends.
        declares: the event types that it declares itself.
    """

    drafts: Drafts
    origins: Mapping[str, str]
    declares: tuple[EventType, ...] = ()


Meaning = Subscription | Sending | Wanted


def unlinked(texts: Sequence[NamedText], more_to_come: bool) -> Sequence[NamedText]:
    """The texts unchanged, for a family whose texts do not depend on each other."""
    return texts


@dataclass(frozen=True, slots=True)
class Family:
    """How the texts of a family are compiled.

    Args:
        read: the meaning of texts for the known events; raises `PatternErrors` with all mistakes. Texts that are read
            together may share work, and then have one meaning.
        warnings: warnings about a text that is not wrong.
        check_alone: refuses a text whose query may have options that are not known here; by default what `read` refuses.
        link: the texts with what they need from each other, as where one file connects several. It is passed whether more
            texts may come later, as rules do.
    """

    read: Callable[[Sequence[NamedText], KnownEvents], Sequence[Meaning]]
    warnings: Callable[[NamedText, KnownEvents], Sequence[PatternError]]
    link: Callable[[Sequence[NamedText], bool], Sequence[NamedText]] = unlinked
    check_alone: Callable[[NamedText, KnownEvents], None] | None = None

    def check(self, text: NamedText, known: KnownEvents) -> None:
        """Refuse a text that no query can use, whatever its options; raises `PatternErrors` with all mistakes."""
        if self.check_alone is not None:
            self.check_alone(text, known)
        else:
            self.read([text], known)


def parsed(text: NamedText) -> Any:
    """The parsed value of a text, in a language that can be parsed without knowing the events."""
    if isinstance(text.given, str):
        return text.language.read(text.given, text.options)
    return text.language.accept(text.given)
