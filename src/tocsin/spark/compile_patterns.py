"""Parse the patterns given to `detect` and `replay`, and compile them to one plan."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tocsin.algebra.tokens.subscription import Detection
from tocsin.automata.detection_plan import Compiled
from tocsin.compile.family import KnownEvents
from tocsin.compile.plan_texts import named_texts, plan_texts
from tocsin.compile.tokens import stuck
from tocsin.errors import TocsinWarning
from tocsin.events import Catalog
from tocsin.languages.attached import Attached
from tocsin.languages.registry import language, selection_of

Pattern = Any  # a text, what `tocsin.parse` returns for one, or a mapping of names to either


@dataclass(frozen=True, slots=True)
class GivenPatterns:
    """Patterns as the user wrote them, with their language, its options, and the selection of matches."""

    pattern: Pattern
    language: str
    options: Any = None
    matches: str | None = None
    take: str | None = None
    catalog: Catalog | None = None

    @property
    def language_options(self) -> Any:
        """The options of the language as one value, checked. Files are read now, because workers may not see them."""
        return language(self.language).options_of(self._read_options())

    @property
    def named_options(self) -> Mapping[str, object]:
        """The options of the language by name, checked; rules may override them."""
        value, given = self.language_options, self._read_options()
        if isinstance(given, Mapping):
            return given
        return {} if given is None else {one.name: getattr(value, one.name) for one in fields(value)}

    def _read_options(self) -> Any:
        if not isinstance(self.options, Mapping):
            return self.options
        return {
            name: Attached.of(one) if isinstance(one, Path) else one for name, one in self.options.items()
        }


@dataclass(frozen=True, slots=True)
class CompiledPatterns:
    """The plan of the patterns, the catalog of event types, and the detection policy that each names, if any."""

    compiled: Compiled
    catalog: Catalog
    detections: Mapping[str, Detection | None]


def compile_patterns(
    given: GivenPatterns, kinds: Mapping[str, str], *, points: bool = False
) -> CompiledPatterns:
    """Parse and compile patterns over events whose attributes have these kinds.

    Args:
        points: whether events are known to have no length.
    """
    selection = selection_of(given.language, given.matches, given.take)
    texts = named_texts(given.pattern, given.language, given.language_options, selection)
    planned = plan_texts(texts, KnownEvents(kinds, given.catalog, points))
    for name, problem in stuck(planned.compiled):
        whose = f"the pattern {name!r}: " if len(planned.subscriptions) > 1 else ""
        found = TocsinWarning(problem.code, f"{whose}{problem.message}", problem.hint)
        warnings.warn(found, stacklevel=2)
    detections = {one.name: one.detection for one in planned.subscriptions}
    return CompiledPatterns(planned.compiled, planned.catalog, detections)
