"""The domain of an atom: whether it takes an event, fails on it, or ignores it.

The domain of an atom is the events it looks at. Those it takes advance a partial match, the others of the domain end it,
and an event outside the domain makes no difference. `[A in S]` looks at A and S, and takes A. `[!E in S]` is `[S\\E in S]`:
it looks at S alone, so an E that is not in S is passed over (C.3.18). The semantics, the automata, the compiled programs
and everything that displays a pattern get domains from here.

Paper: 003, "Core Composite Event Language", Atoms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tocsin.algebra.tokens.pattern import Atom, EventSpec, Pattern, Timed, atoms, walk

Specs = tuple[EventSpec, ...]
_NO_TIMERS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Domain:
    """The events that an atom takes (`taken`, without those of `excepted`), and others that it looks at and fails on.

    An event belongs to a list if it satisfies one of the list's specifications. `timers` are the timers whose ringing the
    atom takes; that a running timer ends whatever does not take it (C.3.11) is a matter of the place, not of the atom.
    """

    taken: Specs
    excepted: Specs = ()
    others: Specs = ()
    timers: frozenset[int] = frozenset()

    @property
    def relevant(self) -> Specs:
        """The domain itself: an event of it is taken or ends the partial match."""
        return self.taken + self.others

    @property
    def failing(self) -> Specs:
        """The events that can end a partial match; excepted ones do so only if they are in the domain (see `only_in`)."""
        return self.excepted + self.others

    def only_in(self, failing: EventSpec) -> Specs:
        """The set that an event of a failing specification must also be in to be in the domain; empty if it always is."""
        return () if failing in self.relevant else self.taken


def domain_of(atom: Atom, timers: Mapping[str, int] = _NO_TIMERS) -> Domain:
    """The domain of an atom where the timers of these names can be seen; such a name stands for the timer alone.

    >>> a, b = EventSpec("A"), EventSpec("B")
    >>> [spec.name for spec in domain_of(Atom((a,), (a, b))).failing]
    ['B']
    >>> [spec.name for spec in domain_of(Atom((a,), (b,), negated=True)).relevant]
    ['B']
    """
    taken, excepted = (atom.domain, atom.accept) if atom.negated else (atom.accept, ())
    others = () if atom.negated else tuple(spec for spec in atom.domain if spec not in atom.accept)
    return Domain(
        _events(taken, timers),
        _events(excepted, timers),
        _events(others, timers),
        _timers(taken, timers) - _timers(excepted, timers),
    )


def roles_of(pattern: Pattern) -> Iterator[str]:
    """The roles of the events a pattern takes; a timer is not an event, and a negation takes events of its set."""
    timers = {node.timer.name for node in walk(pattern) if isinstance(node, Timed)}
    for atom in atoms(pattern):
        yield from (spec.name for spec in domain_of(atom).taken if spec.name not in timers)


def _events(specs: Specs, timers: Mapping[str, int]) -> Specs:
    return tuple(spec for spec in specs if spec.name not in timers)


def _timers(specs: Specs, timers: Mapping[str, int]) -> frozenset[int]:
    return frozenset(timers[spec.name] for spec in specs if spec.name in timers)
