"""The options of languages whose names may refer to event types with other names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from tocsin.algebra.tokens.subscription import Interpretation
from tocsin.errors import InputError, did_you_mean
from tocsin.languages.phrases import READING


@dataclass(frozen=True, slots=True)
class NamesAndReading:
    """The table of names and the interpretation of a text.

    Args:
        names: the event types that names in the text refer to, as in `{"Event A": "A"}`.
        restart, strong_scope: see `tocsin.algebra.tokens.subscription.Interpretation`.
    """

    restart: str = READING.restart
    strong_scope: str = READING.strong_scope
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, options: Mapping[str, object]) -> NamesAndReading:
        """The options given by a mapping of names to values.

        >>> NamesAndReading.of({"names": {"Event A": "A"}}).names["Event A"]
        'A'
        """
        known = [one.name for one in fields(cls)]
        for name in options:
            if name not in known:
                hint = did_you_mean(name, known)
                raise InputError("unknown-option", f"there is no option {name!r}", hint=hint)
        interpretation = Interpretation.of(
            {"restart": READING.restart} | {name: value for name, value in options.items() if name != "names"}
        )
        return cls(interpretation.restart, interpretation.strong_scope, _table(options.get("names")))

    @property
    def interpretation(self) -> Interpretation:
        """The interpretation of the paper that is followed."""
        return Interpretation.of({"restart": self.restart, "strong_scope": self.strong_scope})


def _table(given: object) -> Mapping[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(part, str) for pair in given.items() for part in pair
    ):
        hint = "give a table of names, as in {'Event A': 'A'}"
        raise InputError("bad-option", f"the option names cannot be {given!r}", hint=hint)
    return dict(given)
