"""What somebody subscribes to: an expression, or a type with a filter, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tocsin.algebra.check import check, wanting
from tocsin.algebra.pattern import Atom, EventSpec
from tocsin.algebra.subscription import Detection, Reading, Subscription
from tocsin.errors import InputError, PatternErrors, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.binding import Expression
from tocsin.languages.core.policy import policies
from tocsin.languages.core.words import SYMBOLS
from tocsin.languages.lexis import Failure, Reader
from tocsin.languages.registry import parse, selection_of
from tocsin.service.create import Duration, duration
from tocsin.service.limit import Limit
from tocsin.service.names import uses

_TYPE_WITH_FILTER = re.compile(r"\s*[A-Za-z_]\w*\s*(\(.*\))?\s*", re.DOTALL)
Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Request:
    """A subscription with what a service must know of it.

    `single`: the events it is about, if it is about single events and not about a pattern. `uses`: the types and
    composites it names.
    """

    subscription: Subscription
    single: EventSpec | None
    detection: Detection
    stability: str
    key: tuple[str, ...]
    uses: frozenset[str]


def read_request(
    expression: str | Subscription | Expression,
    catalog: Catalog,
    *,
    name: str,
    language: str = "core",
    key: Names = None,
    detection: str | Detection | None = None,
    matches: str | None = None,
    take: str | None = None,
    options: Mapping[str, object] | None = None,
) -> Request:
    """Read what somebody asks for; raises `PatternErrors` with all mistakes of an expression.

    >>> request = read_request("Temp(temp < 15)", Catalog(), name="cold")
    >>> request.single.name, request.detection.mode
    ('Temp', 'best-effort')
    """
    given = dict(options or {})
    stability = str(given.pop("stability", "all-sources"))
    reading, selection = Reading.of(given), selection_of(language, matches, take)
    single = None
    if isinstance(expression, str):
        alone = language == "core" and _TYPE_WITH_FILTER.fullmatch(expression) is not None
        text = f"[{expression}]" if alone else expression
        subscription = parse(text, language, catalog=catalog, reading=reading, selection=selection, name=name)
        if alone and isinstance(subscription.pattern, Atom):
            (single,) = subscription.pattern.accept
    else:
        built = expression.unchecked() if isinstance(expression, Expression) else expression
        subscription = replace(built, name=name, reading=reading if given else built.reading)
        subscription = wanting(subscription, selection)
        if errors := check(subscription, catalog):
            raise PatternErrors(errors)
    if single is not None and selection is not None:
        hint = "leave matches and take out, or subscribe to a pattern, in brackets"
        raise InputError("bad-option", "single events are no matches to choose from", hint=hint)
    wanted = read_detection(detection) if isinstance(detection, str) else detection
    used = uses(subscription)
    keys = names(key)
    _check_key(keys, single, used, catalog)
    policy = wanted or subscription.detection or Detection("best-effort")
    return Request(subscription, single, policy, stability, keys, used)


def read_detection(text: str) -> Detection:
    """A detection policy as patterns write it.

    >>> read_detection("probabilistic(0.95)")
    Detection(mode='probabilistic', threshold=0.95)
    """
    reader = Reader(f"detection = {text}", SYMBOLS)
    detection = None
    try:
        detection = policies(reader).detection
        if not reader.at("end"):
            reader.fail("the end of the policy")
    except Failure:
        pass
    if reader.errors or detection is None:
        raise PatternErrors(reader.errors)
    return detection


def read_limit(by: Names, every: Duration | None) -> tuple[Limit, ...]:
    """The prefilter that somebody asks for, if any.

    >>> read_limit("name", "1min")
    (Limit(by=('name',), every=60000000, type=None),)
    """
    if (by is None) != (every is None):
        hint = "say limit=('name',), every='1min'"
        raise InputError("bad-option", "limit and every belong together", hint=hint)
    return () if every is None else (Limit(names(by), duration(every)),)


def names(given: Names) -> tuple[str, ...]:
    """One name, several or none as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given or ())


def _check_key(key: Sequence[str], single: EventSpec | None, used: frozenset[str], catalog: Catalog) -> None:
    """Refuse a key that no event of the pattern can have."""
    if key and single is not None:
        hint = "leave it out, or subscribe to a pattern, in brackets"
        raise InputError("bad-option", "single events are not looked for by key", hint=hint)
    described = [catalog.attributes(type) for type in used if catalog.describes(type)]
    for name in key if len(described) == len(used) else ():
        if not any(name in attributes for attributes in described):
            message = f"no event of the pattern has an attribute {name!r} to be its key"
            known = {attribute for attributes in described for attribute in attributes}
            raise InputError("unknown-attribute", message, hint=did_you_mean(name, known))
