"""Limits on the work of analyses, counted in steps, so that a text is always refused at the same point."""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.errors import LimitError

# A step is one kind of event tried at one place; a million of them take about a second.
MAX_STEPS = 5_000_000
# Cost of building a state of a machine and simplifying the machine, in steps.
STEPS_PER_STATE = 50


@dataclass
class Budget:
    """The steps that all analyses that share the budget may take; they are refused when it is used up.

    >>> budget = Budget(10)
    >>> budget.spend(7)
    >>> budget.left
    3
    """

    steps: int = MAX_STEPS
    spent: int = 0

    @property
    def left(self) -> int:
        """The number of steps left."""
        return max(0, self.steps - self.spent)

    def spend(self, steps: int) -> None:
        """Take steps; raises `LimitError` if fewer are left."""
        self.spent += steps
        if self.spent >= self.steps:
            raise LimitError(
                "too-many-steps", f"the {self.steps:,} steps that questions may take are used up"
            )

    def share(self, among: int) -> Budget:
        """An equal share of the remaining steps, for one of `among` tasks; its steps have to be spent here too."""
        return Budget(self.steps, self.steps - self.left // among)
