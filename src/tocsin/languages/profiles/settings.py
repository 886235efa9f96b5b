"""The options of a language: given as `options=`, or at the start of a text, as in `[context=recent, window=5min]`.

An option gives values to the names in the meanings of operators. What a text or a caller gives is kept as text, so that a
profile can be written again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any

from tocsin.algebra.pairs.operators import choice
from tocsin.algebra.pairs.parameters import Gather, Pick
from tocsin.algebra.pairs.profile import Interpretation
from tocsin.errors import InputError, did_you_mean
from tocsin.events import format_duration, format_timestamp, parse_duration, parse_timestamp
from tocsin.languages.lexis import MAX_DURATION, is_name

SECOND = 1_000_000  # a number without a unit is a number of seconds
_NUMBER = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)
_RANGE = re.compile(r"(\d{1,9})\s*\.\.\s*(\d{1,9})", re.ASCII)
HINTS = {
    "duration": "a duration such as 5min, or a number of seconds",
    "time": "a time such as 2024-01-31T19:00:00",
    "name": "a name",
    "pick": "first, last, all, a number, or a range such as 2..4",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its kind or its words, its default as text ("" for none), and what it is for.

    Each word of `values` gives values to names of its own; otherwise the option gives one to its name.
    """

    name: str
    kind: str = "word"
    default: str = ""
    says: str = ""
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def names(self, text: str) -> dict[str, Any]:
        """The values of names that a text of this option gives; refused if it is none."""
        if self.kind != "word":
            return {self.name: self._read(text) if text else None}
        if text not in self.values:
            raise self._refused(text, did_you_mean(text, self.values, f"one of {', '.join(self.values)}"))
        return dict(self.values[text]) or {self.name: text}

    def canonical(self, given: object) -> str:
        """The text of a given value; refused if it is none of the option."""
        if isinstance(given, bool) or not isinstance(given, str | int):
            raise self._refused(given, self.hint)
        text = str(given).strip()
        if self.kind == "word":
            self.names(text)
            return text
        found = self._read(text)
        if self.kind == "duration":
            return format_duration(found)
        return time_text(found) if self.kind == "time" else text.replace(" ", "")

    @property
    def hint(self) -> str:
        return HINTS.get(self.kind) or f"one of {', '.join(self.values)}"

    def _read(self, text: str) -> Any:
        found = _READERS[self.kind](text)
        if found is None:
            raise self._refused(text, self.hint)
        return found

    def _refused(self, given: object, hint: str) -> InputError:
        shown = repr(given) if len(str(given)) < 60 else "that"
        return InputError("bad-option", f"the option {self.name} cannot be {shown}", hint=hint)


def read_duration(text: str) -> int | None:
    """Microseconds of a duration; a number without a unit is seconds.

    >>> read_duration("5"), read_duration("5min"), read_duration("soon")
    (5000000, 300000000, None)
    """
    number = _NUMBER.fullmatch(text)
    found = round(float(text) * SECOND) if number else parse_duration(text) if len(text) <= 30 else None
    return None if found is None or found > MAX_DURATION else found


def read_time(text: str) -> int | None:
    """A moment; a number is seconds since 1970."""
    number = _NUMBER.fullmatch(text)
    found = round(float(text) * SECOND) if number else parse_timestamp(text) if len(text) <= 40 else None
    return None if found is None or found > MAX_DURATION else found


def time_text(moment: int) -> str:
    """A moment as text: early ones as seconds, for traces that start at 0.

    >>> time_text(10_000_000), time_text(1_706_727_600_000_000)
    ('10', '2024-01-31T19:00:00')
    """
    early = 0 <= moment < 10**6 * SECOND and moment % SECOND == 0
    return str(moment // SECOND) if early else format_timestamp(moment)


def _pick(text: str) -> Pick | None:
    if found := _RANGE.fullmatch(text):
        low, high = int(found[1]), int(found[2])
        return Pick(low, high) if 1 <= low <= high else None
    if text.isascii() and text.isdigit() and len(text) < 10:
        return Pick(int(text), int(text)) if int(text) else None
    picked = choice(text) if text in ("first", "last", "all") else None
    return None if isinstance(picked, Gather) else picked


_READERS: dict[str, Callable[[str], Any]] = {
    "duration": read_duration,
    "time": read_time,
    "pick": _pick,
    "name": lambda text: text if is_name(text) else None,
}


def options_type(title: str, options: tuple[Option, ...]) -> Any:
    """The class of the options of a language, beside those of its family; `of` refuses what it does not know."""
    shared = [one.name for one in fields(Interpretation)]

    def of(cls: Any, asked: Mapping[str, object]) -> Any:
        known = {option.name: option for option in options}
        for name in asked:
            if name not in known and name not in shared:
                hint = did_you_mean(name, known, f"{title} has none" if not known else "")
                raise InputError("unknown-option", f"{title} has no option {name!r}", hint=hint)
        family = Interpretation.of({name: value for name, value in asked.items() if name in shared})
        own = {name: known[name].canonical(value) for name, value in asked.items() if name in known}
        return cls(**{name: getattr(family, name) for name in shared}, **own)

    members = [(option.name, str, field(default=option.default)) for option in options]
    namespace = {"of": classmethod(of), "__doc__": f"The options of {title}."}
    return make_dataclass(
        "ProfileOptions", members, bases=(Interpretation,), frozen=True, namespace=namespace
    )


def names_of(options: tuple[Option, ...], chosen: Mapping[str, str]) -> dict[str, Any]:
    """The values that the chosen texts of all options give to the names in meanings."""
    found: dict[str, Any] = {}
    for option in options:
        found |= option.names(chosen.get(option.name, option.default))
    return found


def value_text(kind: str, value: Any) -> str:
    """A value of a hole as it is written."""
    match kind:
        case "duration":
            return format_duration(value)
        case "time":
            return time_text(value)
        case "frame":
            return f"_{format_duration(value)}" if isinstance(value, int) else "_inf"
        case _:
            return str(value)
