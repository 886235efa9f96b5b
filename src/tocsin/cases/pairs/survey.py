"""Cases about the surveyed languages (paper 004): what a text of one finds, and how a language is classified.

| kind | given | expect |
|---|---|---|
| `survey` | expression, trace, params | `matches`, `at`, `cumulated`, `satisfied`, `reactions`, `error`; matches by mode |
| `classify` | the name of a language, its operators and timeframe | `group` |
| `rule` | a consumption mode, or nothing | `concurrency` (Table 9), `order` (Table 23) |

Times of a trace are seconds. `params` are options of the language; or `Class_attribute`, or `attribute`, with one value for
all events or a list with one for each; `horizon` is how far the clock runs, otherwise to the first reaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tocsin.algebra.pairs.expression import (
    After,
    At,
    Conjunction,
    Expression,
    Negation,
    Primitive,
    primitives,
    walk,
    with_timeframes,
)
from tocsin.algebra.pairs.expression import (
    Sequence as Ordered,
)
from tocsin.algebra.pairs.observation import Instance, Observation
from tocsin.algebra.pairs.parameters import IMPLIED_CONCURRENCY, Consumption, Detection, Gather
from tocsin.algebra.pairs.profile import Profile
from tocsin.algebra.pairs.semantics import instances, reactions
from tocsin.algebra.predicate import Attribute, comparisons
from tocsin.cases.model import Asked, Case, Compared, Handler, Skip, only_keys
from tocsin.cases.pairs.found_in_trace import flat, in_order
from tocsin.cases.pairs.instances import Found, Instances, asked
from tocsin.compile.pairs import without_program
from tocsin.errors import CaseError, TocsinError
from tocsin.events import Event, Interval
from tocsin.languages.language import Language
from tocsin.languages.profiles.classification import HIERARCHY, group_of
from tocsin.languages.registry import language
from tocsin.values import Value

SECOND = 1_000_000
Find = Callable[[Expression, Observation], Sequence[Instance]]
_NAMES = {"selection": "duplicates"}  # what a case calls an option
_CONSUMPTION = {
    "shared": Consumption.KEEP,
    "exclusive parameter": Consumption.REAPPLY,
    "exclusive": Consumption.DELETE,
}


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A case of the survey, read: its profile and what is observed."""

    case: Case
    profile: Profile
    observation: Observation

    def answers(self, find: Find) -> dict[str, object]:
        """What the profile finds, in each of the ways that the case expects."""
        told = {
            "matches": self._matches,
            "at": self._at,
            "cumulated": self._cumulated,
            "satisfied": self._satisfied,
            "reactions": self._reactions,
        }
        return {key: told[key](find) for key in self.case["expect"] if key in told}

    def _matches(self, find: Find) -> object:
        written = isinstance(next(iter(self.case["trace"]), None), Mapping)
        return [_both_times(i) if written else i.ids for i in find(self.profile.expression, self.observation)]

    def _at(self, find: Find) -> object:
        times = {instance.time for instance in find(self.profile.expression, self.observation)}
        return [time // SECOND for time in sorted(times)]

    def _cumulated(self, find: Find) -> object:
        """The times of the parts that a gathering operand contributed to each match."""
        expression = self.profile.expression
        if not isinstance(expression, Conjunction | Ordered) or not isinstance(expression.how, Detection):
            raise CaseError("bad-case", "nothing is cumulated by this expression")
        gathered: set[Instance] = set()
        for operand, mode in zip(expression.operands, expression.how.modes, strict=True):
            if isinstance(mode.selection, Gather):
                gathered |= set(find(operand, self.observation))
        matches = find(expression, self.observation)
        return [[part.time // SECOND for part in match.parts if part in gathered] for match in matches]

    def _satisfied(self, find: Find) -> object:
        return _holds(with_timeframes(self.profile.expression), self.observation, find)

    def _reactions(self, _: Find) -> object:
        times = list(_spaced(self._reaction_times(), self.profile.notify.every))
        actions = [
            f"{a.name}({', '.join(a.arguments)})" if a.arguments else a.name for a in self.profile.actions
        ]
        return [[action, time] for time in times for action in actions] if actions else times

    def _reaction_times(self) -> list[int]:
        """The times of reactions. Without a horizon the clock runs to the first reaction."""
        last, horizon = self.observation.end, self.case.get("params", {}).get("horizon")
        end = horizon * SECOND if horizon is not None else last + 60 * SECOND
        found = [i.time for i in reactions(self.profile.expression, self._ticking(end))]
        if found and horizon is None:
            found = [i.time for i in reactions(self.profile.expression, self._ticking(max(found[0], 0)))]
        return found

    def _ticking(self, end: int) -> Observation:
        clock = tuple(range(0, end + 1, SECOND))
        return replace(self.observation, ticks=clock, end=max(end, self.observation.end))


def _spaced(times: Sequence[int], least: int) -> Iterator[int]:
    """The times in seconds, without those too soon after one that is given."""
    last: int | None = None
    for time in times:
        if last is None or not least or time - last >= least:
            last = time
            yield time // SECOND


def _both_times(match: Instance) -> list[list[Value]]:
    """When each event of a match was made, and when it was filtered."""
    return [
        [*(leaf.event.attributes.values() if leaf.event else ()), leaf.time // SECOND]
        for leaf in match.leaves()
    ]


def _holds(expression: Expression, observation: Observation, find: Find) -> bool:
    """Whether a condition on what has occurred is true at the end."""
    match expression:
        case Negation(body):
            return not find(body, observation)
        case Conjunction(operands):
            return all(_holds(operand, observation, find) for operand in operands)
        case _:
            return bool(find(expression, observation))


# --- reading a case ----------------------------------------------------------------------------------


def surveyed(case: Case, **options: object) -> Surveyed:
    """A case, with these options beside its own; raises `TocsinError` if the language refuses its text."""
    own, params = language(case["language"]), dict(case.get("params", {}))
    given = {_NAMES.get(name, name): value for name, value in params.items()}
    chosen = {name: _option(own, name, value) for name, value in given.items() if name in own.option_names}
    profile = own.read(case["expression"], {**chosen, **options})
    values = {
        name: value for name, value in given.items() if name not in own.option_names and name != "horizon"
    }
    events = list(_events(case["trace"], profile.expression, values))
    return Surveyed(case, profile, Observation.of(events, (), _end(profile.expression, events)))


def _option(own: Language, name: str, value: object) -> object:
    """An option of a case; `default …` says in words what holds if it is left out."""
    if not (isinstance(value, str) and value.startswith("default ")):
        return value
    asked = value.removeprefix("default ")
    if own.options_of({name: asked}) != own.options_of({}):
        raise CaseError("bad-case", f"the default of {name} is not {asked}")
    return asked


def _events(trace: Sequence[Any], expression: Expression, values: Mapping[str, Any]) -> Iterator[Event]:
    """The events of a trace. Names of classes may be written in another case than in the expression."""
    seen: Counter[str] = Counter()
    for entry in trace:
        name, time, own = _entry(entry)
        seen[name] += 1
        meant = [one for one in primitives(expression) if one.name.lower() == name.lower()]
        known = {**_bare(meant), **_given(name, seen[name], meant, values), **own}
        types = frozenset({name, *(one.name for one in meant)})
        yield Event(f"{name}.{seen[name]}", types, Interval(time * SECOND, time * SECOND), known)


def _entry(entry: Any) -> tuple[str, int, dict[str, Value]]:
    if isinstance(entry, Mapping):
        own = {name: value for name, value in entry.items() if name not in ("type", "filtered")}
        return entry["type"], entry["filtered"], own
    name, time, *more = entry
    return name, time, dict(more[0]) if more else {}


def _bare(meant: Sequence[Primitive]) -> dict[str, Value]:
    """A bare word of a condition, such as `pullUp`, says what kind of event the trace has."""
    tested = [test for one in meant for test in comparisons(one.filter)]
    return {t.left.name: True for t in tested if isinstance(t.left, Attribute) and _value(t.right) is True}


def _value(term: object) -> object:
    return getattr(term, "value", None)


def _given(name: str, number: int, meant: Sequence[Primitive], values: Mapping[str, Any]) -> dict[str, Value]:
    """The attributes that a case gives to an event, by the name of its class or to whichever class has the attribute."""
    tested = {t.left.name for one in meant for t in comparisons(one.filter) if isinstance(t.left, Attribute)}
    found: dict[str, Value] = {}
    for key, value in values.items():
        named, _, attribute = key.rpartition("_")
        if named == name or (key in tested and named != name):
            own = attribute if named == name else key
            found[own] = value[min(number, len(value)) - 1] if isinstance(value, list) else value
    return found


def _end(expression: Expression, events: Sequence[Event]) -> int:
    """When observation ends: when everything that the expression waits for has had its time."""
    last = max([0, *(event.interval.end for event in events)])
    moments = [part.time for part in walk(expression) if isinstance(part, At)]
    delays = sum(part.delay for part in walk(expression) if isinstance(part, After))
    return int(max([last + delays, *moments]))


# --- kinds -------------------------------------------------------------------------------------------------


def _survey(case: Case, engine: str) -> Compared | Asked:
    """What a text of a surveyed language finds."""
    modes = [mode.value for mode in Consumption]
    keys = ("matches", "at", "cumulated", "satisfied", "reactions", "error", *modes)
    expected = only_keys(case.get("expect"), keys, "expect")
    if not expected:
        raise CaseError("bad-case", "expect is empty", hint="say what must come out: " + ", ".join(keys))
    if engine != "reference":
        return _on_an_engine(case, engine, expected)
    find: Find = instances
    try:
        if set(expected) <= set(modes):
            found = {mode: _of_consumption(case, mode, find) for mode in expected}
            return _as_sets(expected), _as_sets(found)
        return _as_sets(expected), _as_sets(surveyed(case).answers(find))
    except TocsinError as error:
        if "error" not in expected or isinstance(error, CaseError):
            raise
        said = str(error)
        return expected["error"], expected["error"] if str(expected["error"]) in said else said


def _on_an_engine(case: Case, engine: str, expected: Mapping[str, Any]) -> Compared | Asked:
    """What the engines for tables and streams find; they know matches and when they occur."""
    if not set(expected) <= {"matches", "at"} or isinstance(next(iter(case["trace"]), None), Mapping):
        raise Skip("this is asked of the definitions")
    one = surveyed(case)
    if reasons := without_program(one.profile.expression):
        raise Skip(str(reasons[0].message))

    def compared(found: list[Found]) -> Compared:
        if "at" in expected:
            return expected["at"], sorted({match.time // SECOND for match in found})
        return in_order(map(flat, expected["matches"])), in_order(match.match for match in found)

    own = language(case["language"])
    # A tick at the end tells engines, which know only of events, that the time until then has passed.
    question = Instances(own, one.profile.expression, one.observation.events, [one.observation.end])
    return asked(question, engine, compared)


def _of_consumption(case: Case, mode: str, find: Find) -> object:
    asked = surveyed({**case, "expect": {"matches": []}}, consumption=mode)
    return asked.answers(find)["matches"]


def _as_sets(answers: Mapping[str, Any]) -> dict[str, object]:
    """Answers in a form that can be compared: lists of matches are sets (Part C.5.7)."""
    return {
        key: sorted(map(repr, value)) if isinstance(value, list) else value for key, value in answers.items()
    }


def _classify(case: Case, _: str) -> Compared:
    """The group of a language, by the features that the case gives and by those of its description."""
    expected, given = only_keys(case.get("expect"), ("group",), "expect"), case["given"]
    group = group_of(given["operators"], given["timeframe"])
    own = language(case["expression"]).part("description")().group
    return expected["group"], group if own == group else f"{group}, but its description says {own}"


def _rule(case: Case, _: str) -> Compared:
    """Table 9 and Table 23."""
    expected = only_keys(case.get("expect"), ("concurrency", "order"), "expect")
    if "order" in expected:
        return expected["order"], list(HIERARCHY)
    named = case["given"]["consumption"]
    if named not in _CONSUMPTION:
        raise CaseError("bad-case", f"there is no consumption mode {named!r}")
    implied = IMPLIED_CONCURRENCY[_CONSUMPTION[named]]
    return expected["concurrency"].replace("-", ""), implied.value if implied else "undetermined"


SURVEY_KINDS: Mapping[str, Handler] = {"survey": _survey, "classify": _classify, "rule": _rule}
