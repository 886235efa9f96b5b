"""What somebody subscribes to: an expression, or a type with a filter, read and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tocsin.algebra.check import check
from tocsin.algebra.pattern import Atom, EventSpec
from tocsin.algebra.subscription import Detection, Reading, Subscription
from tocsin.errors import InputError, PatternErrors, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.binding import Expression
from tocsin.languages.core.policy import policies
from tocsin.languages.core.words import SYMBOLS
from tocsin.languages.lexis import Failure, Reader
from tocsin.languages.registry import parse

_TYPE_WITH_FILTER = re.compile(r"\s*[A-Za-z_]\w*\s*(\(.*\))?\s*", re.DOTALL)
BEST_EFFORT = Detection("best-effort")


@dataclass(frozen=True, slots=True)
class Request:
    """A subscription with what the service has to know of it. `single`: it is about single events, not a pattern."""

    subscription: Subscription
    single: EventSpec | None
    detection: Detection
    stability: str


def read_request(
    expression: str | Subscription | Expression,
    catalog: Catalog,
    *,
    name: str,
    language: str = "core",
    detection: str | Detection | None = None,
    options: Mapping[str, object] | None = None,
) -> Request:
    """Read an expression; raises `PatternErrors` with all mistakes.

    >>> request = read_request("Temp(temp < 15)", Catalog(), name="cold")
    >>> request.single.name, request.detection.mode
    ('Temp', 'best-effort')
    """
    given = dict(options or {})
    stability = str(given.pop("stability", "all-sources"))
    reading = Reading.of(given)
    single = False
    if isinstance(expression, str):
        single = language == "core" and _TYPE_WITH_FILTER.fullmatch(expression) is not None
        text = f"[{expression}]" if single else expression
        subscription = parse(text, language, catalog=catalog, reading=reading, name=name)
    else:
        built = expression.unchecked() if isinstance(expression, Expression) else expression
        subscription = replace(built, name=name, reading=reading if given else built.reading)
        if errors := check(subscription, catalog):
            raise PatternErrors(errors)
    spec = None
    if single:
        assert isinstance(subscription.pattern, Atom)
        (spec,) = subscription.pattern.accept
    wanted = read_detection(detection) if isinstance(detection, str) else detection
    return Request(subscription, spec, wanted or subscription.detection or BEST_EFFORT, stability)


def read_detection(text: str) -> Detection:
    """A detection policy as patterns write it.

    >>> read_detection("probabilistic(0.95)")
    Detection(mode='probabilistic', threshold=0.95)
    """
    reader = Reader(f"detection = {text}", SYMBOLS)
    try:
        detection, _ = policies(reader)
        if not reader.at("end"):
            reader.fail("the end of the policy")
    except Failure:
        detection = None
    if reader.errors or detection is None:
        raise PatternErrors(reader.errors)
    return detection


def check_key(key: Sequence[str], used: frozenset[str], catalog: Catalog) -> None:
    """Refuse a key that no event of the pattern can have."""
    for name in key:
        described = [catalog.attributes(type) for type in used if catalog.describes(type)]
        if len(described) == len(used) and not any(name in attributes for attributes in described):
            known = {attribute for attributes in described for attribute in attributes}
            raise InputError(
                "unknown-attribute",
                f"no event of the pattern has an attribute {name!r} to be its key",
                hint=did_you_mean(name, known),
            )
