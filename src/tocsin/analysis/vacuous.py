"""Does an expression reject everything?"""

from __future__ import annotations

from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.budget import Budget
from tocsin.analysis.subject import Subject, told_apart


def vacuous(subject: Subject, budget: Budget | None = None) -> Answer:
    """Whether no trace is accepted; if one is, the witness is the shortest.

    >>> from tocsin.algebra.completion.expression import FALSE, TRUE, Predicate
    >>> from tocsin.analysis.subject import subjects
    >>> [vacuous(one).holds for one in subjects(Predicate(TRUE), Predicate(FALSE))]
    [False, True]

    Paper: 000, section 6, "Analysis": vacuity.
    """
    word = shortest(subject.start, subject.step, told_apart(subject), lambda at: at[1], budget)
    return Answer(True) if word is None else Answer(False, subject.trace(word))
