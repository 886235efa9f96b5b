"""Can one event satisfy the guards of two modes?"""

from __future__ import annotations

from itertools import combinations

from tocsin.algebra.completion.expression import Expression, Mode, Modes, walk
from tocsin.analysis.answer import WitnessedError, show_event
from tocsin.analysis.budget import Budget
from tocsin.automata.completion.alphabet import alphabet_of
from tocsin.errors import PatternError

# Cost of finding the kinds of events that two guards tell apart, in steps.
_STEPS_PER_PAIR = 50


def overlapping_guards(expression: Expression, budget: Budget | None = None) -> list[PatternError]:
    """A warning, with an example, for each pair of guards that are not mutually exclusive; the first wins.

    Refuses guards that tell too many kinds of events apart, and more modes than the budget allows.

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate
    >>> both = Modes((Mode(TRUE, Predicate(TRUE)), Mode(TRUE, Predicate(TRUE))))
    >>> [warning.code for warning in overlapping_guards(both)]
    ['overlapping-guards']

    Paper: 000, section 2: "The mode guards are expected to be mutually exclusive".
    """
    budget = budget or Budget()
    return [
        warning
        for node in walk(expression)
        if isinstance(node, Modes)
        for first, second in combinations(node.modes, 2)
        for warning in _overlap(first, second, budget)
    ]


def _overlap(first: Mode, second: Mode, budget: Budget) -> list[PatternError]:
    budget.spend(_STEPS_PER_PAIR)
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
    return [WitnessedError("overlapping-guards", message, second.span, hint, (common[0],))]
