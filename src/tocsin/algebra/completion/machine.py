"""Correlation machines: several states are active at once, and transitions clear some and set others.

| paper (000, Definition 3) | here                                                  |
|---------------------------|-------------------------------------------------------|
| Q, I                      | `Machine.states`, `Machine.initial`                   |
| τ = (En, a, Clr, Tgt, o)  | `Transition(name, enable, input, clear, target, outputs)` |
| a = ε                     | `input=None`                                          |
| τ1 ≺ τ2                   | the pair (τ1, τ2) in `Machine.order`: τ1 has priority |
| s, f of a module          | `Machine.success`, `Machine.failure`                  |

An input is a predicate, so an alphabet need not be finite; a letter is the predicate on the type. A
transition has several outputs only in machines that passes have merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tocsin.algebra.completion.output import Emit
from tocsin.algebra.predicate import Filter
from tocsin.errors import PatternError, Span, did_you_mean


@dataclass(frozen=True, slots=True)
class Transition:
    """Fires when each set of `enable` has an active state and the event satisfies `input`, if not None."""

    name: str
    enable: tuple[frozenset[str], ...]
    input: Filter | None
    clear: frozenset[str]
    target: frozenset[str]
    outputs: tuple[Emit, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Machine:
    """A correlation machine. The order is given by some of its pairs; the rest follows by transitivity."""

    name: str
    states: tuple[str, ...]
    initial: frozenset[str]
    transitions: tuple[Transition, ...]
    order: tuple[tuple[str, str], ...] = ()
    success: str | None = None
    failure: str | None = None

    @property
    def filters(self) -> tuple[Filter, ...]:
        """The distinct predicates of the inputs."""
        return tuple(dict.fromkeys(t.input for t in self.transitions if t.input is not None))


def above(machine: Machine) -> tuple[int, ...]:
    """For each transition, those with priority over it, as a bit set over their positions; refuses a cycle.

    >>> letters = [Transition(name, (), None, frozenset(), frozenset()) for name in "abc"]
    >>> above(Machine("m", (), frozenset(), tuple(letters), (("a", "b"), ("b", "c"))))
    (0, 1, 3)
    """
    number = {transition.name: i for i, transition in enumerate(machine.transitions)}
    before: list[set[int]] = [set() for _ in number]
    after: list[set[int]] = [set() for _ in number]
    for first, second in machine.order:
        before[number[second]].add(number[first])
        after[number[first]].add(number[second])
    waiting = [len(them) for them in before]
    ready = [i for i, count in enumerate(waiting) if count == 0]
    closed = [0] * len(number)
    for i in ready:
        for j in before[i]:
            closed[i] |= closed[j] | 1 << j
        for j in after[i]:
            waiting[j] -= 1
            if waiting[j] == 0:
                ready.append(j)
    if len(ready) < len(number):
        stuck = next(t for i, t in enumerate(machine.transitions) if waiting[i] > 0)
        raise PatternError("order-cycle", f"the order puts {stuck.name!r} before itself", stuck.span)
    return tuple(closed)


def check(machine: Machine) -> list[PatternError]:
    """Every mistake in a machine: unknown and duplicate names, and a cycle in the order."""
    errors = _twice("state", machine.states) + _twice("transition", [t.name for t in machine.transitions])
    errors += _unknown("state", machine.initial, machine.states)
    errors += _unknown(
        "state", [q for q in (machine.success, machine.failure) if q is not None], machine.states
    )
    for transition in machine.transitions:
        named = frozenset().union(*transition.enable) | transition.clear | transition.target
        errors += _unknown("state", named, machine.states, transition.span)
    names = [t.name for t in machine.transitions]
    unknown = _unknown("transition", [name for pair in machine.order for name in pair], names)
    if unknown or len(set(names)) < len(names):
        return errors + unknown
    try:
        above(machine)
    except PatternError as error:
        errors.append(error)
    return errors


def _twice(what: str, names: Sequence[str]) -> list[PatternError]:
    repeated = sorted({name for name in names if names.count(name) > 1})
    return [PatternError(f"duplicate-{what}", f"the {what} {name!r} is there twice") for name in repeated]


def _unknown(
    what: str, names: Iterable[str], known: Iterable[str], span: Span | None = None
) -> list[PatternError]:
    missing = sorted(set(names) - set(known))
    return [
        PatternError(f"unknown-{what}", f"there is no {what} {name!r}", span, did_you_mean(name, known))
        for name in missing
    ]
