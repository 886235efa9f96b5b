"""Guards compiled to a list of steps over two sets of bits, the active labels and the aborted ones.

Every step yields true, false or nothing: an aborted label yields nothing, and so does an operator all of
whose operands yield nothing.

>>> from tocsin.algebra.correlation.expression import And, Is
>>> code = compile_guard(And((Is("l1"), Is("l2"))), {"l1": 0, "l2": 1})
>>> holds(code, active=0b01, aborted=0b00), holds(code, active=0b01, aborted=0b10)
(False, True)

Paper: 001, Definition 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, assert_never

from tocsin.algebra.correlation.expression import And, Guard, Is, Not, Or


class Step(NamedTuple):
    """`is` and `not` put the value of a label on the stack; `and` and `or` join that many values from it."""

    what: Literal["is", "not", "and", "or"]
    number: int


Code = tuple[Step, ...]


def compile_guard(guard: Guard, labels: Mapping[str, int], negated: bool = False) -> Code:
    """The steps of a guard, operands first, with every negation moved down to the labels."""
    match guard:
        case Is(label):
            return (Step("not" if negated else "is", labels[label]),)
        case Not(part):
            return compile_guard(part, labels, not negated)
        case And(parts) | Or(parts):
            operands = [step for part in parts for step in compile_guard(part, labels, negated)]
            return (*operands, Step("and" if isinstance(guard, And) != negated else "or", len(parts)))
        case _:
            assert_never(guard)


def holds(code: Code, active: int, aborted: int) -> bool:
    """Whether a guard is true."""
    stack: list[bool | None] = []
    for what, number in code:
        if what in ("is", "not"):
            value = bool(active >> number & 1) == (what == "is")
            stack.append(None if aborted >> number & 1 else value)
            continue
        values = [value for value in stack[-number:] if value is not None]
        del stack[-number:]
        joined = all(values) if what == "and" else any(values)
        stack.append(joined if values else None)
    return stack[-1] is True
