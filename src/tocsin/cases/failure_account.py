"""Why a case failed: how far partial matches got among its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tocsin.cases.completion.answers import event_of
from tocsin.cases.correlation.answers import arrival
from tocsin.cases.model import Case
from tocsin.cases.tokens import trace
from tocsin.errors import TocsinError
from tocsin.events import Event, Interval, Value
from tocsin.languages.language import Language
from tocsin.languages.registry import language_and_part, selection_of
from tocsin.why_not import WhyNot, account_of
from tocsin.why_not.words import in_words

_SHOWN = 3  # partial matches
_KEYS = 2  # keys of a case
_SECOND = 1_000_000


def explained(case: Case) -> list[str]:
    """The lines to show with a failure; none for kinds of cases that are about no trace."""
    try:
        own, _ = language_and_part(str(case["language"]))
        accounts = list(_accounts(own, case)) if own.offers("why") else []
    except TocsinError:
        return []  # the failure itself says what is wrong
    lines = []
    for account in accounts[:_KEYS]:
        if account.events:
            lines += ["", *in_words(account, _SHOWN).splitlines()]
    return lines


def _accounts(own: Language, case: Case) -> Iterator[WhyNot]:
    text, options = case.get("expression"), dict(case.get("options") or {})
    match case["kind"]:
        case "detect" | "parameterized" if isinstance(text, str):
            options.pop("parameters", None)
            selection = selection_of(own, options.pop("matches", None), options.pop("take", None))
            names = trace.key_names(case)
            for events in _by_key(trace.events(case)).values():
                key = {name: events[0].attributes.get(name) for name in names}
                yield account_of(
                    text,
                    events,
                    own,
                    options=options,
                    catalog=trace.declared(case),
                    selection=selection,
                    key=key,
                )
        case "run" if isinstance(text, str):
            yield account_of(text, _of_fields(case), own, options=options)
        case "correlation" | "payload" if isinstance(text, str):
            library = own.read(text)
            ports = {one.name: {p.name: p.name for p in one.parameters} for one in library.correlations}
            yield account_of(text, _arrivals(case), own, options={"ports": ports})
        case _:
            return


def _by_key(events: list[Event]) -> dict[Value, list[Event]]:
    found: dict[Value, list[Event]] = {}
    for event in events:
        found.setdefault(event.key, []).append(event)
    return found


def _of_fields(case: Case) -> list[Event]:
    """Events that are written as fields, one a second."""
    found = []
    for number, written in enumerate(case.get("trace") or [], 1):
        fields = dict(event_of(written))
        type = fields.pop("type", "event")
        types = type if isinstance(type, frozenset) else frozenset({str(type)})
        found.append(Event(number, types, Interval(number * _SECOND, number * _SECOND), _values(fields)))
    return found


def _arrivals(case: Case) -> list[Event]:
    """Arrivals at a correlation, one a second; the port of each is called as its event is."""
    found = []
    for number, written in enumerate(case.get("trace") or [], 1):
        one = arrival(written)
        moment = number * _SECOND if one.time is None else one.time
        types = frozenset({one.type or one.event})
        found.append(Event(number, types, Interval(moment, moment), dict(one.attributes), None, one.event))
    return found


def _values(fields: Mapping[str, object]) -> dict[str, Value]:
    return {
        name: value for name, value in fields.items() if isinstance(value, int | float | str | bool | None)
    }
