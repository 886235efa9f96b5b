"""The meaning of quoted names in the pretty language."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tocsin.errors import did_you_mean
from tocsin.events import Catalog
from tocsin.languages.lexis import Reader, Token, is_name, shortened


def event_name(
    quoted: Token, reader: Reader, names: Mapping[str, str], catalog: Catalog | None
) -> str | None:
    """The event type, set or composite that a quoted name refers to; an unknown name is recorded as a mistake.

    A name in the table `names` refers to its entry there, a name without spaces to itself, and
    `"Event A"` to the type `Event_A` if the catalog has one.

    >>> reader = Reader('"Event A"', "")
    >>> event_name(reader.here, reader, {"Event A": "A"}, None)
    'A'
    """
    raw = str(quoted.value).strip()
    name = names.get(raw, raw)
    if is_name(name):
        return name
    known = catalog.names if catalog is not None else ()
    joined = re.sub(r"\s+", "_", raw)
    if raw not in names and joined in known:
        return joined
    shown = shortened(raw)
    if raw in names:
        message = f"the table of names says that {shown!r} is {shortened(name)!r}, which is not a name"
        reader.note("bad-name", message, quoted.span, "a name has letters, digits and _, and no blanks")
    else:
        declare = f" or declare the type {joined}" if is_name(joined) else ""
        otherwise = f"say in the table of names which event type it is{declare}"
        hint = did_you_mean(raw, {*names, *known}, otherwise)
        reader.note("unknown-name", f"{shown!r} stands for no event type", quoted.span, hint)
    return None
