"""A request to subscribe: an expression, or a type with a filter, parsed and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from tocsin.algebra.tokens.check import check, wanting
from tocsin.algebra.tokens.pattern import Atom, EventSpec
from tocsin.algebra.tokens.subscription import Detection, Interpretation, Subscription
from tocsin.errors import InputError, PatternErrors, did_you_mean
from tocsin.events import Catalog
from tocsin.languages.language import Context, Language
from tocsin.languages.registry import DEFAULT, selection_of
from tocsin.languages.registry import language as language_named
from tocsin.service.create import Duration, duration
from tocsin.service.limit import Limit
from tocsin.service.names import uses

Names = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class SubscriptionOptions:
    """Options of a subscription besides its pattern.

    Args:
        matches: which matches are wanted unless the pattern says so: `each`, `any`, `next`, `leftmost` or `adjacent`.
        take: what is reported of those that are complete at one moment: `all`, `first 3`, `last` or `count`.
        reading: the options of the language, such as `{"restart": "always"}`.
        stability: whether `all-sources` have to get past an event, or the `same-source` only; see
            `tocsin.events.stability`.
        sources: the sources to listen to and to wait for; by default all of the service.
        limit: attributes; of events that agree in type and in these, one is used per `every`.
        every: the period of `limit`.
    """

    matches: str | None = None
    take: str | None = None
    interpretation: Mapping[str, object] = field(default_factory=dict)
    stability: str = "all-sources"
    sources: Iterable[str] | None = None
    limit: Names = None
    every: Duration | None = None

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The requested prefilter, if any.

        >>> SubscriptionOptions(limit="name", every="1min").limits
        (Limit(by=('name',), every=60000000, type=None),)
        """
        if (self.limit is None) != (self.every is None):
            hint = "say limit=('name',), every='1min'"
            raise InputError("bad-option", "limit and every belong together", hint=hint)
        return () if self.every is None else (Limit(names(self.limit), duration(self.every)),)


@dataclass(frozen=True, slots=True)
class Request:
    """A subscription with what a service must know about it.

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
    pattern: Any,
    catalog: Catalog,
    *,
    name: str,
    language: str | Language = DEFAULT,
    key: Names = None,
    detection: str | Detection | None = None,
    options: SubscriptionOptions = SubscriptionOptions(),
) -> Request:
    """Parse and check a request; raises `PatternErrors` with all mistakes in a pattern.

    >>> request = read_request("Temp(temp < 15)", Catalog(), name="cold")
    >>> request.single.name, request.detection.mode
    ('Temp', 'best-effort')
    """
    own = language_named(language)
    if own.value_type is not Subscription:
        hint = "subscribe to a pattern of a language that reports matches"
        writes = "sends events" if own.sends else f"is for {own.called.removeprefix('a ')}s"
        raise InputError("no-service", f"a service detects patterns; {own.title} {writes}", hint=hint)
    interpretation, selection = (
        own.options_of(options.interpretation),
        selection_of(own, options.matches, options.take),
    )
    single = None
    if isinstance(pattern, str):
        alone = own.part("single event")(pattern) if "single event" in own.parts else None
        subscription: Subscription = own.read(
            alone or pattern, interpretation, Context(catalog, selection, name)
        )
        if alone and isinstance(subscription.pattern, Atom):
            (single,) = subscription.pattern.accept
    else:
        built: Subscription = own.accept(pattern)
        subscription = replace(
            built,
            name=name,
            interpretation=_reading(interpretation) if options.interpretation else built.interpretation,
        )
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
    return Request(subscription, single, policy, options.stability, keys, used)


def _reading(options: Any) -> Interpretation:
    """The interpretation of the paper given by the options of a language of patterns."""
    return (
        options if isinstance(options, Interpretation) else Interpretation.of(asdict(options.interpretation))
    )


def read_detection(text: str) -> Detection:
    """A detection policy, as patterns of the default language write it."""
    found: Detection = language_named(DEFAULT).part("detection")(text)
    return found


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
