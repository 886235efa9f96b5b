"""A parsed text, with everything that its explanation and its report depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tocsin.events import Catalog
from tocsin.languages.language import Language


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text of a language, parsed.

    Args:
        value: what the text stands for.
        options: those of the language, checked.
        catalog: the event types that it was checked against.
        name: what to call a part that has no name of its own.
        file: the file that the text is from, if it is from one.
        linked: what `FamilyChecks.link` found out about it, such as its connections to others.
    """

    language: Language
    value: Any
    options: Any = None
    catalog: Catalog | None = None
    name: str = "pattern"
    file: str | None = None
    linked: Any = None

    @property
    def place(self) -> str:
        """The place of the text, for messages."""
        return self.name if self.file is None else self.file
