"""The worked cases of the paper that the algebra alone decides, by the reference.

Kinds that need the surveyed languages or translation are listed in `LEFT`, with how many there are, so that none is
passed over in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.pairs_notation import read_algebra, read_filter, read_prefix
from tocsin.algebra.pairs.composition import occurs_at
from tocsin.algebra.pairs.expression import (
    Composition,
    Conjunction,
    Disjunction,
    Expression,
    Negation,
    Primitive,
    Selection,
    Sequence,
    Simultaneity,
    primitives,
)
from tocsin.algebra.pairs.observation import Observation, renumber
from tocsin.algebra.pairs.operators import choice
from tocsin.algebra.pairs.parameters import (
    ALL,
    IMPLIED_CONCURRENCY,
    Concurrency,
    Consumption,
    Coupling,
    Detection,
    Mode,
    Pairing,
    Pick,
    Traversal,
    Views,
)
from tocsin.algebra.pairs.semantics import instances, reactions, true_at
from tocsin.algebra.predicate import Compare, comparisons
from tocsin.events import Event, Interval
from tocsin.values import Value

Case = dict[str, Any]
CASES: list[Case] = yaml.safe_load(
    (Path(__file__).parents[2] / "conformance" / "jung-hinze.yaml").read_text()
)
CONSUMPTION = {
    "shared": Consumption.KEEP,
    "exclusive parameter": Consumption.REAPPLY,
    "exclusive": Consumption.DELETE,
}
# What needs a language or a translation; surveyed languages other than the algebra itself are counted there.
LEFT = {
    "classify": 14,
    "notification": 2,
    "param-transform": 24,
    "post-filter": 1,
    "prolog": 12,
    "rule": 1,
    "samos": 5,
    "survey": 44,
    "transform": 30,
}


def _decided(case: Case) -> bool:
    """Whether the algebra alone decides a case."""
    match case["kind"]:
        case "survey":
            # The scenario of jh-116 is a pattern of its own (Part C.5.25).
            return case["language"] in ("compas", "lichtvision") and case["id"] != "jh-116"
        case "post-filter":
            # That a finite timeframe is dropped without a filter is a rule of translation.
            return case["id"] != "jh-260"
        case "rule":
            return case["source"] == "Table 9"
        case kind:
            return kind not in LEFT


def _observation(
    case: Case, ticks: list[int] | None = None, **attributes: list[dict[str, Value]]
) -> Observation:
    """The trace of a case; the k-th event of a class has the k-th of the attributes given for the class."""
    seen: Counter[str] = Counter()
    events = []
    for name, time in case["trace"]:
        seen[name] += 1
        values = attributes.get(name, [])
        own = values[min(seen[name], len(values)) - 1] if values else {}
        events.append(Event(f"{name}.{seen[name]}", frozenset({name}), Interval(time, time), own))
    return Observation.of(events, case.get("params", {}).get("ticks", []) if ticks is None else ticks)


def _pick(params: dict[str, Any], name: str) -> Pick:
    if name in params:
        picked = choice(params[name])
        assert isinstance(picked, Pick)
        return picked
    return Pick(params.get(f"{name}min", 1), params.get(f"{name}max"))


def _with_views(expression: Expression, params: dict[str, Any]) -> Expression:
    if not isinstance(expression, Disjunction | Conjunction | Sequence | Simultaneity):
        return expression
    pairing = Pairing.UNIQUE if params.get("Pxy") == "x=y" else Pairing.ALL
    views = Views(_pick(params, "z"), _pick(params, "w"), pairing)
    return type(expression)(expression.operands, expression.timeframe, views)


def _with_detection(expression: Expression, selection: str, consumption: str) -> Expression:
    assert isinstance(expression, Sequence)
    mode = Mode(choice(selection), Consumption(consumption.replace(" & ", "_")))
    return Sequence(expression.operands, expression.timeframe, Detection((mode, mode)))


def _ids(expression: Expression, observation: Observation) -> list[Any]:
    return [instance.ids for instance in instances(expression, observation)]


def _same(found: list[Any], expected: list[Any]) -> None:
    """Lists of matches are sets."""
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def _renumber(case: Case) -> None:
    observation = _observation(case)
    names = case.get("given", {}).get("view", case["alphabet"])
    views = renumber([instances(Primitive(name), observation) for name in names])
    assert [[i.ids for i in view.instances] for view in views] == case["expect"]["views"]


def _algebra(case: Case) -> None:
    expression = _with_views(read_algebra(case["expression"]), case.get("params", {}))
    observation = _observation(case)
    if "true_at" in case["expect"]:
        assert list(true_at(expression, observation)) == case["expect"]["true_at"]
    else:
        _same(_ids(expression, observation), case["expect"]["matches"])


def _timestamp(case: Case) -> None:
    operators: dict[str, type[Composition]] = {
        "|": Disjunction,
        ",": Conjunction,
        ";": Sequence,
        ":": Simultaneity,
    }
    text = case["expression"]
    if negative := re.fullmatch(r"!\(a\)_(\d+) started at (\d+)", text):
        assert occurs_at(Negation, int(negative[2]), int(negative[1])) == case["expect"]["t"]
        return
    parts = re.fullmatch(r"\(a:(\d+) ?([|,;:]) ?b:(\d+)\)", text)
    assert parts is not None
    assert occurs_at(operators[parts[2]], int(parts[1]), int(parts[3])) == case["expect"]["t"]


def _consumption(case: Case) -> None:
    params = case["params"]
    expression = _with_detection(read_algebra(case["expression"]), params["selection"], params["consumption"])
    assert CONSUMPTION[params["unland_zimmer"]] == expression.how.modes[0].consumption
    _same(_ids(expression, _observation(case)), case["expect"]["matches"])


def _modes(case: Case) -> None:
    params = case["params"]
    how = Detection(
        (Mode(ALL, CONSUMPTION[params.get("consumption", "shared")]),),
        Traversal("rl" if params.get("traversal") == "right-to-left" else "lr"),
        Coupling(params.get("coupling", "noncontinuous").replace("-", "")),
        Concurrency(params.get("concurrency", "overlapping").replace("-", "")),
    )
    found = _ids(read_prefix(case["expression"], how), _observation(case))
    if "e6_recognised" in case["expect"]:
        assert bool(found) == case["expect"]["e6_recognised"]
    else:
        _same(found, case["expect"]["matches"])


def _rule(case: Case) -> None:
    implied = IMPLIED_CONCURRENCY[CONSUMPTION[case["given"]["consumption"]]]
    assert (implied.value if implied else "undetermined") == case["expect"]["concurrency"].replace("-", "")


def _profile(case: Case) -> None:
    profile = Primitive("reading", read_filter(case["expression"]))
    for values in case["trace"]:
        event = Event(1, frozenset({"reading"}), Interval(0, 0), values)
        assert bool(instances(profile, Observation.of([event]))) == case["expect"]["notify"]


def _post_filter(case: Case) -> None:
    """A post-filter is the profile itself, put to what the notifications of the weaker profile bring."""
    expression = read_algebra(case["expression"])
    if isinstance(expression, Selection):
        times = [time for notification in case["trace"] for time in notification.values()]
        trace = [Event(number, frozenset({"E1"}), Interval(t, t)) for number, t in enumerate(times)]
        assert list(true_at(expression, Observation.of(trace))) == case["expect"]["delivered"]
        return
    delivered = []
    for notification in case["trace"]:
        trace = [Event(n, frozenset({n.upper()}), Interval(t, t)) for n, t in notification.items()]
        delivered += [[p.time for p in i.parts] for i in instances(expression, Observation.of(trace))]
    _same(delivered, case["expect"]["delivered"])


def _survey(case: Case) -> None:
    if case["language"] == "compas":
        for consumption, expected in case["expect"].items():
            expression = _with_detection(
                read_algebra(case["expression"]), case["params"]["selection"], consumption
            )
            _same(_ids(expression, _observation(case)), expected)
        return
    _facility(case)


def _facility(case: Case) -> None:
    """The scenarios of facility management. The clock ticks once a unit, to the horizon or the first reaction."""
    params = case.get("params", {})
    expression = read_algebra(case["expression"])
    attributes: dict[str, list[dict[str, Value]]] = {}
    for primitive in primitives(expression):
        # A bare word such as `pullUp` says what kind of event the trace has.
        bare = [c for c in comparisons(primitive.filter) if isinstance(c, Compare) and c.right.value is True]
        attributes.setdefault(primitive.name, []).append({c.left.name: True for c in bare})
    if "S1_brightness" in params:
        attributes["S1"] = [{"brightness": params["S1_brightness"]}]
    if "windForce" in params:
        attributes["W1"] = [{"windForce": force} for force in params["windForce"]]
    last = max(time for _, time in case["trace"])
    horizon = params.get("horizon", last + 60)
    action = case["expression"].split(" : ")[1]
    found = [
        [action, i.time]
        for i in reactions(expression, _observation(case, list(range(horizon + 1)), **attributes))
    ]
    assert (found if "horizon" in params else found[:1]) == case["expect"]["reactions"]


RUN = {
    "algebra": _algebra,
    "concurrency": _modes,
    "consumption": _consumption,
    "coupling": _modes,
    "post-filter": _post_filter,
    "profile": _profile,
    "renumber": _renumber,
    "rule": _rule,
    "survey": _survey,
    "timestamp": _timestamp,
    "traversal": _modes,
}


@pytest.mark.parametrize("case", [case for case in CASES if _decided(case)], ids=lambda case: case["id"])
def test_a_case_passes(case: Case) -> None:
    RUN[case["kind"]](case)


def test_kinds_that_come_later_are_counted() -> None:
    assert dict(Counter(case["kind"] for case in CASES if not _decided(case))) == LEFT


def test_a_wrong_expectation_fails() -> None:
    case = next(case for case in CASES if case["id"] == "jh-012")
    with pytest.raises(AssertionError):
        _algebra({**case, "expect": {"matches": [["e1.1", "e2.1"]]}})
