"""Which events can influence which outputs?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.output import Output
from tocsin.analysis.answer import shortest
from tocsin.analysis.budget import Budget
from tocsin.analysis.subject import Subject
from tocsin.automata.completion.passes.partition import coarsest


@dataclass(frozen=True, slots=True)
class Influence:
    """An event that can influence an output: after `before`, the output depends on whether the event occurs.

    The effect is immediate if `after` is empty, otherwise it shows once those events follow.
    """

    event: Fields
    output: Output
    before: tuple[Fields, ...]
    after: tuple[Fields, ...]


# Before the event, a state; from the event on, the states with and without it, and whether they differ.
_At = tuple[int] | tuple[int, int, bool]
# In a word of columns, the event whose influence is examined.
_THE_EVENT = -1


def influence(subject: Subject, budget: Budget | None = None) -> tuple[Influence, ...]:
    """Every pair of a kind of event and an output it can influence, each with a shortest example (C.1.21).

    >>> from tocsin.algebra.completion.expression import TRUE, Predicate, Push
    >>> from tocsin.algebra.completion.output import Constant
    >>> from tocsin.analysis.subject import subjects
    >>> [found.output.value for found in influence(*subjects(Push(Constant("x"), Predicate(TRUE))))]
    ['x']

    Paper: 000, section 6, "Analysis": "checking event dependencies".
    """
    outputs = dict.fromkeys(emit.output for row in subject.emits for cell in row for emit in cell)
    budget = budget or Budget()
    found = []
    for output in outputs:
        counts = [[sum(e.output == output for e in cell) for cell in row] for row in subject.emits]
        budget.spend(sum(map(len, counts)))
        classes = _alike(subject, counts)
        words = [_word(subject, event, counts, classes, budget) for event in range(len(counts[0]))]
        for event, column in zip(subject.alphabet.symbols, subject.column, strict=True):
            word = words[column]
            if word is not None:
                here = word.index(_THE_EVENT)
                before, after = _trace(subject, word[:here]), _trace(subject, word[here + 1 :])
                found.append(Influence(event, output, before, after))
    return tuple(found)


def _trace(subject: Subject, columns: Sequence[int]) -> tuple[Fields, ...]:
    return subject.trace(subject.column.index(column) for column in columns)


def _alike(subject: Subject, counts: Sequence[Sequence[int]]) -> list[int]:
    """The class of each state; states of one class push the output alike from then on."""
    before: list[set[int]] = [set() for _ in subject.after]
    for state, row in enumerate(subject.after):
        for after in row:
            before[after].add(state)
    return coarsest(
        [tuple(row) for row in counts],
        lambda state, classes: tuple([classes[after] for after in subject.after[state]]),
        before.__getitem__,
    )


def _word(
    subject: Subject,
    event: int,
    counts: Sequence[Sequence[int]],
    classes: Sequence[int],
    budget: Budget,
) -> tuple[int, ...] | None:
    """The shortest word of columns in which it makes a difference whether an event of this column occurs."""

    def matters(state: int) -> bool:
        return counts[state][event] > 0 or classes[state] != classes[subject.after[state][event]]

    if not any(matters(state) for state in range(len(classes))):
        return None

    def step(at: _At, column: int) -> _At:
        if len(at) == 1:
            (state,) = at
            if column != _THE_EVENT:
                return (subject.after[state][column],)
            return subject.after[state][event], state, counts[state][event] > 0
        received, missed, _ = at
        if column == _THE_EVENT:
            return at
        differ = counts[received][column] != counts[missed][column]
        return subject.after[received][column], subject.after[missed][column], differ

    start: _At = (0,)
    columns = [*range(len(counts[0])), _THE_EVENT]
    return shortest(start, step, columns, lambda at: len(at) == 3 and at[2], budget)
