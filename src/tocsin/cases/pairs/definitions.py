"""Cases about the definitions themselves, which no table of events can answer.

| kind | given | expect |
|---|---|---|
| `renumber` | a trace, perhaps the classes of a `view` | `views` |
| `timestamp` | operands with times, or when a negation started | `t` |
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tocsin.algebra.pairs.composition import occurs_at
from tocsin.algebra.pairs.expression import (
    Composition,
    Conjunction,
    Disjunction,
    Negation,
    Primitive,
    Sequence,
    Simultaneity,
)
from tocsin.algebra.pairs.observation import Observation, renumber
from tocsin.algebra.pairs.semantics import instances
from tocsin.cases.model import ON_SPARK, Case, Compared, Handler, Skip
from tocsin.cases.pairs.class_times import events_of
from tocsin.cases.pairs.found_in_trace import expected
from tocsin.errors import CaseError

_OPERATORS: Mapping[str, type[Composition]] = {
    "|": Disjunction,
    ",": Conjunction,
    ";": Sequence,
    ":": Simultaneity,
}
_STARTED = re.compile(r"!\(a\)_(\d+) started at (\d+)")
_OPERANDS = re.compile(r"\(a:(\d+) ?([|,;:]) ?b:(\d+)\)")


def _only_definitions(engine: str) -> None:
    if engine in ON_SPARK:
        raise Skip("this is asked of the definitions, not of a table of events")


def renumbering(case: Case, engine: str) -> Compared:
    """The views of a trace, by the ids of their events."""
    expect = expected(case, "views")
    _only_definitions(engine)
    names = (case.get("given") or {}).get("view") or case.get("alphabet") or ()
    observation = Observation.of(events_of(case, Primitive("")))
    views = renumber([instances(Primitive(str(name)), observation) for name in names])
    return expect["views"], [[instance.ids for instance in view.instances] for view in views]


def timestamp(case: Case, engine: str) -> Compared:
    """When a composite occurs."""
    expect = expected(case, "t")
    _only_definitions(engine)
    text = str(case.get("expression"))
    if started := _STARTED.fullmatch(text):
        return expect["t"], occurs_at(Negation, int(started[2]), int(started[1]))
    operands = _OPERANDS.fullmatch(text)
    if operands is None:
        hint = "(a:3 ; b:8), or !(a)_5 started at 10"
        raise CaseError("bad-case", f"{text!r} is no operator with times", hint=hint)
    return expect["t"], occurs_at(_OPERATORS[operands[2]], int(operands[1]), int(operands[3]))


KINDS: Mapping[str, Handler] = {
    "renumber": renumbering,
    "timestamp": timestamp,
}
