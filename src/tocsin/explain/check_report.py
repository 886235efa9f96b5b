"""The report of a check: answers with the traces that show them, comparisons, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from typing import Literal as OneOf

from tocsin.analysis import Answer, Need, show_briefly, show_trace
from tocsin.errors import counted
from tocsin.explain.contents import Branch, Finding, Trace
from tocsin.explain.render.data import data_of
from tocsin.explain.render.layout import columns, titled
from tocsin.explain.render.rows import Row

# How many lines about influence are shown of one subscription; JSON has all.
SHOWN = 20
Kind = OneOf["equal", "same-traces", "contained", "alike"]
Asked = OneOf["equal", "contains"]


@dataclass(frozen=True, slots=True)
class Effect:
    """An event that can change an output: after `before`, and at once or when `after` follows."""

    event: Mapping[str, Any]
    output: str
    before: Trace
    after: Trace


@dataclass(frozen=True, slots=True)
class Examined:
    """The answers about one subscription, machine, correlation or pattern.

    An answer is None if it was not asked for, or was refused; then `refused` says why. `counts` are sizes by name.
    """

    what: str
    name: str
    trivial: Answer | None = None
    vacuous: Answer | None = None
    live: Answer | None = None
    influence: tuple[Effect, ...] | None = None
    state: Need | None = None
    branches: tuple[Branch, ...] = ()
    counts: Mapping[str, int | None] = field(default_factory=dict)
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation between two of one text; the witness is the shortest trace on which they differ."""

    kind: Kind
    left: str
    right: str
    witness: Trace | None = None

    def __str__(self) -> str:
        left, right, trace = self.left, self.right, show_trace(self.witness or ())
        match self.kind:
            case "equal":
                return f"{left} and {right} do the same"
            case "same-traces":
                return f"{left} and {right} accept the same traces; they differ after {trace}"
            case "contained":
                return f"{left} is contained in {right}, which also accepts {trace}"
            case "alike":
                return f"{left} and {right} trigger alike"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer to one question about two: whether it holds, a trace on which it does not, and a sentence."""

    question: Asked
    left: str
    right: str
    holds: bool
    witness: Trace | None
    words: str

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values, for JSON."""
        found: dict[str, Any] = data_of(self)
        return found

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'no'}: {self.words}"


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Pairs that were not compared, and why; `names` are those not compared with anything."""

    pairs: int = 0
    reason: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The results of the static checks of a text.

    >>> import tocsin
    >>> report = tocsin.check("subscribe S {push(x) {do {a} unless {b}}}", language="ecl")
    >>> [(one.code, one.witness) for one in report.findings]
    [('gets-stuck', ({'type': 'b'},))]
    >>> report.examined[0].vacuous.witness
    ({'type': 'a'},)
    """

    family: str
    language: str
    examined: tuple[Examined, ...] = ()
    relations: tuple[Relation, ...] = ()
    not_compared: NotCompared = NotCompared()
    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    file: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many were examined, related to each other, not compared, and how many findings there are."""
        return {
            "examined": len(self.examined),
            "relations": len(self.relations),
            "not_compared": self.not_compared.pairs,
            "findings": len(self.findings),
        }

    def in_file(self, file: str | None) -> CheckReport:
        """Return the report with the file that the text is from."""
        if file is None:
            return self
        return replace(self, file=file, findings=tuple(one.in_file(file) for one in self.findings))

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {**data_of(self), "counts": self.counts}

    def tables(self) -> Iterator[tuple[str, list[Row]]]:
        """The answers as tables with titles, without the findings."""
        for one in self.examined:
            yield f"{one.what} {one.name}", list(_answers(one))
        if self._several:
            title = "filters compared" if any(one.branches for one in self.examined) else "compared"
            yield title, [("", line) for line in self._compared()]
        if self.comparisons:
            yield "comparisons", [("yes" if one.holds else "no", one.words) for one in self.comparisons]

    @property
    def _several(self) -> bool:
        return sum(max(1, len(one.branches)) for one in self.examined) > 1

    def _compared(self) -> list[str]:
        lines = [str(relation) for relation in self.relations]
        if self.not_compared.pairs:
            lines.append(f"{self.not_compared.pairs:,} pairs not compared: {self.not_compared.reason}")
        lines += [f"{name} not compared" for name in self.not_compared.names]
        filters = any(one.branches for one in self.examined)
        return lines or ["no two of them trigger alike" if filters else "none is contained in another"]

    def __str__(self) -> str:
        shown = []
        for title, rows in self.tables():
            plain = all(not left for left, _ in rows)
            shown.append(titled(title, "\n".join(right for _, right in rows) if plain else columns(rows)))
        findings = "\n\n".join(map(str, self.findings)) or "none"
        return "\n\n".join([*shown, titled("warnings", findings)])

    def _repr_html_(self) -> str:
        # Imported here, because only a notebook and a studio need it.
        from tocsin.explain.render.page import report_html

        return report_html(self)


def _answers(found: Examined) -> Iterator[Row]:
    if found.trivial is not None:
        yield "trivial", _said(found.trivial, "every event is accepted by itself", "{} is not accepted")
    if found.vacuous is not None:
        yield "vacuous", _said(found.vacuous, "no trace is accepted", "{} is accepted")
    if found.live is not None:
        holds = "every trace can go on to one that is accepted"
        yield "live", _said(found.live, holds, "after {} nothing can be accepted any more")
    if found.influence is not None:
        yield from _influences(found.influence)
    if found.state is not None:
        yield "state", _state(found.state)
    for branch in found.branches:
        labels = ", ".join(branch.labels) or "none"
        states = branch.refused or f"{branch.acceptor_states} acceptor states"
        yield branch.filter, f"{states}; labels: {labels}"
    if not found.branches:
        for name, count in found.counts.items():
            yield name, "no limit" if count is None else f"{count:,}"
    if found.refused is not None:
        yield "refused", found.refused


def _said(answer: Answer, if_it_holds: str, otherwise: str) -> str:
    if answer.witness is None:
        return f"yes: {if_it_holds}"
    return "no: " + otherwise.format(show_trace(answer.witness))


def _influences(found: tuple[Effect, ...]) -> Iterator[Row]:
    heading = "influence"
    for one in found[:SHOWN]:
        event = show_briefly(one.event)
        marked = [*map(show_briefly, one.before), f"[{event}]", *map(show_briefly, one.after)]
        yield heading, f"{event} on {one.output}, as in {' '.join(marked)}"
        heading = ""
    if not found:
        yield heading, "none: nothing is ever pushed"
    elif len(found) > SHOWN:
        yield heading, f"… {len(found) - SHOWN} more; --json shows all"


def _state(need: Need) -> str:
    bits = counted(need.bits, "bit")
    size = f"{counted(need.states, 'state')} and {counted(need.transitions, 'transition')}"
    if need.configurations is None or need.witness is None:
        return f"{bits}, one a state: {size}, run as they are, because {need.refused}"
    configurations = counted(need.configurations, "configuration")
    whole = f"{bits}: {configurations}, {need.minimal} of them different"
    when = f"after {show_trace(need.witness)}" if need.witness else "at the start"
    return f"{whole}; {size}, at most {counted(need.peak or 0, 'active state')}, as {when}"
