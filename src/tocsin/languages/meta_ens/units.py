"""The options of the notation: what its clock is, and the unit of times that have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tocsin.algebra.pairs.profile import Interpretation
from tocsin.errors import InputError
from tocsin.events import MICROSECONDS, UNIT_WORDS


@dataclass(frozen=True, slots=True)
class Units(Interpretation):
    """The unit of a timeframe such as `_5`, beside the options of the family."""

    unit: str = "s"

    @classmethod
    def of(cls, asked: Mapping[str, object]) -> Units:
        """The options given by a mapping of names to values."""
        unit = asked.get("unit", "s")
        if unit not in UNIT_WORDS:
            raise InputError(
                "bad-option", f"the option unit cannot be {unit!r}", hint="one of " + ", ".join(MICROSECONDS)
            )
        shared = Interpretation.of({name: value for name, value in asked.items() if name != "unit"})
        return cls(shared.ticks, UNIT_WORDS[str(unit)])
