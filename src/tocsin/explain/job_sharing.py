"""Explain the jobs of a pipeline: what their subscriptions share, and how they are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from tocsin.algebra.predicate import attributes
from tocsin.automata.detection_plan import BitTest, Compiled
from tocsin.errors import counted
from tocsin.explain.contents import Job, Sharing
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.tokens.kernel_choice import kernel_counts
from tocsin.runtime.operators import Operators
from tocsin.runtime.program import Program, Walk

_SHOWN = 5  # of the detectors and attributes that are used most


class PlannedJob(Protocol):
    """A job of a pipeline, as it is planned."""

    @property
    def number(self) -> int: ...
    @property
    def key(self) -> tuple[str, ...]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def compiled(self) -> Compiled: ...


def explain_jobs(jobs: Iterable[PlannedJob], text: str) -> Explanation:
    """Explain what the subscriptions of each job share; `text` is that of the pipeline file."""
    sections = [section for job in jobs for section in _sections(job)]
    return Explanation("pipeline", "toml", text, tuple(sections))


def _sections(job: PlannedJob) -> Iterator[Section]:
    by = ", ".join(job.key) or "no key"
    title = f"job {job.number}: {counted(len(job.names), 'subscription')} by {by}"
    yield Section(title, Job(job.number, job.key, job.names))
    yield Section("shared", _sharing(job.compiled))
    yield Section("runs", kernel_counts(job.compiled))


def _sharing(compiled: Compiled) -> Sharing:
    """Return how often each part is used, and how many copies of it there are."""
    plan = compiled.plan
    uses = Counter(number for output in plan.outputs for number in output.detectors)
    uses.update(number for detector in plan.detectors for number in detector.inputs)
    programs = [detector.program for detector in plan.detectors]
    used = sum(_predicates(one) for one in programs)
    constants: Counter[str] = Counter()
    for _, test in compiled.tests:
        if isinstance(test, BitTest):
            constants.update(attributes(test.filter))
    most = sorted(constants.items(), key=lambda pair: (-pair[1], pair[0]))[:_SHOWN]
    return Sharing(
        len(plan.detectors),
        sum(uses.values()) - len(uses),
        {_name(compiled, number): count for number, count in uses.most_common(_SHOWN) if count > 1},
        len(compiled.tests),
        max(used, len(compiled.tests)),
        dict(most),
        plan.words if len(compiled.plan.outputs) > 1 else None,
    )


def _predicates(program: Program | Walk | Operators) -> int:
    """How many predicates on single events a program has."""
    if isinstance(program, Program):
        return len(program.specs)
    return sum(bit >= 0 for bit in program.bits)


def _name(compiled: Compiled, number: int) -> str:
    own = [output.name for output in compiled.plan.outputs if number in output.detectors]
    return f"the pattern of {own[0]}" if own else f"detector {number}"
