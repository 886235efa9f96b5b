"""Which events can influence which outputs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Output
from tocsin.analysis.answer import shortest
from tocsin.analysis.subject import Subject
from tocsin.automata.machine.passes.partition import coarsest


@dataclass(frozen=True, slots=True)
class Influence:
    """An event that can influence an output: after `before`, whether it comes decides about the output.

    It does so at once if `after` is empty, else when those events follow.
    """

    event: Fields
    output: Output
    before: tuple[Fields, ...]
    after: tuple[Fields, ...]


# Before the event, a state; from the event on, the states with and without it, and whether they differ.
_At = tuple[int] | tuple[int, int, bool]


def influence(subject: Subject) -> tuple[Influence, ...]:
    """Every pair of a kind of event and an output it can influence, each with a shortest example (C.1.21).

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Push
    >>> from tocsin.algebra.completion.output import Constant
    >>> from tocsin.analysis.subject import subjects
    >>> [found.output.value for found in influence(*subjects(Push(Constant("x"), Predicate(TRUE))))]
    ['x']

    Paper: 000, section 6, "Analysis": "checking event dependencies".
    """
    outputs = dict.fromkeys(emit.output for row in subject.emits for cell in row for emit in cell)
    found = []
    for output in outputs:
        counts = [[sum(e.output == output for e in cell) for cell in row] for row in subject.emits]
        classes = _told_apart(subject, counts)
        for symbol in range(len(subject.alphabet.symbols)):
            example = _example(subject, symbol, output, counts, classes)
            found += [] if example is None else [example]
    return tuple(found)


def _told_apart(subject: Subject, counts: Sequence[Sequence[int]]) -> list[int]:
    """States of one class push the output alike ever after."""
    before: list[set[int]] = [set() for _ in subject.after]
    for state, row in enumerate(subject.after):
        for after in row:
            before[after].add(state)
    return coarsest(
        [tuple(row) for row in counts],
        lambda state, classes: tuple([classes[after] for after in subject.after[state]]),
        before.__getitem__,
    )


def _example(
    subject: Subject, symbol: int, output: Output, counts: Sequence[Sequence[int]], classes: Sequence[int]
) -> Influence | None:
    symbols = len(subject.alphabet.symbols)

    def matters(state: int) -> bool:
        return counts[state][symbol] > 0 or classes[state] != classes[subject.after[state][symbol]]

    if not any(matters(state) for state in range(len(classes))):
        return None

    # One more letter than there are symbols: the event itself.
    def step(at: _At, letter: int) -> _At:
        if len(at) == 1:
            (state,) = at
            if letter < symbols:
                return (subject.after[state][letter],)
            return subject.after[state][symbol], state, counts[state][symbol] > 0
        received, missed, _ = at
        if letter == symbols:
            return at
        differ = counts[received][letter] != counts[missed][letter]
        return subject.after[received][letter], subject.after[missed][letter], differ

    start: _At = (0,)
    word = shortest(start, step, symbols + 1, lambda at: len(at) == 3 and at[2])
    if word is None:
        return None
    here = word.index(symbols)
    return Influence(
        subject.alphabet.symbols[symbol], output, subject.trace(word[:here]), subject.trace(word[here + 1 :])
    )
