"""The kernel that runs each detector of a pattern, and the reason for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tocsin.algebra.tokens.pattern import pattern_variables
from tocsin.automata.detection_plan import Compiled
from tocsin.automata.tokens.automaton import Automaton
from tocsin.automata.tokens.compile import CompiledTokens
from tocsin.automata.tokens.plan import Detector
from tocsin.explain.contents import Kernel, Kernels
from tocsin.explain.tokens.wording import detector_name
from tocsin.runtime.kernels.registry import kernel_of

COSTS = {
    "groups": "in groups: an event costs the same whatever the window and the number of partial matches",
    "counting": "counting only: an event costs the same whatever the window, and no match is listed",
    "first_last": "only the matches that are taken: an event costs as much as it reports, whatever the window",
    "single": "one partial match at a time: an event costs as much as the partial matches that it moves",
    "completion": "one state a key: an event costs one step in a table",
}
_ONE_BY_ONE = "single"


def kernels(compiled: CompiledTokens, on_points: CompiledTokens) -> Kernels:
    """How each detector of a pattern is run; `on_points` is the plan for events that have no length."""
    return Kernels(tuple(_kernels(compiled, on_points)))


def _kernels(compiled: CompiledTokens, on_points: CompiledTokens) -> Iterator[Kernel]:
    both = zip(compiled.plan.detectors, on_points.plan.detectors, strict=True)
    for number, (one, point) in enumerate(both):
        kernel, of_points = kernel_of(one), kernel_of(point)
        detector, automaton = compiled.graph.detectors[number], compiled.automata[number]
        always = of_points == _ONE_BY_ONE
        because = _reason(detector, automaton, always=always) if kernel == _ONE_BY_ONE else ""
        yield Kernel(
            detector_name(number),
            kernel,
            COSTS[kernel],
            because,
            *((None, None) if of_points == kernel else (of_points, COSTS[of_points])),
        )


def _reason(detector: Detector, automaton: Automaton, *, always: bool) -> str:
    """Return why partial matches of a detector cannot be kept in groups; `always`: whether or not events have a length."""
    if detector.inputs:
        return f"it reads the matches of {', '.join(map(detector_name, detector.inputs))}"
    variables = sorted(pattern_variables(detector.pattern))
    if variables:
        return f"its events are compared by {', '.join(f'${name}' for name in variables)}"
    if not always:
        return "an event must lie wholly after the one before"
    if any(timer.at is not None for timer in automaton.timers):
        return "a timer runs out at a fixed moment"
    if len({timer.after for timer in automaton.timers}) > 1:
        return "its timers run for different times"
    if automaton.timers:
        return (
            "its timer or limit does not run from the first event to the match, or is an event of the pattern"
        )
    return "an event can have several names in one match"


def kernel_counts(compiled: Compiled) -> Kernels:
    """How many detectors of a job each kernel runs, the most used first."""
    kinds = Counter(kernel_of(detector) for detector in compiled.plan.detectors)
    return Kernels(tuple(Kernel("", kind, COSTS[kind], count=count) for kind, count in kinds.most_common()))
