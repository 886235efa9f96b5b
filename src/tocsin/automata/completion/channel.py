"""An event channel in one process: consumers register machines, suppliers push events, consumers get outputs.

Paper: 000, section 1: consumers "register with the RTEC with more complex subscriptions"; expressions "can be
changed more easily at runtime".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine
from tocsin.algebra.completion.output import Emitted, value_of
from tocsin.automata.completion.ask import answers
from tocsin.automata.completion.compile import Compiled, State, compile_machine, feed, start
from tocsin.automata.completion.passes.compose import compose
from tocsin.errors import InputError, did_you_mean


@dataclass
class _Group:
    """Subscriptions that were registered together and share common work."""

    compiled: Compiled
    state: State
    consumers: set[str]


class Channel:
    """Delivers to each consumer the outputs of its machine.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Push, Repeat
    >>> from tocsin.algebra.completion.output import Constant
    >>> from tocsin.automata.completion.construct import construct
    >>> every = construct(Repeat(Push(Constant("x"), Predicate(TRUE))))
    >>> channel = Channel({"S": every, "T": every})
    >>> channel.push({"type": "a"})
    [('S', 'x'), ('T', 'x')]
    """

    def __init__(self, machines: Mapping[str, Machine] | None = None) -> None:
        self._groups: list[_Group] = []
        if machines:
            self._groups.append(_group(machines))

    @property
    def consumers(self) -> tuple[str, ...]:
        """The registered consumers."""
        return tuple(sorted(name for group in self._groups for name in group.consumers))

    def register(self, consumer: str, machine: Machine) -> None:
        """Add a consumer; its machine starts with the next event."""
        if consumer in self.consumers:
            raise InputError("duplicate-name", f"there is already a consumer {consumer!r}")
        self._groups.append(_group({consumer: machine}))

    def replace(self, consumer: str, machine: Machine) -> None:
        """Give a consumer another machine, from the next event on; other consumers are not affected."""
        new = _group({consumer: machine})  # first, so that a machine that is refused changes nothing
        self.remove(consumer)
        self._groups.append(new)

    def remove(self, consumer: str) -> None:
        """Remove a consumer."""
        if consumer not in self.consumers:
            hint = did_you_mean(consumer, self.consumers)
            raise InputError("unknown-consumer", f"there is no consumer {consumer!r}", hint=hint)
        for group in self._groups:
            group.consumers.discard(consumer)
        self._groups = [group for group in self._groups if group.consumers]

    def push(self, event: Fields) -> list[tuple[str, Emitted]]:
        """Take an event; returns the outputs and their consumers."""
        delivered: list[tuple[str, Emitted]] = []
        for group in self._groups:
            group.state, emits = feed(group.compiled, group.state, event)
            # Parts of removed consumers may still run beside those of others, but their outputs are discarded.
            delivered += [(e.to, value_of(e.output, event)) for e in emits if e.to in group.consumers]
        return delivered

    def wants(self, event: Fields) -> bool:
        """Whether an event can ever matter to any consumer; if not, a supplier need not send it."""
        return any(answers(group.compiled.asked, event) for group in self._groups)


def _group(machines: Mapping[str, Machine]) -> _Group:
    compiled = compile_machine(compose(machines))
    return _Group(compiled, start(compiled), set(machines))
