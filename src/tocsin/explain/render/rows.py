"""The parts of an explanation that are tables, row by row; text and HTML show the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tocsin.errors import counted
from tocsin.events import format_duration
from tocsin.explain.contents import (
    Branches,
    Detectors,
    Kernel,
    Kernels,
    Matches,
    Needs,
    Placement,
    Predicates,
    Route,
    Sharing,
    Size,
    Sizes,
    Transformer,
    Wait,
    Waits,
)

ANY_KIND = "any"  # an attribute that is only compared with variables or other attributes
Tabular = (
    Matches
    | Detectors
    | Kernels
    | Predicates
    | Needs
    | Waits
    | Sizes
    | Branches
    | Transformer
    | Placement
    | Sharing
    | Route
)
Row = tuple[str, str]


def rows_of(part: Tabular) -> Iterable[Row]:
    """Return the rows of a table: a name and its description."""
    match part:
        case Matches():
            return [("wanted", part.wanted), ("reported", part.reported), ("cost", part.cost)]
        case Detectors():
            return _detectors(part)
        case Kernels(kernels):
            return [row for kernel in kernels for row in _kernel(kernel)]
        case Predicates(predicates):
            return [(one.of, one.condition) for one in predicates]
        case Needs():
            return _needs(part)
        case Waits(waits):
            return list(map(wait_words, waits))
        case Sizes(sizes):
            return [(size.stage, _size(size)) for size in sizes]
        case Branches():
            return _branches(part)
        case Transformer():
            return _transformer(part)
        case Placement():
            return [(one.node, one.filter) for one in part.local] + [("several", one) for one in part.shared]
        case Sharing():
            return _sharing(part)
        case Route():
            return _route(part)


def _detectors(part: Detectors) -> Iterator[Row]:
    for one in part.detectors:
        notes = [f"reads {', '.join(one.reads)}"] if one.reads else []
        notes += [f"shared by {' and '.join(one.read_by)}"] if len(one.read_by) > 1 else []
        notes += ["reported"] if one.reported else []
        yield one.name, one.pattern + (f"   ({'; '.join(notes)})" if notes else "")


def _kernel(one: Kernel) -> Iterator[Row]:
    of = one.of or f"{one.count:,}"
    if one.on_points is None:
        yield of, one.cost
    else:
        yield of, f"{one.cost_on_points}, where events have no length;"
        yield "", f"otherwise {one.cost}"
    if one.because:
        yield "", f"because {one.because}"


def _needs(part: Needs) -> Iterator[Row]:
    width = max(map(len, part.types), default=0)
    for name, attributes in sorted(part.types.items()):
        kinds = sorted(attributes.items())
        listed = ", ".join(one if kind == ANY_KIND else f"{one} ({kind})" for one, kind in kinds)
        yield "events", f"{name:<{width}}  {listed}".rstrip()
    if part.variables:
        yield "variables", ", ".join(f"${name}" for name in part.variables)
    if part.timers:
        yield "timers", ", ".join(part.timers)
    if part.longest is None:
        yield "a match", "has any number of events"
    else:
        yield "a match", "has 1 event" if part.longest == 1 else f"has at most {part.longest} events"


def wait_words(wait: Wait) -> Row:
    """Return the row of a state in which partial matches wait: its name, and what they wait for and how long."""
    state = f"{wait.state} of {wait.detector}" if wait.detector else wait.state
    return state, f"{' or '.join(wait.events)}: {_how_long(wait)}"


def _how_long(wait: Wait) -> str:
    if wait.longest is not None:
        unless = "; for ever if an event comes at the very moment it runs out" if wait.can_miss else ""
        return f"at most {format_duration(wait.longest)} ({', '.join(wait.timers)}){unless}"
    if wait.moments:
        return "for ever, if it begins after " + ", ".join(wait.moments)
    return "for ever"


def _size(size: Size) -> str:
    if size.refused is not None:
        return f"refused: {size.refused}"
    if size.configurations is not None:
        return f"{size.configurations} configurations × {size.event_kinds} kinds of events"
    return f"{counted(size.states or 0, 'state')}, {counted(size.transitions or 0, 'transition')}"


def _branches(part: Branches) -> Iterator[Row]:
    for number, branch in enumerate(part.branches, 1):
        yield f"branch {number}", branch.filter
        for label, marked in branch.labels.items():
            yield f"  {label}", marked
        if branch.acceptor_states is not None:
            yield "  acceptor", counted(branch.acceptor_states, "state")
        else:
            yield "  acceptor", f"{branch.refused}; it is run place by place"


def _transformer(part: Transformer) -> Iterator[Row]:
    for switch in part.initial:
        yield "at first", switch
    for number, case in enumerate(part.cases, 1):
        yield f"case {number}", case
    if not part.cases:
        yield "no case", "nothing is ever sent"


def _sharing(part: Sharing) -> Iterator[Row]:
    there = counted(part.detectors, "detector")
    saved = f"{there}, {part.saved:,} more saved by sharing" if part.saved else f"{there}, none shared"
    yield "detectors", saved
    for name, count in part.most_used.items():
        yield "", f"{name} serves {count:,}"
    yield (
        "predicates",
        f"{part.predicates:,} on single events, used {counted(part.predicate_uses, 'time')}",
    )
    for attribute, count in part.looked_up.items():
        yield "", f"{attribute}: {counted(count, 'predicate')}, found by one look-up of its value"
    if part.words is not None:
        yield "results", f"{counted(part.words, 'word')} of 64 bits an event"


def _route(part: Route) -> Iterator[Row]:
    yield "taken", f"{part.taken}: {part.summary}"
    for route, reason in part.not_taken.items():
        yield f"not {route}", reason
