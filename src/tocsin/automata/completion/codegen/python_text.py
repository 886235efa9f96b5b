"""A machine as a Python module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from tocsin.algebra.completion.output import Constant, Emit, FieldOf, Forward, Make
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, IsNull, Like, Literal, Not, Or, Unify
from tocsin.automata.completion.codegen.flat import Flat

_HEAD = '''\
"""{title}

Written by Tocsin; it needs Python 3.8 or later and nothing else.

An event is a dict with its fields, `type` among them. `feed(state, event)` gives the state after the event, and
a list of its outputs: pairs of a consumer and an output. The state is a whole number, `start()` the first one,
and `status(state)` says whether the whole is running, or how it completed. Run as a program, it reads events from
standard input, a JSON object a line, and prints their outputs in the same way.
"""

'''

_BODY = '''

def start():
    return START


def status(state):
    return "success" if state & SUCCESS else "failure" if state & FAILURE else "running"


def feed(state, event):
    satisfied = [holds(event) for holds in PREDICATES]
    brought = []
    while True:
        state, fired = _step(state, satisfied)
        if not fired:
            return state, brought
        brought += [(to, output(event)) for number, to, output in EMITS if number in fired]
        satisfied = None  # then internal steps, until there is none


def _step(state, satisfied):
    """The state after one step, and the transitions that fire; internal ones without `satisfied`."""
    fired, cleared, added, ahead = set(), 0, 0, []
    for number, asked in enumerate(TAKES):
        taken = satisfied is None if asked < 0 else satisfied is not None and satisfied[asked]
        enabled = taken and all(some & state for some in ENABLE[number])
        held_back = any(ahead[first] for first in BEFORE[number])
        ahead.append(enabled or held_back)
        if enabled and not held_back:
            fired.add(number)
            cleared |= CLEAR[number]
            added |= TARGET[number]
    return state & ~cleared | added, fired


def _holds(field, relation, value):
    """A comparison with an absent field does not hold; numbers, texts and truth values stay among themselves."""
    if field is None or value is None:
        return False
    if _kind(field) != _kind(value):
        return relation == "!="
    sign = _sign(field, value)
    if relation == "=":
        return sign == 0
    if relation == "!=":
        return sign != 0
    if relation == "<":
        return sign < 0
    if relation == "<=":
        return sign <= 0
    return sign > 0 if relation == ">" else sign >= 0


def _sign(left, right):
    """-1, 0 or 1; what is no number at all equals itself and is greater than every number."""
    if left == right:
        return 0
    if left != left or right != right:
        return int(left != left) - int(right != right)
    return -1 if left < right else 1


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


def python_text(flat: Flat, title: str) -> str:
    """The text of the module."""
    lines = [
        _assigned("PREDICATES", [f"lambda event: {_asked(filter)}" for filter in flat.predicates]),
        f"START = {_bits(flat.start)}",
        f"SUCCESS = {_bits([flat.success])}",
        f"FAILURE = {_bits([flat.failure])}",
        "# By transition: the predicate it waits for, or -1; the states of which some must be active; those it",
        "# clears and sets, as bits; and the transitions that come directly before it.",
        f"TAKES = {flat.takes!r}",
        _assigned("ENABLE", [_tuple(map(_bits, sets)) for sets in flat.enable]),
        _assigned("CLEAR", map(_bits, flat.clear)),
        _assigned("TARGET", map(_bits, flat.target)),
        _assigned("BEFORE", map(repr, flat.before)),
        "# The transition that brings it, the consumer, and the output.",
        _assigned("EMITS", [f"({n}, {_output(emit)})" for n, emit in flat.emits]),
    ]
    # The title goes into a docstring, and may contain anything a user wrote.
    safe = title.encode("unicode_escape").decode().replace('"', '\\"')
    return _HEAD.format(title=safe) + "\n".join(lines) + "\n" + _BODY


def _assigned(name: str, parts: Iterable[str]) -> str:
    return f"{name} = (\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _tuple(parts: Iterable[str]) -> str:
    return "(" + "".join(f"{part}, " for part in parts) + ")"


def _bits(numbers: Iterable[int]) -> str:
    return hex(sum(1 << number for number in numbers if number >= 0))


def _asked(filter: Filter) -> str:
    """A predicate as a Python expression."""
    match filter:
        case Compare(Attribute(name), relation, Literal(value)):
            return f"_holds(event.get({name!r}), {relation.value!r}, {_constant(value)})"
        case Compare(Attribute(name), relation, Attribute(other)):
            return f"_holds(event.get({name!r}), {relation.value!r}, event.get({other!r}))"
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
    """An output as its subscription, and a function that makes it from the event."""
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
    return f"{emit.to!r}, lambda event: {made}"


def _source(source: Literal | FieldOf) -> str:
    return f"event.get({source.name!r})" if isinstance(source, FieldOf) else _constant(source.value)


def _constant(value: int | float | str | bool) -> str:
    """A constant as Python writes it; infinite numbers have no literal."""
    return f"float({str(value)!r})" if isinstance(value, float) else repr(value)
