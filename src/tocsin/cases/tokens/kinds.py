"""The kinds of cases of languages of the token family: what each expects, and how it is computed.

| kind | given | expect |
|---|---|---|
| `detect`, `parameterized` | expression, options, trace | `matches`, or `error` |
| `policy` | as `detect`, with arrivals; `detection`, `sources`, `stability`, `threshold` | `matches` |
| `parse`, `translate` | expression | `error` (true, false, a code or codes), `printed`, `core`, `pretty`, … |
| `automaton` | expression, trace of type names | `active_states`, `generated`, `states`, `transitions` |
| `order`, `union` | `t1`, `t2` | `strong` and `weak`; `t` |
| `total-order` | `events`: name, interval, id | `order` |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tocsin.algebra.tokens.pattern import pattern_variables
from tocsin.algebra.tokens.subscription import Subscription
from tocsin.automata.tokens.active_states import active_states
from tocsin.automata.tokens.automaton import build
from tocsin.automata.tokens.plan import plan
from tocsin.cases.model import ON_SPARK, Asked, Case, Compared, Handler, only_keys
from tocsin.cases.tokens import detection, trace
from tocsin.cases.tokens.arrivals import detect_arrivals
from tocsin.errors import CaseError, PatternErrors
from tocsin.events import Event, Interval, total_order
from tocsin.languages import registry

# Keys that a case of any kind may have; the second line is for the reader.
_ALWAYS = (
    *("id", "kind", "language", "expression", "expect", "trace", "given", "options"),
    *("source", "basis", "decision", "note", "alphabet"),
)
_DETECTION = (*_ALWAYS, "key", "types", "sets")
SELECTION = ("matches", "take")  # options that say which matches are wanted, if the expression does not


def _checked(
    case: Case, expect: tuple[str, ...], known: tuple[str, ...] = _ALWAYS, **empty: str
) -> Mapping[str, Any]:
    """The expected results of a case, after checking that every key of the case is used.

    `empty` names keys that do not apply to the kind and so must be left empty.
    """
    only_keys(case, known, "the case")
    for key, kind in empty.items():
        if case.get(key):
            raise CaseError("unknown-key", f"a case of kind {kind!r} has no {key}", hint=f"leave {key} out")
    expected = only_keys(case.get("expect"), expect, "expect")
    if not expected:
        raise CaseError("bad-case", "expect is empty", hint="say what must come out: " + ", ".join(expect))
    return expected


def _subscription(case: Case, **more_options: Callable[[Subscription, object], None]) -> Subscription:
    """The expression of a case under its options; `more_options` are checked against what they must mean."""
    expression, options = case.get("expression"), dict(case.get("options") or {})
    if not isinstance(expression, str):
        raise CaseError("bad-case", f"the expression must be a text, not {expression!r}")
    asked = [(check, options.pop(name)) for name, check in more_options.items() if name in options]
    selection = registry.selection_of(case["language"], *(options.pop(name, None) for name in SELECTION))
    known = trace.declared(case)
    subscription: Subscription = registry.parse(
        expression, case["language"], options=options, catalog=known, selection=selection
    )
    for check, value in asked:
        check(subscription, value)
    return subscription


def _parameters(subscription: Subscription, value: object) -> None:
    """Check the option `parameters`, which says how events are related, against the expression."""
    used = {
        "post-filter": subscription.where is not None,
        "bound-variable": bool(pattern_variables(subscription.pattern)),
    }
    if value not in used:
        hint = "one of " + ", ".join(used)
        raise CaseError("bad-option", f"the option parameters cannot be {value!r}", hint=hint)
    if not used[str(value)]:
        raise CaseError("bad-option", f"the option parameters is {value}, but the expression has none")


def detect(case: Case, engine: str) -> Compared | Asked:
    """The composite events of an expression over a trace."""
    expect = _checked(case, ("matches", "error"), _DETECTION, given="detect")
    if "matches" not in expect:
        return parse({**case, "trace": []}, engine)
    if "error" in expect:
        raise CaseError("bad-case", "expect has both matches and error", hint="keep one of them")
    subscription = _subscription(case, parameters=_parameters)
    compared = partial(detection.compared, expect["matches"])
    if engine in ON_SPARK:
        return Asked(detection.asked(subscription, case, engine), compared)
    return compared(detection.detect(subscription, case, engine))


def policy(case: Case, engine: str) -> Compared:
    """The composite events of an expression over events as they arrive."""
    expect = _checked(case, ("matches",))
    found = detect_arrivals(_subscription(case), case, engine)
    return detection.compared(expect["matches"], found, ("detected_after_arrival", *detection.MATCH_KEYS))


def parse(case: Case, engine: str) -> Compared:
    """Whether an expression is refused; how it is printed, and its text in another language."""
    family = registry.language(case["language"]).family
    known = ("error", "printed", *(one.name for one in registry.languages() if one.family == family))
    expect = _checked(case, known, _DETECTION, trace=case["kind"], given=case["kind"])
    try:
        subscription: Subscription | PatternErrors = _subscription(case)
    except PatternErrors as refused:
        if "error" not in expect:
            raise
        subscription = refused
    wanted: dict[str, object] = {}
    got: dict[str, object] = {}
    for key, value in expect.items():
        if key == "error":
            wanted[key], got[key] = _refusal(value, subscription)
        elif isinstance(subscription, PatternErrors):
            wanted[key], got[key] = value, None
        elif key == "printed":
            wanted[key], got[key] = value, registry.show(subscription, case["language"])
        else:
            # Through the printer, which writes equal patterns alike: whitespace and parentheses do not count.
            wanted[key] = registry.show(registry.parse(value, key), key)
            got[key] = registry.show(subscription, key)
    return wanted, got


def _refusal(expected: object, read: Subscription | PatternErrors) -> tuple[object, object]:
    """The codes with which an expression is refused; or only whether it is, if that is all the case says."""
    codes = list(dict.fromkeys(e.code for e in read.errors)) if isinstance(read, PatternErrors) else []
    if isinstance(expected, bool):
        return expected, codes if codes and not expected else bool(codes)
    wanted = expected if isinstance(expected, list) else [expected]
    if not wanted or not all(isinstance(code, str) for code in wanted):
        raise CaseError(
            "bad-case", f"error cannot be {expected!r}", hint="true, false, a code or a list of codes"
        )
    return wanted, codes or False


def automaton(case: Case, engine: str) -> Compared:
    """The active states of an automaton before the first symbol and after each, by the names S0, S1, …"""
    expect = _checked(case, ("active_states", "generated", "states", "transitions"), given="automaton")
    subscription = _subscription(case)
    detectors = plan([subscription]).detectors
    if len(detectors) != 1:
        raise CaseError("bad-case", f"the expression needs {len(detectors)} automata, not one")
    own = build(detectors[0].pattern)
    symbols = [[symbol] if isinstance(symbol, str) else symbol for symbol in case.get("trace") or []]
    if not all(isinstance(name, str) for symbol in symbols for name in symbol):
        raise CaseError("bad-case", "the trace of an automaton is a list of type names", hint="trace: [A, B]")
    activity = active_states(own, symbols, restart_always=subscription.interpretation.restart == "always")
    got = {
        "active_states": [[f"S{state}" for state in states] for states in activity.states],
        "generated": activity.generated,
        "states": len(own.states),
        "transitions": sum(len(state.moves) for state in own.states),
    }
    wanted = dict(expect)
    if "active_states" in wanted:
        wanted["active_states"] = [sorted(states, key=_state_number) for states in wanted["active_states"]]
    return wanted, {key: got[key] for key in expect}


def _state_number(name: object) -> int:
    number = str(name).removeprefix("S")
    if not str(name).startswith("S") or not number.isdigit():
        raise CaseError("bad-case", f"{name!r} is not a state", hint="states are called S0, S1, …")
    return int(number)


def _pair(case: Case, kind: str) -> tuple[Interval, Interval]:
    given = only_keys(case.get("given"), ("t1", "t2"), "given")
    if len(given) != 2 or case.get("expression") is not None:
        raise CaseError("bad-case", f"a case of kind {kind!r} is given t1 and t2, and nothing else")
    return trace.interval(given["t1"]), trace.interval(given["t2"])


def order(case: Case, engine: str) -> Compared:
    """How two intervals follow each other."""
    expect = _checked(case, ("strong", "weak"), trace="order", options="order")
    first, second = _pair(case, "order")
    got = {"strong": first.strongly_before(second), "weak": first.before(second)}
    return dict(expect), {key: got[key] for key in expect}


def union(case: Case, engine: str) -> Compared:
    """The interval that covers two others."""
    expect = _checked(case, ("t",), trace="union", options="union")
    first, second = _pair(case, "union")
    return trace.interval(expect["t"]), first.union(second)


def total(case: Case, engine: str) -> Compared:
    """The order of events by end, start and id."""
    expect = _checked(case, ("order",), trace="total-order", options="total-order")
    given = only_keys(case.get("given"), ("events",), "given")
    events = []
    for written in given.get("events") or ():
        if not isinstance(written, list) or len(written) != 3:
            raise CaseError("bad-case", f"{written!r} is not an event", hint="[name, [start, end], id]")
        name, own, number = written
        events.append((total_order(Event(number, frozenset({str(name)}), trace.interval(own))), name))
    return expect["order"], [name for _, name in sorted(events)]


KINDS: Mapping[str, Handler] = {
    "detect": detect,
    "parameterized": detect,
    "policy": policy,
    "parse": parse,
    "translate": parse,
    "automaton": automaton,
    "order": order,
    "union": union,
    "total-order": total,
}
