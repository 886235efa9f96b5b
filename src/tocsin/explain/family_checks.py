"""The functions with which a family checks texts, as the value that `Language.on("check")` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tocsin.explain.check_report import Asked, CheckReport, Comparison
from tocsin.explain.parsed_text import ParsedText


class Linked(NamedTuple):
    """Texts with what they need from each other, and reports about the files that connect them."""

    texts: Sequence[ParsedText]
    reports: Sequence[CheckReport] = ()


def unlinked(texts: Sequence[ParsedText]) -> Linked:
    """Return the texts unchanged, for a family whose texts do not depend on each other."""
    return Linked(texts)


@dataclass(frozen=True, slots=True)
class FamilyChecks:
    """How the texts of a family are checked.

    Args:
        report: what can be known of a text before it runs.
        named: what of a text can be compared with others; each has a `name`.
        compare: for each question that may be asked of two of these, the function that answers it.
        link: the texts of a family with what they need of each other.
    """

    report: Callable[[ParsedText], CheckReport]
    named: Callable[[ParsedText], Sequence[Any]]
    compare: Mapping[Asked, Callable[[Any, Any], Comparison]] = field(default_factory=dict)
    link: Callable[[Sequence[ParsedText]], Linked] = unlinked
