"""Cases about what is found in a trace.

| kind | given | expect |
|---|---|---|
| `algebra` | expression, trace, `params`: z, w, Pxy, ticks | `matches`, or `true_at` |
| `consumption` | expression, trace, `params`: selection, consumption | `matches` |
| `coupling`, `concurrency`, `traversal` | expression, trace, `params`: the modes | `matches`, or whether `e6_recognised` |
| `profile` | a condition, a trace of attributes | whether to `notify` |

Times are in seconds, and so are timeframes without a unit. Matches are sets. On the definitions they are compared with how
they are nested; the other engines report what is in a match as one list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tocsin.algebra.pairs.clock import observed
from tocsin.algebra.pairs.expression import Expression, Primitive
from tocsin.algebra.pairs.profile import Profile
from tocsin.algebra.pairs.semantics import instances
from tocsin.cases.model import Asked, Case, Compared, Handler, only_keys
from tocsin.cases.pairs.class_times import events_of, seconds, ticks_of
from tocsin.cases.pairs.instances import Found, Instances, asked
from tocsin.cases.pairs.settings import CALLED, VIEWS, with_detection, with_modes, with_views
from tocsin.errors import CaseError
from tocsin.events import Event, Interval
from tocsin.languages.language import Language
from tocsin.languages.registry import language_and_part

# Keys that a case of any kind may have; the second line is for the reader.
_ALWAYS = (
    *("id", "kind", "language", "expression", "expect", "trace", "given", "params"),
    *("source", "basis", "decision", "note", "alphabet"),
)


def own_language(case: Case) -> Language:
    """The language of a case."""
    return language_and_part(str(case["language"]))[0]


def expression_of(case: Case) -> Expression:
    """The expression of a case; bare numbers are seconds."""
    text = case.get("expression")
    if not isinstance(text, str):
        raise CaseError("bad-case", f"the expression must be a text, not {text!r}")
    profile: Profile = own_language(case).read(text)
    return profile.expression


def expected(case: Case, *known: str) -> Mapping[str, Any]:
    """What a case expects, after checking that every key of it is used; exactly one of `known`."""
    only_keys(case, _ALWAYS, "the case")
    found = only_keys(case.get("expect"), known, "expect")
    if len(found) != 1:
        raise CaseError("bad-case", "expect says not exactly one thing", hint="one of " + ", ".join(known))
    return found


def params_of(case: Case, *known: str) -> Mapping[str, Any]:
    """The parameters of a case."""
    return only_keys(case.get("params") or {}, known, "params")


def found_in(case: Case, engine: str, expression: Expression, expect: Mapping[str, Any]) -> Compared | Asked:
    """The matches of an expression in the trace of a case, or when it is true, compared with what the case expects."""
    events, ticks = events_of(case, expression), ticks_of(case)
    if engine == "reference" and "matches" in expect:
        ids = [one.ids for one in instances(expression, observed(expression, events, ticks))]
        return in_order(expect["matches"]), in_order(ids)

    def compared(found: list[Found]) -> Compared:
        if "matches" in expect:
            return in_order(map(flat, expect["matches"])), in_order(one.match for one in found)
        if "true_at" in expect:
            return expect["true_at"], sorted({seconds(one.time) for one in found})
        return expect["e6_recognised"], bool(found)

    return asked(Instances(own_language(case), expression, events, ticks), engine, compared)


def in_order(matches: Iterable[object]) -> list[object]:
    """Matches as a sorted list: lists of matches are sets."""
    return sorted(matches, key=repr)


def flat(match: object) -> object:
    """A nested match as one list, as engines report it."""
    if not isinstance(match, list):
        return match
    return [leaf for part in match for leaf in (flat(part) if isinstance(part, list) else [part])]  # type: ignore[attr-defined]  # of a list it is one


def algebra(case: Case, engine: str) -> Compared | Asked:
    """The matches of an operator with the parameters of section 4.2."""
    expect = expected(case, "matches", "true_at")
    params = params_of(case, *VIEWS, "ticks")
    return found_in(case, engine, with_views(expression_of(case), params), expect)


def consumption(case: Case, engine: str) -> Compared | Asked:
    """The matches of an operator with a selection and a consumption mode."""
    expect = expected(case, "matches")
    params = params_of(case, "selection", "consumption", "unland_zimmer")
    expression = with_detection(expression_of(case), params["selection"], params["consumption"])
    called = params.get("unland_zimmer", "shared")
    if "unland_zimmer" in params and CALLED.get(called) != _consumption(expression):
        raise CaseError("bad-case", f"{params['consumption']} is not what Unland and Zimmer call {called}")
    return found_in(case, engine, expression, expect)


def _consumption(expression: Expression) -> object:
    how: Any = getattr(expression, "how", None)
    return how.modes[0].consumption


def modes(case: Case, engine: str) -> Compared | Asked:
    """The matches of expressions with the modes of Unland and Zimmer."""
    expect = expected(case, "matches", "e6_recognised")
    expression = with_modes(expression_of(case), case.get("params") or {})
    return found_in(case, engine, expression, expect)


def profile(case: Case, engine: str) -> Compared | Asked:
    """Whether an event satisfies the condition of a profile."""
    expect = expected(case, "notify")
    own = own_language(case)
    expression = Primitive("reading", own.part("filter")(case["expression"]))
    events = [
        Event(number, frozenset({"reading"}), Interval(number, number), values)
        for number, values in enumerate(case.get("trace") or (), 1)
    ]

    def compared(found: list[Found]) -> Compared:
        return expect["notify"], bool(events) and len(found) == len(events)

    return asked(Instances(own, expression, events), engine, compared)


KINDS: Mapping[str, Handler] = {
    "algebra": algebra,
    "consumption": consumption,
    "coupling": modes,
    "concurrency": modes,
    "traversal": modes,
    "profile": profile,
}
