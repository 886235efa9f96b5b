"""Correlators of a system as compiled programs; their states are numbers, and every step is computed once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from tocsin.algebra.correlation.expression import Correlation, Interpretation, used
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.correlation.program import Program, compile_correlation
from tocsin.automata.correlation.run import advance, start
from tocsin.automata.correlation.state import State, configuration_of, state_of


@dataclass
class _Compiled:
    """A correlation with the configurations that have been reached, by number."""

    program: Program
    states: list[State] = field(default_factory=list)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    steps: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)

    def number(self, state: State) -> int:
        configuration = configuration_of(state)
        found = self.numbers.setdefault(configuration, len(self.states))
        if found == len(self.states):
            self.states.append(state_of(configuration))
        return found

    def take(self, state: int, event: str) -> tuple[int, int]:
        known = self.steps.get((state, event))
        if known is None:
            after, _, pushed = advance(self.program, self.states[state], Arrival(event))
            sent = sum(all(name in one.seen for name in used(one.statement)) for one in pushed)
            known = self.steps[state, event] = (self.number(after), sent)
        return known


class Compiled:
    """The correlators of a system, compiled (see `algebra.system.behaviour`)."""

    def __init__(
        self, correlations: Mapping[str, Correlation], interpretation: Interpretation = Interpretation()
    ) -> None:
        self._found = {
            name: _Compiled(compile_correlation(one, interpretation)) for name, one in correlations.items()
        }

    def start(self, name: str) -> Hashable:
        """The number of the first state."""
        found = self._found[name]
        return found.number(start(found.program))

    def take(self, name: str, state: Hashable, event: str) -> tuple[Hashable, int]:
        """The number of the state after an event, and how many events are sent."""
        assert isinstance(state, int)
        return self._found[name].take(state, event)

    def off(self, name: str, state: Hashable) -> frozenset[str]:
        """The labels that are switched off."""
        assert isinstance(state, int)
        found = self._found[name]
        return frozenset(found.program.label_names(found.states[state].off))
