"""Transition tables of the completion family: the next state and the actions for each state and kind of event.

A cell is computed by a *stepper* when it is first needed, so a machine with very many configurations costs no more than its
events require. A table that grows past its bound is rebuilt with only the states that are in use.

>>> cells = Cells(pickle.dumps(_Counter()))
>>> cells.cell(0, cells.kind(1)), cells.states
((1, 0), [0, 1])
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Protocol

import numpy as np

from tocsin.runtime.program import Array

# Actions: store the event in a register (KEEP: always, FIRST: unless it holds one), send something, clear a register.
KEEP, FIRST, EMIT, CLEAR = range(4)
MAX_CELLS = 2_000_000
Action = tuple[int, int, int]  # operation; register or emission; for EMIT the role of the event


class Stepper(Protocol):
    """The transition function of a machine. It travels as bytes, which a worker unpickles only if the table lacks a cell."""

    def start(self) -> Hashable:
        """The configuration before the first event."""

    def step(self, configuration: Hashable, answers: int) -> tuple[Hashable, tuple[Action, ...]]:
        """The configuration after an event with these predicate bits, and the actions."""


class Cells:
    """A table that is computed on demand. States, kinds and lists of actions are numbered as they come up."""

    def __init__(self, stepper: bytes) -> None:
        self._packed = stepper
        self.next = np.full((4, 4), -1, np.int32)
        self.lists = np.zeros((4, 4), np.int32)
        self.plain = _nothing_known((4, 4))
        self.offsets: list[int] = [0, 0]  # list 0 is empty
        self.actions: list[Action] = []
        self.states: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}
        self._kinds: dict[int, int] = {}
        self._answers: list[int] = []
        self._lists: dict[tuple[Action, ...], int] = {(): 0}
        self._arrays: tuple[Array, Array] | None = None
        self.state(self._stepper.start())

    @cached_property
    def _stepper(self) -> Stepper:
        stepper: Stepper = pickle.loads(self._packed)
        return stepper

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_stepper"}

    def state(self, configuration: Hashable) -> int:
        """The number of a configuration."""
        number = self._numbers.setdefault(configuration, len(self.states))
        if number == len(self.states):
            self.states.append(configuration)
            self._reserve()
        return number

    def kind(self, answers: int) -> int:
        """The number of the kind of events with these predicate bits."""
        number = self._kinds.setdefault(answers, len(self._answers))
        if number == len(self._answers):
            self._answers.append(answers)
            self._reserve()
        return number

    def cell(self, state: int, kind: int) -> tuple[int, int]:
        """The next state and the list of actions, computed if necessary."""
        if self.next[state, kind] < 0:
            after, actions = self._stepper.step(self.states[state], self._answers[kind])
            number = self._lists.setdefault(actions, len(self._lists))
            if number == len(self.offsets) - 1:
                self.actions += actions
                self.offsets.append(len(self.actions))
                self._arrays = None
            following = self.state(after)
            self.next[state, kind], self.lists[state, kind] = following, number
            if not actions:
                self.plain[state, kind] = following
        return int(self.next[state, kind]), int(self.lists[state, kind])

    @property
    def size(self) -> int:
        """The number of cells, computed or not."""
        return len(self.states) * max(1, len(self._answers))

    def fill(self, kinds: Iterable[int], limit: int) -> bool:
        """Compute all cells that events of these kinds can reach, unless that takes more than `limit` cells."""
        numbers = [self.kind(answers) for answers in kinds]
        for state, _ in enumerate(self.states):  # which grows during the loop
            for kind in numbers:
                # Every state that is found has a row of its own.
                if len(self.states) * len(numbers) > limit:
                    return False
                self.cell(state, kind)
        return True

    def action_lists(self) -> tuple[Array, Array]:
        """Where the lists of actions begin, and the actions, (actions, 3)."""
        if self._arrays is None:
            actions = np.array(self.actions, np.int64).reshape(-1, 3)
            self._arrays = np.array(self.offsets, np.int64), actions
        return self._arrays

    def _reserve(self) -> None:
        states, kinds = len(self.states), len(self._answers)
        if states <= self.next.shape[0] and kinds <= self.next.shape[1]:
            return
        shape = (max(2 * states, self.next.shape[0]), max(2 * kinds, self.next.shape[1]))
        old = self.next.shape
        grown_next, grown_lists = np.full(shape, -1, np.int32), np.zeros(shape, np.int32)
        grown_next[: old[0], : old[1]], grown_lists[: old[0], : old[1]] = self.next, self.lists
        plain = _nothing_known(shape)
        plain[: old[0], : old[1]] = self.plain[:, :-1]
        self.next, self.lists, self.plain = grown_next, grown_lists, plain


def _nothing_known(shape: tuple[int, int]) -> Array:
    """An empty table of plain next states, with one more column for events that leave every state unchanged."""
    plain = np.full((shape[0], shape[1] + 1), -1, np.int32)
    plain[:, -1] = np.arange(shape[0])
    return plain


class _Counter:
    """A stepper for the example above: it counts events of kind 1."""

    def start(self) -> Hashable:
        return 0

    def step(self, configuration: Hashable, answers: int) -> tuple[Hashable, tuple[Action, ...]]:
        assert isinstance(configuration, int)
        return configuration + answers, ()
