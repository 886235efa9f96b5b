"""How much work questions may be, counted in steps, so that a text is refused at the same place every time."""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.errors import LimitError

# A step is one kind of event tried at one place; a million of them take about a second.
MAX_STEPS = 5_000_000
# What it takes to build a state of a machine and to make the machine small, in steps.
STEPS_PER_STATE = 50


@dataclass
class Budget:
    """The steps that all questions that share it may take; they are refused when it is used up.

    >>> budget = Budget(10)
    >>> budget.spend(7)
    >>> budget.left
    3
    """

    steps: int = MAX_STEPS
    spent: int = 0

    @property
    def left(self) -> int:
        """How many steps can still be taken."""
        return max(0, self.steps - self.spent)

    def spend(self, steps: int) -> None:
        """Take steps; raises `LimitError` if there are not so many left."""
        self.spent += steps
        if self.spent >= self.steps:
            raise LimitError(
                "too-many-steps", f"the {self.steps:,} steps that questions may take are used up"
            )

    def share(self, among: int) -> Budget:
        """A part of what is left, for one of so many tasks; what it takes is to be spent here too."""
        return Budget(self.steps, self.steps - self.left // among)
