"""Does an expression let everything through?"""

from __future__ import annotations

from tocsin.analysis.answer import Answer
from tocsin.analysis.subject import Subject


def trivial(subject: Subject) -> Answer:
    """Whether every first event is accepted by itself; if not, the witness is one that is not.

    >>> from tocsin.algebra.completion.expression import FALSE, TRUE, Predicate
    >>> from tocsin.analysis.subject import subjects
    >>> [trivial(one).holds for one in subjects(Predicate(TRUE), Predicate(FALSE))]
    [True, False]

    Paper: 000, section 6, "Analysis": triviality.
    """
    for symbol in range(len(subject.alphabet.symbols)):
        if not subject.step(subject.start, symbol)[1]:
            return Answer(False, subject.trace([symbol]))
    return Answer(True)
