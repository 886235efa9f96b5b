"""Cases about the definitions themselves, which no table of events can answer.

| kind | given | expect |
|---|---|---|
| `renumber` | a trace, perhaps the classes of a `view` | `views` |
| `timestamp` | operands with times, or when a negation started | `t` |
| `rule` (Table 9) | `consumption` | `concurrency` |
| `post-filter` | a profile, the notifications of a weaker one | what is `delivered` |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tocsin.algebra.pairs.composition import occurs_at
from tocsin.algebra.pairs.expression import (
    Composition,
    Conjunction,
    Disjunction,
    Negation,
    Primitive,
    Selection,
    Sequence,
    Simultaneity,
    primitives,
)
from tocsin.algebra.pairs.observation import Observation, renumber
from tocsin.algebra.pairs.parameters import IMPLIED_CONCURRENCY
from tocsin.algebra.pairs.semantics import instances, true_at
from tocsin.cases.model import ON_SPARK, Case, Compared, Handler, Skip
from tocsin.cases.pairs.detection import expected, expression_of, in_order
from tocsin.cases.pairs.settings import CALLED
from tocsin.cases.pairs.trace import SECOND, events_of, seconds
from tocsin.errors import CaseError
from tocsin.events import Event, Interval

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


def rule(case: Case, engine: str) -> Compared:
    """A rule of the paper; what the case expects says which one."""
    _only_definitions(engine)
    known = [name for name in case.get("expect") or {} if name in RULES]
    if not known:
        raise Skip(f"the rule about {', '.join(case.get('expect') or {})} is not known")
    return RULES[known[0]](case)


def concurrency(case: Case) -> Compared:
    """Which concurrency a consumption mode implies. Paper: 004, Table 9."""
    expect = expected(case, "concurrency")
    consumption = (case.get("given") or {}).get("consumption")
    if consumption not in CALLED:
        hint = "one of " + ", ".join(CALLED)
        raise CaseError("bad-case", f"there is no consumption mode {consumption!r}", hint=hint)
    implied = IMPLIED_CONCURRENCY[CALLED[consumption]]
    return str(expect["concurrency"]).replace("-", ""), "undetermined" if implied is None else implied.value


def post_filter(case: Case, engine: str) -> Compared:
    """What is delivered of the notifications of a weaker profile.

    A post-filter is the profile itself, put to what a notification tells. A sequence with a finite timeframe has none: its
    rule is positive, and everything is delivered. Paper: 004, Tables 17 and 19.
    """
    expect = expected(case, "delivered")
    _only_definitions(engine)
    expression = expression_of(case)
    notifications = [_events(notification) for notification in case.get("trace") or ()]
    if isinstance(expression, Selection):
        trace = [event for events in notifications for event in events]
        return expect["delivered"], [seconds(time) for time in true_at(expression, Observation.of(trace))]
    names = [primitive.name for primitive in primitives(expression)]
    filtered = not (isinstance(expression, Sequence) and isinstance(expression.timeframe, int))
    delivered: list[object] = []
    for events in notifications:
        if not filtered or instances(expression, Observation.of(events)):
            times = {name: e.interval.end for e in events for name in e.types}
            delivered.append([seconds(times[name]) for name in names])
    return in_order(expect["delivered"]), in_order(delivered)


def _events(notification: Any) -> list[Event]:
    """The events of a notification: their times by class, which the profile spells with a capital letter."""
    if not isinstance(notification, Mapping):
        raise CaseError("bad-case", f"{notification!r} is no notification", hint="{e1: 1, e2: 3}")
    return [
        Event(f"{name}.{time}", frozenset({str(name).upper()}), Interval(time * SECOND, time * SECOND))
        for name, time in notification.items()
    ]


# The rules by what a case of kind `rule` expects.
RULES: dict[str, Callable[[Case], Compared]] = {"concurrency": concurrency}
KINDS: Mapping[str, Handler] = {
    "renumber": renumbering,
    "timestamp": timestamp,
    "rule": rule,
    "post-filter": post_filter,
}
