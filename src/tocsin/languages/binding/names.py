"""The meaning of bare names in the binding's text form."""

from __future__ import annotations

from collections.abc import Mapping

from tocsin.events import Catalog

PREFIX = "event"


def event_name(word: str, names: Mapping[str, str], catalog: Catalog | None) -> str:
    """The event type that a bare name refers to: `eventA` is the event of type `A`, as in the paper.

    With a catalog only if it has that type; without one, if what is left still looks like the name of a type.

    >>> event_name("eventA", {}, None), event_name("door", {}, None), event_name("eventful", {}, None)
    ('A', 'door', 'eventful')
    """
    if word in names:
        return names[word]
    rest = word.removeprefix(PREFIX).lstrip("_") if word.startswith(PREFIX) else ""
    known = catalog.names if catalog is not None else ()
    if known:
        return rest if rest in known and word not in known else word
    # `eventful` is a word of its own.
    separate = rest[:1].isupper() or word.startswith(PREFIX + "_")
    return rest if rest.isidentifier() and separate else word
