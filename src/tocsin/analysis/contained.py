"""Does one expression, or system of expressions, accept only what another accepts?"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.budget import Budget
from tocsin.analysis.subject import Subject, told_apart

_At = tuple[tuple[int, bool], ...]


def contained(
    left: Subject | Sequence[Subject], right: Subject | Sequence[Subject], budget: Budget | None = None
) -> Answer:
    """Whether `right` accepts every trace that `left` accepts; the witness is the shortest it does not.

    A system accepts a trace if one of its expressions does. All must be over the same alphabet.

    >>> from tocsin.algebra.completion.expression import TRUE, Accumulate, Predicate, Sequential
    >>> from tocsin.analysis.subject import subjects
    >>> once, twice = subjects(Predicate(TRUE), Sequential((Predicate(TRUE), Predicate(TRUE))))
    >>> contained(twice, once).holds, len(contained(once, twice).witness)
    (True, 1)

    Paper: 000, section 6, "Analysis": containment.
    """
    first = [left] if isinstance(left, Subject) else list(left)
    second = [right] if isinstance(right, Subject) else list(right)
    everyone = first + second

    def step(at: _At, symbol: int) -> _At:
        return tuple([subject.step(before, symbol) for subject, before in zip(everyone, at, strict=True)])

    def only_left(at: _At) -> bool:
        accepted = [one for _, one in at]
        return any(accepted[: len(first)]) and not any(accepted[len(first) :])

    start = tuple(subject.start for subject in everyone)
    word = shortest(start, step, told_apart(*everyone), only_left, budget)
    return Answer(True) if word is None else Answer(False, everyone[0].trace(word))
