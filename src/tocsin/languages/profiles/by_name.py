"""The parts of a language that a description gives, by name: `"by_name:snoop.read"` is found through `__getattr__`."""

from __future__ import annotations

from functools import cache
from typing import Any

from tocsin.algebra.pairs.profile import Profile
from tocsin.languages.language import Context
from tocsin.languages.profiles.description import Description, description
from tocsin.languages.profiles.notation import Notation
from tocsin.languages.profiles.text import read, show


class OfDescription:
    """What a `Language` needs: how it is read and shown, its options, and its description."""

    def __init__(self, own: Description) -> None:
        self.notation = Notation(own)
        self.options = self.notation.options

    def read(self, text: str, options: Any, context: Context) -> Profile:
        """The profile of a text."""
        return read(self.notation, text, options, context)

    def show(self, profile: Profile) -> str:
        """The text of a profile."""
        return show(self.notation, profile)

    def described(self) -> Description:
        """The description."""
        return self.notation.own


@cache
def _of(name: str) -> OfDescription:
    return OfDescription(description(name))


def __getattr__(name: str) -> Any:
    language, dot, part = name.rpartition(".")
    if not dot:
        raise AttributeError(name)
    return getattr(_of(language), part)
