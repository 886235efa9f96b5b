"""Write a machine as a self-contained Python module that needs neither Tocsin nor any other package.

The module holds the tables of the independent parts of the machine, and a loop that walks them:

>>> from tocsin.algebra.completion.expression import TRUE, Predicate, Push, Repeat
>>> from tocsin.algebra.completion.output import Constant
>>> from tocsin.automata.completion.compile import compile_machine
>>> from tocsin.automata.completion.construct import construct
>>> every_second = Push(Constant("x"), Repeat(Predicate(TRUE), 2))
>>> text = generate(compile_machine(construct(Repeat(every_second))), "push(x) with every second event")
>>> print(*[line for line in text.splitlines() if line.startswith("def ")], sep="\\n")
def start():
def status(state):
def feed(state, event):
def _holds(field, relation, value):
def _kind(value):

Paper: 000, section 1: machines "can be used directly in the RTEC to process events interpretatively, or used
to automatically generate the code to process the events".
"""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.completion.expression import Program
from tocsin.algebra.completion.output import Constant, Emit, FieldOf, Forward, Make
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or, Unify
from tocsin.automata.completion.compile import Compiled, compile_machine
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.compose import compose
from tocsin.automata.completion.table import STATUSES, Determinised
from tocsin.errors import LimitError

_HEAD = '''\
"""{title}

Written by Tocsin; it needs Python 3.8 or later and nothing else.

An event is a dict with its fields, `type` among them. `feed(state, event)` gives the state after the event, and
a list of its outputs: pairs of a consumer and an output. The state is a tuple of whole numbers, `start()`
the first one, and `status(state)` says whether the whole is running, or how it completed. Run as a program,
it reads events from standard input, a JSON object a line, and prints their outputs in the same way.
"""

'''

_BODY = '''

def start():
    return (0,) * len(NEXT)


def status(state):
    found = {STATUS[part][at] for part, at in enumerate(state)}
    return "success" if "success" in found else "failure" if "failure" in found else "running"


def feed(state, event):
    satisfied = sum(1 << i for i, holds in enumerate(PREDICATES) if holds(event))
    after, brought = [], []
    for part, at in enumerate(state):
        asked = sum(1 << j for j, i in enumerate(ASKS[part]) if satisfied >> i & 1)
        column = COLUMN[part][asked]
        brought += ((to, output(event)) for to, output in (OUTPUTS[part][n] for n in EMITS[part][at][column]))
        after.append(NEXT[part][at][column])
    return tuple(after), brought


def _holds(field, relation, value):
    """A comparison with an absent field does not hold; numbers, texts and truth values stay among themselves."""
    if field is None:
        return False
    same = _kind(field) == _kind(value)
    if relation == "=":
        return same and field == value
    if relation == "!=":
        return not same or field != value
    if not same:
        return False
    if relation == "<":
        return field < value
    if relation == "<=":
        return field <= value
    return field > value if relation == ">" else field >= value


def _kind(value):
    return "bool" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else "text"


if __name__ == "__main__":
    import json
    import sys

    state = start()
    for line in sys.stdin:
        state, brought = feed(state, json.loads(line))
        for to, output in brought:
            print(json.dumps({"to": to, "output": output}))
'''


def code_of(program: Program, title: str) -> str:
    """The subscriptions of a program as one Python module; its docstring begins with the title and their names."""
    machines = {
        one.name or "M": construct(one.expression, program.interpretation) for one in program.subscriptions
    }
    whole = machines["M"] if list(machines) == ["M"] else compose(machines)
    return generate(compile_machine(whole), f"{title}: {', '.join(machines)}")


def generate(compiled: Compiled, title: str) -> str:
    """The text of the module; refuses a machine with a part that is not a table (`LimitError`)."""
    tables: list[Determinised] = []
    for part in compiled.parts:
        if part.determinised is None:
            raise LimitError("no-table", f"no code can be written, because {part.note}")
        tables.append(part.determinised)
    lines = [
        _assigned("PREDICATES", [f"lambda event: {_asked(filter)}" for filter in compiled.asked.filters]),
        "# By part: its predicates, the column of an event that satisfies some of them, and by state and column",
        "# the next state and the outputs; then what the outputs are, and how the states stand.",
        _assigned("ASKS", [repr(part.asks) for part in compiled.parts]),
        _assigned("COLUMN", [repr(_columns(table)) for table in tables]),
        _assigned("NEXT", [repr(_tuples(table.table.next.tolist())) for table in tables]),
        _assigned("EMITS", [repr(_emits(table)) for table in tables]),
        _assigned("OUTPUTS", [_tuple([_output(emit) for emit in table.emits]) for table in tables]),
        _assigned("STATUS", [repr(_status(table)) for table in tables]),
    ]
    # The title goes into a docstring, and may contain anything a user wrote.
    safe = title.encode("unicode_escape").decode().replace('"', '\\"')
    return _HEAD.format(title=safe) + "\n".join(lines) + "\n" + _BODY


def _assigned(name: str, parts: list[str]) -> str:
    return f"{name} = (\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _tuple(parts: list[str]) -> str:
    return "(" + "".join(f"{part}, " for part in parts) + ")"


def _tuples(rows: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in rows)


def _columns(machine: Determinised) -> dict[int, int]:
    return dict(zip(machine.alphabet.truths, machine.table.column.tolist(), strict=True))


def _emits(machine: Determinised) -> tuple[tuple[tuple[int, ...], ...], ...]:
    states, columns = machine.table.next.shape
    first = {column: symbol for symbol, column in reversed(list(enumerate(machine.table.column.tolist())))}
    return tuple(
        tuple(machine.cell(state, first[column])[1] for column in range(columns)) for state in range(states)
    )


def _status(machine: Determinised) -> tuple[str, ...]:
    return tuple(STATUSES[code].value for code in machine.table.status.tolist())


def _asked(filter: Filter) -> str:
    """A predicate as a Python expression."""
    match filter:
        case Compare(Attribute(name), relation, Literal(value)):
            return f"_holds(event.get({name!r}), {relation.value!r}, {value!r})"
        case And(parts):
            return f"({' and '.join(map(_asked, parts))})" if parts else "True"
        case Or(parts):
            return f"({' or '.join(map(_asked, parts))})" if parts else "False"
        case Not(part):
            return f"(not {_asked(part)})"
        case Compare() | IsNull() | Like() | Unify():
            raise TypeError(f"{filter} compares with other events; it cannot be asked of one")
        case _:
            assert_never(filter)


def _output(emit: Emit) -> str:
    """An output as a Python pair: its subscription, and a function that makes it from the event."""
    match emit.output:
        case Constant(value):
            made = repr(value)
        case Forward():
            made = "dict(event)"
        case Make(type, fields):
            each = [f"{'type'!r}: {type!r}", *(f"{name!r}: {_source(source)}" for name, source in fields)]
            made = "{" + ", ".join(each) + "}"
        case _:
            assert_never(emit.output)
    return f"({emit.to!r}, lambda event: {made})"


def _source(source: Literal | FieldOf) -> str:
    return f"event.get({source.name!r})" if isinstance(source, FieldOf) else repr(source.value)
