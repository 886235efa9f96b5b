"""Can an expression always still accept?"""

from __future__ import annotations

from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.budget import Budget
from tocsin.analysis.subject import Subject, told_apart


def live(subject: Subject, budget: Budget | None = None) -> Answer:
    """Whether every trace can be extended to an accepted one; if not, the witness is one that cannot.

    >>> from tocsin.algebra.completion.expression import FALSE, TRUE, DoUnless, Persist, Predicate
    >>> from tocsin.analysis.subject import subjects
    >>> never = DoUnless(Predicate(FALSE), Predicate(TRUE))
    >>> [live(one).holds for one in subjects(Predicate(TRUE), never)]
    [True, False]

    Paper: 000, section 6, "Analysis": liveness.
    """
    symbols = told_apart(subject)
    before: dict[tuple[int, bool], list[tuple[int, bool]]] = {subject.start: []}
    queue = [subject.start]
    for at in queue:
        for after in {subject.step(at, symbol) for symbol in symbols}:
            if after not in before:
                before[after] = []
                queue.append(after)
            before[after].append(at)
    hopeful = {at for at in queue if at[1]}
    pending = list(hopeful)
    while pending:
        for at in before[pending.pop()]:
            if at not in hopeful:
                hopeful.add(at)
                pending.append(at)
    word = shortest(subject.start, subject.step, symbols, lambda at: at not in hopeful, budget)
    return Answer(True) if word is None else Answer(False, subject.trace(word))
