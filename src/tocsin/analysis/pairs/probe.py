"""Finds what a detector does with duplicates, used instances, timeframes and equal times, by asking it about small traces.

Paper: 004, section 7.2, practical analysis: most systems are described without these parameters, so they are found by probing
profiles. Each answer leaves the settings that give the same matches; the next trace is the one that tells most of those apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tocsin.algebra.pairs.groups import Operator
from tocsin.analysis.pairs.detectors import Detector, Refused
from tocsin.analysis.pairs.settings import (
    LONGEST,
    Matches,
    Probe,
    Setting,
    all_pairs,
    as_matches,
    best_word,
    expected,
    ids_of,
    settings,
)
from tocsin.errors import InputError, TocsinError

PROBED = (Operator.SEQUENCE, Operator.CONJUNCTION, Operator.DISJUNCTION, Operator.SIMULTANEITY)
FARTHEST = 10**9  # how far apart two events are at most tried


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one operator.

    Args:
        explained_by: the settings that give what the detector gave; none if it does something else.
        refuted: the other settings, each with the trace on which it gives something else.
        window: the farthest that two events of a match are apart; None if there is no limit. A timeframe of that length
            includes its end.
        ties: what becomes of events of the same time: `strict` if they do not match, `arrival` if they match in the order
            of arrival, `any` if in both.
        probes: the traces that were asked, with the matches.
        refused: why the detector does not know the profile; empty if it does.
    """

    operator: Operator
    profile: str
    explained_by: tuple[Setting, ...] = ()
    refuted: Mapping[str, str] = field(default_factory=dict)
    window: int | None = None
    ties: str = ""
    probes: Mapping[str, Matches] = field(default_factory=dict)
    refused: str = ""

    def boundary(self, timeframe: int) -> str:
        """Whether a timeframe that the profile gives includes its end.

        >>> Finding(Operator.SEQUENCE, "(a ; b)_5", window=4).boundary(5)
        'excluded'
        """
        if self.window is None:
            return "not kept"
        return {timeframe: "included", timeframe - 1: "excluded"}.get(self.window, "not kept")

    def pairs(self) -> dict[tuple[str, str], str | None]:
        """For each two of the settings that explain it, a trace that tells them apart, if there is one."""
        return all_pairs(_about(self.operator, self.window), self.explained_by)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        if self.refused:
            return {"operator": self.operator.value, "profile": self.profile, "refused": self.refused}
        return {
            "operator": self.operator.value,
            "profile": self.profile,
            "explained_by": [one.words for one in self.explained_by],
            "window": self.window,
            "ties": self.ties,
            "probes": {word: sorted(list(ids) for ids, _ in found) for word, found in self.probes.items()},
            "refuted": dict(self.refuted),
        }

    def __str__(self) -> str:
        if self.refused:
            return f"{self.operator.value}: refused ({self.refused})"
        lines = [f"{self.operator.value}: {self.profile}"]
        names = " or ".join(one.words for one in self.explained_by) or "none of the settings that are known"
        lines.append(f"  explained by: {names}")
        lines.append(f"  window: {'no limit' if self.window is None else self.window}")
        lines.append(f"  equal times: {self.ties}")
        tried = ", ".join(f"{word} ({sum(n for _, n in found)})" for word, found in self.probes.items())
        lines.append(f"  traces, with the number of matches: {tried}")
        same = [pair for pair, word in self.pairs().items() if word is None]
        if same:
            lines.append(f"  not told apart by any trace of up to {LONGEST} events")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Probed:
    """What was found of each operator of a detector."""

    findings: tuple[Finding, ...]

    @property
    def primitive_only(self) -> bool:
        """Whether it knows no composite event that it was asked about."""
        return all(finding.refused for finding in self.findings)

    def of(self, operator: Operator | str) -> Finding:
        """What was found of one operator."""
        return next(finding for finding in self.findings if finding.operator == Operator(operator))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {"primitive_only": self.primitive_only, "operators": [one.to_dict() for one in self.findings]}

    def __str__(self) -> str:
        heading = ["primitive events only"] if self.primitive_only else []
        return "\n".join([*heading, *map(str, self.findings)])


def probe(detector: Detector, profiles: Mapping[str, str]) -> Probed:
    """What explains a detector, by operator. `profiles` says each operator over events a and b in its language.

    >>> def latest(profile, events):
    ...     pairs, last = [], None
    ...     for event in events:
    ...         if event["type"] == "b" and last:
    ...             pairs.append([last, event["id"]])
    ...         last = event["id"] if event["type"] == "a" else last
    ...     return pairs
    >>> print(probe(latest, {"sequence": "a then b"}))
    sequence: a then b
      explained by: last, keep or runs: last of a with all of b, unique pairs
      window: no limit
      equal times: arrival
      traces, with the number of matches: ab (1), aab (1), abb (2), abab (2)
      not told apart by any trace of up to 7 events
    """
    known = {}
    for name, profile in profiles.items():
        if name not in [one.value for one in PROBED]:
            hint = "one of " + ", ".join(one.value for one in PROBED)
            raise InputError("bad-operator", f"{name!r} is not an operator that is probed", hint=hint)
        known[Operator(name)] = profile
    return Probed(tuple(_probed(detector, operator, profile) for operator, profile in known.items()))


def _probed(detector: Detector, operator: Operator, profile: str) -> Finding:
    try:
        ties = _ties(detector, profile)
        window = _window(detector, operator, profile)
    except Refused as problem:
        return Finding(operator, profile, refused=str(problem))
    except TocsinError as problem:
        if problem.code == "bad-detector":
            raise
        return Finding(operator, profile, refused=problem.message)
    if operator is Operator.SIMULTANEITY:
        return Finding(operator, profile, (Setting("all", settings(operator)[0].how),), {}, window, ties)
    remaining, about = list(settings(operator)), _about(operator, window)
    probes: dict[str, Matches] = {}
    refuted: dict[str, str] = {}
    while (word := best_word(about, remaining, set(probes))) is not None:
        probes[word] = _asked(detector, profile, word)
        wrong = [one for one in remaining if expected(about, one, word) != probes[word]]
        refuted |= {one.words: word for one in wrong}
        remaining = [one for one in remaining if one not in wrong]
        if not remaining:
            break
    return Finding(operator, profile, tuple(remaining), refuted, window, ties, probes)


def _about(operator: Operator, window: int | None) -> Probe:
    """What is looked for: a timeframe counts if the traces can be longer."""
    return Probe(operator, window if window is not None and window < LONGEST else None)


def _asked(detector: Detector, profile: str, word: str, times: Sequence[int] = ()) -> Matches:
    """The matches of a detector in a trace; the events come at 1, 2, 3 and so on unless times are given."""
    clock = times or range(1, len(word) + 1)
    events = [{"id": id, "type": id[0], "time": time} for id, time in zip(ids_of(word), clock, strict=True)]
    return as_matches(detector(profile, events))


def _ties(detector: Detector, profile: str) -> str:
    in_order, turned = (bool(_asked(detector, profile, word, (1, 1))) for word in ("ab", "ba"))
    if in_order and turned:
        return "any"
    return "arrival" if in_order else "strict"


def _window(detector: Detector, operator: Operator, profile: str) -> int | None:
    """The farthest that two events of a match are apart; None if they can be as far apart as was tried."""
    if operator is Operator.DISJUNCTION:
        return None

    def matches(distance: int) -> bool:
        return bool(_asked(detector, profile, "ab", (1, 1 + distance)))

    if matches(FARTHEST):
        return None
    near, far = 0, 1
    while far < FARTHEST and matches(far):
        near, far = far, far * 2
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if matches(middle) else (near, middle)
    return near
