"""Counters of what became of the events of a source."""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.errors import InputError


@dataclass(frozen=True, slots=True)
class Counters:
    """Counts of a source's events: read = used + irrelevant + dead + late + repeated; `limited` ones are irrelevant.

    Only a stream has late and repeated events.
    """

    read: int
    used: int
    irrelevant: int
    dead: int
    limited: int
    late: int = 0
    repeated: int = 0

    def checked(self, source: str) -> Counters:
        """Return these counters; raise an error if an event got lost between reading and detection."""
        if self.read != self.used + self.irrelevant + self.dead + self.late + self.repeated:
            others = (("late", self.late), ("repeated", self.repeated))
            aside = "".join(f", {count:,} {what}" for what, count in others if count)
            raise InputError(
                "counters",
                f"the events of {source} do not add up: read {self.read:,}, but {self.used:,} used{aside}, "
                f"{self.irrelevant:,} irrelevant and {self.dead:,} dead",
                hint="run it again, and make sure that the files do not change while they are read",
            )
        return self

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(a + b for a, b in zip(self.numbers, other.numbers, strict=True)))

    @property
    def numbers(self) -> tuple[int, int, int, int, int, int, int]:
        return self.read, self.used, self.irrelevant, self.dead, self.limited, self.late, self.repeated
