"""Do two expressions, or an expression and a machine written by hand, do the same?"""

from __future__ import annotations

from collections import Counter

from tocsin.analysis.answer import Answer, shortest
from tocsin.analysis.subject import Subject


def equal(left: Subject, right: Subject) -> Answer:
    """Whether both push the same after every event, and complete alike; the witness shows where not.

    Outputs of one event are compared without their order, because that follows from the number of internal
    steps. A machine written without final states has no status: then only the outputs are compared.

    >>> from tocsin.algebra.completion.expression import TRUE, Fail, Predicate
    >>> from tocsin.analysis.subject import subjects
    >>> equal(*subjects(Fail(Fail(Predicate(TRUE))), Predicate(TRUE))).holds
    True

    Paper: 000, section 6, "Analysis": "checking correlation expressions against event-loops for equivalence".
    """
    complete = left.has_final_states and right.has_final_states

    def step(at: tuple[int, int, bool], symbol: int) -> tuple[int, int, bool]:
        a, b, _ = at
        alike = _outputs(left, a, symbol) == _outputs(right, b, symbol)
        a, b = left.after[a][symbol], right.after[b][symbol]
        return a, b, alike and (not complete or left.status[a] is right.status[b])

    word = shortest((0, 0, True), step, len(left.alphabet.symbols), lambda at: not at[2])
    return Answer(True) if word is None else Answer(False, left.trace(word))


def _outputs(subject: Subject, state: int, symbol: int) -> Counter[object]:
    return Counter(emit.output for emit in subject.emits[state][symbol])
