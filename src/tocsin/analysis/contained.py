"""Does one expression, or system of expressions, accept only what another accepts?"""

from __future__ import annotations

from collections.abc import Sequence

from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.subject import Subject

_At = tuple[tuple[int, bool], ...]


def contained(left: Subject | Sequence[Subject], right: Subject | Sequence[Subject]) -> Answer:
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
    by_output = [subject.by_output for subject in everyone]

    def step(at: _At, symbol: int) -> _At:
        each = zip(everyone, at, by_output, strict=True)
        return tuple(subject.step(before, symbol, how) for subject, before, how in each)

    def only_left(at: _At) -> bool:
        accepted = [one for _, one in at]
        return any(accepted[: len(first)]) and not any(accepted[len(first) :])

    start = tuple(subject.start for subject in everyone)
    word = shortest(start, step, len(everyone[0].alphabet.symbols), only_left)
    return Answer(True) if word is None else Answer(False, everyone[0].trace(word))
