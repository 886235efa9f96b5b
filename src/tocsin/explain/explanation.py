"""The explanation of a pattern: sections, each with a typed part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tocsin.explain.contents import Diagram, Finding, Findings, Part, Route, Tree
from tocsin.explain.render.data import data_of, kind_of
from tocsin.explain.render.layout import titled
from tocsin.explain.render.terminal import text_of

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Section:
    """A part under a title. One that is not `printed` is drawn and is in the JSON, but would flood a terminal."""

    title: str
    part: Part
    printed: bool = True


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a pattern: its meaning, how it is detected, and what that costs.

    It prints as text, a notebook shows it with its automata drawn, and `to_dict` is the same for programs. Every
    family of languages fills the same kinds of parts.

    >>> import tocsin
    >>> found = tocsin.explain("[Door];[Alarm]")
    >>> found.text, found.family, [tree.words for tree in found.trees]
    ('[Door];[Alarm]', 'tokens', ['one strictly after the other  ;'])
    >>> [(edge.source, edge.event, edge.target) for edge in found.diagrams[0].edges]
    [('S0', 'Door', 'S1'), ('S1', 'Alarm', 'match')]
    """

    family: str
    language: str
    text: str
    sections: tuple[Section, ...]

    def parts(self, kind: type[P]) -> tuple[P, ...]:
        """The parts of one type, such as `Waits`, in order."""
        return tuple(section.part for section in self.sections if isinstance(section.part, kind))

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The syntax trees."""
        return self.parts(Tree)

    @property
    def diagrams(self) -> tuple[Diagram, ...]:
        """The automata, machines or acceptors."""
        return self.parts(Diagram)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Warnings: oddities of the pattern that are not mistakes."""
        return tuple(one for findings in self.parts(Findings) for one in findings.findings)

    def with_route(self, route: Route) -> Explanation:
        """Return the explanation with the route by which events reach the pattern; warnings stay last."""
        section = Section("route", route)
        last = [one for one in self.sections if isinstance(one.part, Findings)]
        first = [one for one in self.sections if one not in last]
        return replace(self, sections=(*first, section, *last))

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON; the `kind` of a section says which fields its part has."""
        return {
            "family": self.family,
            "language": self.language,
            "text": self.text,
            "sections": [
                {"title": one.title, "kind": kind_of(one.part), "part": data_of(one.part)}
                for one in self.sections
            ],
        }

    def __str__(self) -> str:
        return "\n\n".join(titled(one.title, text_of(one.part)) for one in self.sections if one.printed)

    def _repr_html_(self) -> str:
        # Imported here, because only a notebook and a studio need the drawings.
        from tocsin.explain.render.page import explanation_html

        return explanation_html(self)
