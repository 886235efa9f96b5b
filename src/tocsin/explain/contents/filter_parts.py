"""A filter with the transformer behind it: branches, cases, and where in a network they can be decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch of a filter: its labels with what they mark, and the number of states of its acceptor.

    The number is None where a table would have too many of them, and `refused` says so.
    """

    filter: str
    labels: Mapping[str, str]
    acceptor_states: int | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of a filter."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Transformer:
    """The transformer: the switches set at first, and the cases, each with its guard."""

    initial: tuple[str, ...]
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocalDecision:
    """A part of a filter that one node can decide by itself."""

    node: str
    filter: str


@dataclass(frozen=True, slots=True)
class Placement:
    """The parts that each node can decide, so that only completed parts cross the network; and those that need several.

    `unknown` says why that is not known.
    """

    local: tuple[LocalDecision, ...] = ()
    shared: tuple[str, ...] = ()
    unknown: str | None = None
