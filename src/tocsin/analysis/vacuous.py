"""Does an expression reject everything?"""

from __future__ import annotations

from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.subject import Subject


def vacuous(subject: Subject) -> Answer:
    """Whether no trace is accepted; if one is, the witness is the shortest.

    >>> from tocsin.algebra.completion.expression import FALSE, TRUE, Predicate
    >>> from tocsin.analysis.subject import subjects
    >>> [vacuous(one).holds for one in subjects(Predicate(TRUE), Predicate(FALSE))]
    [False, True]

    Paper: 000, section 6, "Analysis": vacuity.
    """
    by_output = subject.by_output
    word = shortest(
        subject.start,
        lambda at, symbol: subject.step(at, symbol, by_output),
        len(subject.alphabet.symbols),
        lambda at: at[1],
    )
    return Answer(True) if word is None else Answer(False, subject.trace(word))
