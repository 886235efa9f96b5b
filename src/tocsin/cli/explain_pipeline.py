"""`tocsin explain PIPELINE.toml`: the jobs of a pipeline, what their subscriptions share, and how they are run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tocsin.algebra.predicate import attributes
from tocsin.automata.compile import BitTest, Compiled
from tocsin.cli.texts import columns, section
from tocsin.runtime.program import Program
from tocsin.runtime.state import kernel_of

KERNELS = {
    "groups": "in groups: an event costs the same whatever the window and the number of partial matches",
    "counting": "counting only: an event costs the same whatever the window, and no match is listed",
    "ranking": "only the matches that are taken: an event costs as much as it reports, whatever the window",
    "tokens": "one partial match at a time: an event costs as much as the partial matches that it moves",
    "table": "one state a key: an event costs one step in a table",
}


def explain_pipeline(file: Path) -> None:
    """Print what the jobs of a pipeline share."""
    # Imported here, because only this needs to know pipelines, and they bring Spark along.
    from tocsin.spark.pipeline import read_pipeline
    from tocsin.spark.pipeline.jobs import plan_jobs

    for job in plan_jobs(read_pipeline(file)).jobs:
        by = ", ".join(job.key) or "no key"
        section(f"job {job.number}: {_count(len(job.patterns), 'subscription')} by {by}", _listed(job.names))
        section("shared", columns(_shared(job.compiled)))
        section("runs", columns(_runs(job.compiled)))


def _listed(names: tuple[str, ...], most: int = 20) -> str:
    more = [f"… and {len(names) - most:,} more"] if len(names) > most else []
    return "\n".join([*names[:most], *more])


def _shared(compiled: Compiled) -> Iterator[tuple[str, str]]:
    """How often each part is asked for, and how often it is there."""
    plan, graph = compiled.plan, compiled.graph
    uses = Counter(number for output in plan.outputs for number in output.detectors)
    uses.update(number for detector in plan.detectors for number in detector.inputs)
    again = sum(uses.values()) - len(uses)
    there = _count(len(plan.detectors), "detector")
    yield "detectors", f"{there}, {again:,} more saved by sharing" if again else f"{there}, none shared"
    for number, count in uses.most_common(5):
        if count > 1:
            yield "", f"{_name(compiled, number)} serves {count:,}"
    programs = [detector.program for detector in plan.detectors]
    asked = sum(len(one.specs if isinstance(one, Program) else one.bits) for one in programs)
    times = max(asked, len(compiled.tests))
    yield "questions", f"{len(compiled.tests):,} about single events, asked {times:,} times"
    constants: Counter[str] = Counter()
    for _, test in compiled.tests:
        if isinstance(test, BitTest):
            constants.update(attributes(test.filter))
    for attribute, count in sorted(constants.items(), key=lambda pair: (-pair[1], pair[0]))[:5]:
        yield "", f"{attribute}: {_count(count, 'question')}, found by one look-up of its value"
    if len(graph.outputs) > 1:
        yield "answers", f"{_count(plan.words, 'word')} of 64 bits an event"


def _runs(compiled: Compiled) -> Iterator[tuple[str, str]]:
    kinds = Counter(kernel_of(detector) for detector in compiled.plan.detectors)
    for kind, count in kinds.most_common():
        yield f"{count:,}", KERNELS[kind]


def explain_kernels(compiled: Compiled, points: Compiled) -> str:
    """How each detector of a pattern is run; `points` is the same for events that have no length."""
    rows = []
    for number, (one, point) in enumerate(zip(compiled.plan.detectors, points.plan.detectors, strict=True)):
        kernel, of_points = kernel_of(one), kernel_of(point)
        if of_points != kernel:
            rows.append((f"D{number}", f"{KERNELS[of_points]}, where events have no length;"))
            rows.append(("", f"otherwise {KERNELS[kernel]}"))
        else:
            rows.append((f"D{number}", KERNELS[kernel]))
    return columns(rows)


def _name(compiled: Compiled, number: int) -> str:
    own = [output.name for output in compiled.plan.outputs if number in output.detectors]
    return f"the pattern of {own[0]}" if own else f"detector {number}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
