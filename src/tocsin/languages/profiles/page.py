"""What a description says, as text: one line of the classification table, and one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tocsin.languages.profiles.classification import GROUPS, HIERARCHY, OPERATORS
from tocsin.languages.profiles.description import Description, Features

HEADS = ("language", "group", "conj", "disj", "seq", "neg", "sim", "sel", "time", "consumption", "duplicates")
_TICKS = (
    "events of this type are the ticks of the clock, by which it is known that something has not occurred"
)


def table(descriptions: Iterable[Description]) -> str:
    """The classification: Table 14, with the group of each language, the most expressive last."""
    order = {group: number for number, group in enumerate(HIERARCHY)}
    found = sorted(descriptions, key=lambda one: (order.get(one.group, -1), one.name))
    return columns([HEADS, *(_row(one) for one in found)])


def _row(own: Description) -> tuple[str, ...]:
    features = own.table
    marks = ["x" if name in features.operators else "" for name in OPERATORS]
    time = "x" if features.timeframe else ""
    return own.name, own.group, *marks, time, ", ".join(features.consumption), ", ".join(features.duplicates)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as text, each column as wide as its widest cell."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def page(own: Description) -> str:
    """Everything about one language."""
    return "\n".join(_page(own))


def _page(own: Description) -> Iterator[str]:
    system = "" if own.system == own.title else f", the language of {own.system}"
    yield f"{own.title}{system} ({own.kind})" if own.kind else own.title + system
    yield own.about
    yield ""
    known = f": {GROUPS[own.group]}" if own.group in GROUPS else ""
    facts = [
        ("name", ", ".join((own.name, *own.aliases))),
        ("paper", own.source),
        ("group", own.group + known),
    ]
    facts += list(_features(own.text))
    if own.ours:
        facts.append(("ours", own.ours))
    yield columns(facts)
    yield from _notation(own)
    yield "\noptions, as in --option NAME=VALUE or [name=value] before the text"
    rows = [("  " + o.name, o.hint, o.default or "-", o.says) for o in own.options]
    yield columns([*rows, ("  ticks", "the name of an event type", "-", _TICKS)])


def _features(features: Features) -> Iterator[tuple[str, str]]:
    yield "operators", ", ".join(features.operators) or "none: primitive events only"
    yield "timeframe", "yes" if features.timeframe else "no"
    yield "consumption", ", ".join(features.consumption) or "-"
    yield "duplicates", ", ".join(features.duplicates) or "-"
    if features.note:
        yield "note", features.note


def _notation(own: Description) -> Iterator[str]:
    for key, title in (("operator", "notation"), ("condition", "conditions")):
        found = own.operators if key == "operator" else own.more.get("condition", ())
        rows = [
            ("  " + str(one["name"]), _shown(str(one["syntax"])), str(one.get("says", ""))) for one in found
        ]
        if rows:
            yield f"\n{title}"
            yield columns(rows)
    words = [one["word"] for one in own.more.get("whole", ()) if "word" in one]
    for word in words:
        yield f"  a whole profile can begin with {word}; without it, it is matched once"


def _shown(syntax: str) -> str:
    """A syntax as people write it: holes by their names."""
    return " ".join(
        chunk.strip("<>").partition(":")[0] if "<" in chunk[:1] and len(chunk) > 2 else chunk
        for chunk in syntax.split()
    )
