"""The report about a system of components: warnings, how many states it has, and what is specified, decided with traces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tocsin.algebra.system.behaviour import Behaving
from tocsin.algebra.system.model import End, System
from tocsin.analysis.system import Decision, check_layout, decide, explore, overflow, slice_of
from tocsin.analysis.system.search import MAX_STATES
from tocsin.automata.correlation.system import Compiled
from tocsin.errors import InputError, counted, did_you_mean
from tocsin.explain.contents import Finding
from tocsin.explain.render.layout import columns

SHOWN = 40  # moves of a trace that are printed; JSON has all


@dataclass(frozen=True, slots=True)
class Decided:
    """A specification as it is written, and the answer: `holds`, `fails` or `not known`.

    Of what fails, and of what is possible, `trace` has the moves that show it; from `repeats` on they go on for ever.
    """

    name: str
    written: str
    answer: str
    trace: tuple[str, ...] | None = None
    repeats: int | None = None

    @classmethod
    def of(cls, decision: Decision) -> Decided:
        """A decision with its trace in words."""
        one = decision.specification
        trace = None if decision.trace is None else tuple(map(str, decision.trace))
        answer = {True: "holds", False: "fails", None: "not known"}[decision.holds]
        return cls(one.name, one.written, answer, trace, decision.repeats)

    def lines(self) -> list[str]:
        """The answer, and the trace a move a line."""
        found = [f"{self.written}: {self.answer}" if self.written else self.answer]
        for number, move in enumerate(self.trace or (), 1):
            if number > SHOWN:
                return [*found, f"  … and {counted(len(self.trace or ()) - SHOWN, 'more move')}"]
            found += ["  from here on, again and again:"] if self.repeats == number - 1 else []
            found.append(f"  {number}. {move}")
        if self.trace == ():
            found.append("  before anything has happened")
        return found


@dataclass(frozen=True, slots=True)
class SystemReport:
    """What is known of a system before it runs.

    Args:
        sizes: how many instances, connections, correlations, and places in the queue it has.
        states: how many states were looked at, at most `bound`; `complete` if there are no others.
        slices: for each port asked for, the ends that can influence it, the nearest first.
    """

    name: str
    sizes: dict[str, int]
    states: int
    moves: int
    bound: int
    complete: bool
    decided: tuple[Decided, ...] = ()
    slices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def well(self) -> bool:
        """Whether there are no warnings and everything specified holds."""
        return not self.findings and all(one.answer == "holds" for one in self.decided)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "system": self.name,
            **self.sizes,
            "states": {"found": self.states, "moves": self.moves, "bound": self.bound, "all": self.complete},
            "specifications": [
                {
                    "name": one.name,
                    "written": one.written,
                    "answer": one.answer,
                    **({} if one.trace is None else {"trace": list(one.trace)}),
                    **({} if one.repeats is None else {"repeats": one.repeats}),
                }
                for one in self.decided
            ],
            "slices": {end: list(ends) for end, ends in self.slices.items()},
            "findings": [{"code": one.code, "message": one.message} for one in self.findings],
        }

    def __str__(self) -> str:
        *sizes, places = [counted(number, what.removesuffix("s")) for what, number in self.sizes.items()]
        size = f"{', '.join(sizes)}, and a queue with {places}"
        reached = counted(self.states, "state") + (
            ", all that can be reached"
            if self.complete
            else f"; there are more, and {self.bound:,} is the bound"
        )
        table = [("made of", size), ("searched", f"{reached}, with {counted(self.moves, 'move')}")]
        lines = [f"system {self.name}", columns(table)]
        for one in self.decided:
            first, *rest = one.lines()
            lines += ["", f"{one.name}: {first}", *rest]
        for end, ends in self.slices.items():
            lines += ["", f"what can influence {end}", *(f"  {other}" for other in ends)]
        for finding in self.findings:
            lines += ["", str(finding)]
        return "\n".join(lines)


def report_on_system(
    system: System, name: str, *, slices: tuple[str, ...] = (), most: int = MAX_STATES
) -> SystemReport:
    """Check the layout of a system, and decide what is specified of it; raises `PatternErrors` with all mistakes."""
    findings = tuple(map(Finding.of, check_layout(system)))
    ends = {written: _end(system, written) for written in slices}
    graph = explore(Behaving(system, Compiled({c.name: c for c in system.library.correlations})), most)
    first = overflow(graph)
    decided = [Decided.of(decide(graph, one)) for one in system.specifications]
    return SystemReport(
        name,
        {
            "instances": len(system.instances),
            "connections": len(system.wires),
            "correlations": len(system.library.correlations),
            "places": system.queue,
        },
        len(graph.states),
        len(graph.targets),
        most,
        not graph.truncated,
        (*(() if first is None else (Decided.of(first),)), *decided),
        {written: tuple(map(str, slice_of(system, end)[1:])) for written, end in ends.items()},
        findings,
    )


def _end(system: System, written: str) -> End:
    owner, _, port = written.partition(".")
    end = End(owner, port or None)
    correlation = system.library.find(owner)
    if correlation is not None:
        known = [owner, *(f"{owner}.{parameter.name}" for parameter in correlation.parameters)]
    elif owner in system.instances:
        known = [f"{owner}.{name}" for name in system.components[system.instances[owner].component].ports]
    else:
        known = [*system.instances, *(one.name for one in system.library.correlations)]
    if written not in known or (correlation is None and not port):
        raise InputError("unknown-port", f"there is no port {written!r}", hint=did_you_mean(written, known))
    return end
