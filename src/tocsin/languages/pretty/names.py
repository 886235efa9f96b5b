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

    A name in the table `names` refers to its entry there, any other to itself. `"Event A"` refers to the type `Event_A` if
    the catalog has that one and no `Event A`. Only a closed catalog refuses a name that it does not know.

    >>> reader = Reader('"Event A"', "")
    >>> event_name(reader.here, reader, {"Event A": "A"}, None)
    'A'
    """
    raw = str(quoted.value).strip()
    name = names.get(raw, raw)
    known = catalog.names if catalog is not None else ()
    joined = re.sub(r"\s+", "_", raw)
    if is_name(name) or (name and (raw in names or raw in known)):
        return name  # if the catalog lacks it, the check of the whole pattern says so
    if raw not in names and joined in known:
        return joined
    if name and (catalog is None or not catalog.closed):
        return name
    declare = f" or declare the type {joined}" if is_name(joined) else ""
    hint = did_you_mean(raw, {*names, *known}, f"say in the table of names which event type it is{declare}")
    reader.note("unknown-name", f"{shortened(raw)!r} stands for no event type", quoted.span, hint)
    return None
