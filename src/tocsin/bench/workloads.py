"""The workloads: each in words, as patterns of the plain language of a family, and the columns it needs.

A window of a minute means that a match's last event comes less than 60,000 ms after its first; a timer also ends matches
at the very moment it runs out, so it is set a millisecond shorter. Matches are within a key, and do not overlap unless
stated otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from tocsin.errors import InputError, did_you_mean

MINUTE = 60_000  # milliseconds
THRESHOLDS = 100
MANY = "many_"
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Threshold:
    """One pattern of a workload of many: the least `v` of its A and of its B."""

    a: float = 0.0
    b: float = 0.0


@dataclass(frozen=True, slots=True)
class Workload:
    """A pattern or several over the same events.

    Args:
        shape: the kind of pattern, for engines with queries of their own: `abc`, `abc_any`, `all_three`, `ac_without_b`, and
            `sequence` and `conjunction` of A and B in the event algebra.
        selection: which matches are wanted: `leftmost` and then past it, `next` for every start, `any` for all ways; of the
            event algebra the duplicates and the consumption.
        family: in whose plain language the text is.
        windowed: whether the first and the last event have to be close together.
        counted: whether only the number of matches is wanted.
        thresholds: one pattern for each.
    """

    name: str
    says: str
    shape: str
    selection: str
    text: str
    windowed: bool = True
    counted: bool = False
    thresholds: tuple[Threshold, ...] = (Threshold(),)
    family: str = "tokens"

    def patterns(self, window: int = MINUTE) -> Mapping[str, str]:
        """The patterns by name, for a window in milliseconds."""
        return {
            f"p{number}": self.text.replace("WINDOW", f"{window - 1}ms")
            .replace("A_LEAST", f"{one.a:g}")
            .replace("B_LEAST", f"{one.b:g}")
            for number, one in enumerate(self.thresholds)
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the events that it needs."""
        return ("key", "ts", "type", "v") if self.thresholds != (Threshold(),) else ("key", "ts", "type")


_ABC = "([A], [B][C])_{T1=WINDOW}"
_ALL_THREE = (
    "([A], ([B][C] | [C][B]))_{T1=WINDOW} | ([B], ([A][C] | [C][A]))_{T2=WINDOW} | "
    "([C], ([A][B] | [B][A]))_{T3=WINDOW}"
)
_AC = "([A], [C in {C, B}])_{T1=WINDOW}"
_ABOVE = "([A(v >= A_LEAST)], [B(v >= B_LEAST)][C])_{T1=WINDOW}"
_LEFTMOST, _NEXT, _ANY = " with matches = leftmost", " with matches = next", " with matches = any"

_SAID: tuple[Workload, ...] = (
    Workload(
        "W1", "A, the first B after it, the first C after that", "abc", "leftmost", f"{_ABC}{_LEFTMOST}"
    ),
    Workload("W1_noskip", "W1 from every A", "abc", "next", f"{_ABC}{_NEXT}"),
    Workload(
        "W1_anymatch",
        "how many (A, B, C) in order there are",
        "abc_any",
        "any",
        f"{_ABC}{_ANY}, take = count",
        counted=True,
    ),
    Workload("W1_allmatches", "every (A, B, C) in order", "abc_any", "any", f"{_ABC}{_ANY}"),
    Workload(
        "W1_nowindow", "W1 without a window", "abc", "leftmost", f"[A][B][C]{_LEFTMOST}", windowed=False
    ),
    Workload("W3", "A, B and C in any order", "all_three", "leftmost", f"{_ALL_THREE}{_LEFTMOST}"),
    Workload("W3_noskip", "W3 from every one of them", "all_three", "next", f"{_ALL_THREE}{_NEXT}"),
    Workload(
        "W4",
        "A, the first C after it, and no B between",
        "ac_without_b",
        "leftmost",
        f"{_AC}{_LEFTMOST}",
    ),
    Workload("W4_noskip", "W4 from every A", "ac_without_b", "next", f"{_AC}{_NEXT}"),
    Workload(
        "W6",
        "100 times W1, each with a least v of A and of B",
        "abc",
        "leftmost",
        f"{_ABOVE}{_LEFTMOST}",
        thresholds=tuple(Threshold(10 * (i % 10), 10 * (i // 10)) for i in range(THRESHOLDS)),
    ),
)
_BETWEEN = {"sequence": ";", "conjunction": ","}
DUPLICATES = ("first", "last", "all")
CONSUMPTION = ("keep", "delete", "delete_reapply")
# Pairs of the event algebra: each operator with every duplicates mode and every consumption mode.
PAIRS: tuple[Workload, ...] = tuple(
    Workload(
        f"P_{shape}_{duplicates}_{consumption}",
        f"{shape} of A and B, {duplicates} duplicates, {consumption.replace('_', ' & ')}",
        shape,
        f"{duplicates} {consumption}",
        f"(A {_BETWEEN[shape]} B)_WINDOW{{z={duplicates}, w={duplicates}, consume={consumption}}}",
        family="pairs",
    )
    for shape, duplicates, consumption in product(_BETWEEN, DUPLICATES, CONSUMPTION)
)
WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in (*_SAID, *PAIRS)}
USUAL = ("W1", "W3", "W4")
"""The workloads that are measured if none is named."""

UNSUPPORTED = {
    "W2": "three or more falls of v and a rise need comparisons of neighbours, which come with MATCH_RECOGNIZE",
    "W5": "a sum over the events of a match comes with MATCH_RECOGNIZE",
}
"""Workloads of the set that no language of ours can say yet, and why."""


def many(count: int) -> Workload:
    """W1 `count` times, each with thresholds of its own near 100: few matches per pattern, so that they cost little.

    >>> sorted(many(2).patterns(1_000).values())[1]
    '([A(v >= 99.01)], [B(v >= 99)][C])_{T1=999ms} with matches = leftmost'
    """
    if not 1 <= count <= MOST:
        raise InputError("bad-option", f"--patterns cannot be {count:,}", hint=f"1 to {MOST:,}")
    # Whole hundredths divided once, so that every engine parses the same number.
    thresholds = tuple(Threshold((9_900 + i % 100) / 100, (9_900 + i // 100) / 100) for i in range(count))
    says = f"{count:,} times W1, each with a v of A and of B above its own 99.xx"
    return Workload(f"{MANY}{count}", says, "abc", "leftmost", f"{_ABOVE}{_LEFTMOST}", thresholds=thresholds)


def workload(name: str) -> Workload:
    """The workload with this name."""
    if name.startswith(MANY) and name.removeprefix(MANY).isdecimal():
        return many(int(name.removeprefix(MANY)))
    if name in WORKLOADS:
        return WORKLOADS[name]
    if name in UNSUPPORTED:
        raise InputError("unsupported-workload", f"{name} cannot be run yet: {UNSUPPORTED[name]}")
    raise InputError("unknown-workload", f"there is no workload {name!r}", hint=did_you_mean(name, WORKLOADS))
