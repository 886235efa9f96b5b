"""Selection: which matches a subscription wants.

The paper's detectors find what `each` finds: a partial match takes the first event it can use, every start is looked for, and
every completion is reported. The other policies are what users of other engines know.

| `matches` | |
|---|---|
| `each` | the paper's own |
| `any` | a partial match may also leave out events it could use: all ways to pick events (skip till any match) |
| `next` | as `each`, but of each first event only the first completion (skip till next match) |
| `leftmost` | of those the one that begins first, and then none that begins before it is over (no overlap) |
| `adjacent` | as `each`, but no event of the stream may lie between two events of a match |

`take` then says which of the matches that one event, or one moment of timers, completes are reported: `all`, the `first` n,
the `last`, or only their number, `count`. They are ordered by their events, the first event first; if one continues where
the other ends, the one that takes an event earlier comes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeVar, get_args

from tocsin.errors import InputError, did_you_mean

Wanted = OneOf["each", "any", "next", "leftmost", "adjacent"]
Take = OneOf["all", "first", "last", "count"]
COUNT = "count"  # the variable that holds the number of matches
END = "end"  # the name of the event that completes them, which may have another in each
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Selection:
    """A choice of matches. `limit` is the n of `first`, and 0 otherwise."""

    matches: Wanted = "each"
    take: Take = "all"
    limit: int = 0

    @classmethod
    def of(cls, matches: object = "each", take: object = "all") -> Selection:
        """The selection given by two texts, such as `leftmost` and `first 3`.

        >>> Selection.of("any", "first 3")
        Selection(matches='any', take='first', limit=3)
        """
        if matches not in get_args(Wanted):
            raise InputError(
                "bad-selection",
                f"matches cannot be {matches!r}",
                hint=did_you_mean(str(matches), get_args(Wanted)) or "one of " + ", ".join(get_args(Wanted)),
            )
        word, _, number = str(take).strip().partition(" ")
        number = number.strip()
        if word == "first" and number.isdecimal() and len(number) < 10 and int(number) > 0:
            return cls(matches, "first", int(number))  # type: ignore[arg-type]  # checked above
        if word in ("all", "last", "count") and not number:
            return cls(matches, word)  # type: ignore[arg-type]
        raise InputError("bad-selection", f"take cannot be {take!r}", hint="all, first 3, last or count")

    @property
    def taken(self) -> str:
        """The text of `take`."""
        return f"first {self.limit}" if self.take == "first" else self.take

    def __str__(self) -> str:
        return ", ".join(
            f"{name} = {value}"
            for name, value, usual in (("matches", self.matches, "each"), ("take", self.taken, "all"))
            if value != usual
        )

    def some(self, completed: Iterable[_T]) -> list[_T]:
        """The matches of one moment that are reported; `completed` is in order."""
        found = list(completed)
        if self.take == "first":
            return found[: self.limit]
        return found[-1:] if self.take == "last" else found
