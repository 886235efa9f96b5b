"""Can one event satisfy the guards of two modes?"""

from __future__ import annotations

from itertools import combinations

from tocsin.algebra.completion.expression import Expression, Mode, Modes, walk
from tocsin.analysis.answer import show_event
from tocsin.automata.machine.alphabet import alphabet_of
from tocsin.errors import PatternError


def overlapping_guards(expression: Expression) -> list[PatternError]:
    """A warning, with an example, for each two guards that are not mutually exclusive; of two the first wins.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> both = Modes((Mode(TRUE, Predicate(TRUE)), Mode(TRUE, Predicate(TRUE))))
    >>> [warning.code for warning in overlapping_guards(both)]
    ['overlapping-guards']

    Paper: 000, section 2: "The mode guards are expected to be mutually exclusive".
    """
    return [
        warning
        for node in walk(expression)
        if isinstance(node, Modes)
        for first, second in combinations(node.modes, 2)
        for warning in _overlap(first, second)
    ]


def _overlap(first: Mode, second: Mode) -> list[PatternError]:
    alphabet = alphabet_of([first.guard, second.guard])
    everything = (1 << len(alphabet.asked.filters)) - 1
    common = [
        event
        for event, satisfied in zip(alphabet.symbols, alphabet.truths, strict=True)
        if satisfied == everything
    ]
    if not common:
        return []
    message = f"{show_event(common[0])} satisfies the guards of two modes; the first of them wins"
    hint = "make the guards exclude each other"
    return [PatternError("overlapping-guards", message, second.span, hint)]
