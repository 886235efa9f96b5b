"""Write subscriptions as programs of their own, in Python or C, which need neither Tocsin nor any other package.

The code holds the machine of the subscriptions as lists of numbers (`flat`), and a loop that runs it. So there is code for
every expression, also for those whose table of configurations would not fit.

>>> from tocsin.algebra.completion.expression import TRUE, Predicate, Push, Repeat, Subscription
>>> from tocsin.algebra.completion.output import Constant
>>> every_second = Push(Constant("x"), Repeat(Predicate(TRUE), 2))
>>> text = code_of(Program((Subscription(None, Repeat(every_second)),)), "push(x) with every second event")
>>> print(*[line for line in text.splitlines() if line.startswith("def ")], sep="\\n")
def start():
def status(state):
def feed(state, event):
def _step(state, satisfied):
def _holds(field, relation, value):
def _sign(left, right):
def _kind(value):

Paper: 000, section 1: machines "can be used directly in the RTEC to process events interpretatively, or used
to automatically generate the code to process the events".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tocsin.algebra.completion.expression import Program
from tocsin.automata.completion.codegen.c_text import c_text
from tocsin.automata.completion.codegen.flat import Flat, flatten
from tocsin.automata.completion.codegen.python_text import python_text
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.compose import compose
from tocsin.errors import InputError, did_you_mean

WRITERS: Mapping[str, Callable[[Flat, str], str]] = {".py": python_text, ".c": c_text}


def code_of(program: Program, title: str, ending: str = ".py") -> str:
    """The subscriptions of a program as one file; its first comment begins with the title and their names.

    Args:
        ending: of the file, which says the language of the code: `.py` or `.c`.
    """
    if ending not in WRITERS:
        hint = did_you_mean(ending, WRITERS, f"it is written to files that end in {' or '.join(WRITERS)}")
        raise InputError("bad-file", f"no code can be written to a file that ends in {ending!r}", hint=hint)
    machines = {
        one.name or "M": construct(one.expression, program.interpretation) for one in program.subscriptions
    }
    whole = machines["M"] if list(machines) == ["M"] else compose(machines)
    return WRITERS[ending](flatten(whole), f"{title}: {', '.join(machines)}")
