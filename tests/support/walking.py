"""What the walking kernel sends for ECL and KSU and what the meaning says, in forms that can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tocsin.algebra.completion import semantics as tree
from tocsin.algebra.completion.expression import Expression, Interpretation
from tocsin.algebra.completion.fields import Fields, holds
from tocsin.algebra.correlation import expression as ksu
from tocsin.algebra.correlation import semantics as definitions
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.automata.detection_plan import Compiled, FieldTest
from tocsin.runtime.feed import Batch, feed
from tocsin.runtime.moments import FOREVER
from tocsin.runtime.program import from_bytes, to_bytes
from tocsin.runtime.state import from_bytes as state_from_bytes
from tocsin.runtime.state import initial
from tocsin.runtime.state import to_bytes as state_to_bytes


def sent(compiled: Compiled, streams: Sequence[Sequence[Fields]], cuts: Sequence[int]) -> list[list[Any]]:
    """For each stream, which is a key, what is sent: places in the stream, and what the emission says."""
    plan, state = from_bytes(to_bytes(compiled.plan)), initial(compiled.plan)
    found: list[list[Any]] = [[] for _ in streams]
    for begin, end in zip([0, *cuts], [*cuts, 1000], strict=True):
        rows = [(key, at, event) for key, own in enumerate(streams) for at, event in enumerate(own)]
        rows = [row for row in rows if begin <= row[1] < end]
        result = feed(plan, state, _batch(compiled, rows), end - 1 if end < 1000 else FOREVER)
        assert result.state is not None
        state = state_from_bytes(state_to_bytes(result.state))
        for detector, matches in zip(plan.detectors, result.matches, strict=True):
            assert matches.emissions is not None
            for i, number in enumerate(matches.emissions.tolist()):
                own = slice(matches.offsets[i], matches.offsets[i + 1])
                places = [result.events.column("at")[ref].as_py() for ref in matches.refs[own].tolist()]
                roles = [detector.roles[role] for role in matches.roles[own].tolist()]
                (key,) = result.keys.value(matches.key[i])
                # Of two events with one role the first counts: it was kept, and the other only completed the match.
                named = dict(zip(reversed(roles), reversed(places), strict=True))
                found[key].append((places[-1] + 1, detector.emissions[number], named))
    return found


def _batch(compiled: Compiled, rows: list[tuple[int, int, Fields]]) -> Batch:
    bits = np.zeros((len(rows), compiled.plan.words), np.uint64)
    for bit, test in compiled.tests:
        assert isinstance(test, FieldTest)
        for row, (_, _, event) in enumerate(rows):
            if holds(test.filter, event):
                bits[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    places = np.array([at for _, at, _ in rows], np.int64)
    events = pa.table({"at": pa.array(places)})
    return Batch(events, [[key for key, _, _ in rows]], places, places, places, bits, [])


def ecl_run(found: Sequence[Any]) -> tuple[Counter[Any], list[Any]]:
    """Outputs without the order of one event's, and how and when it completed."""
    pushed = Counter((at, emission.value) for at, emission, _ in found if emission.what == "push")
    return pushed, [(at, emission.what) for at, emission, _ in found if emission.what != "push"]


def tree_run(
    expression: Expression, trace: Sequence[Fields], interpretation: Interpretation
) -> tuple[Counter[Any], list[Any]]:
    run = tree.run(expression, trace, interpretation)
    ended = [] if run.completed_at is None else [(run.completed_at, run.status.value)]
    return Counter((at, str(value)) for at, value in run.outputs), ended


def ksu_run(found: Sequence[Any], trace: Sequence[Arrival]) -> tuple[list[Any], list[Any], list[int]]:
    """What is pushed with the events it is made of, when which branch triggers, and what was skipped."""
    pushed = [(at, e.type, _made(e, places, trace), e.value) for at, e, places in found if e.what == "push"]
    triggered = [
        (at, int(e.type.removeprefix("branch ")) - 1, tuple(e.value.split(",")) if e.value else ())
        for at, e, _ in found
        if e.what == "trigger"
    ]
    return pushed, triggered, [at for at, e, _ in found if e.what == "skipped"]


def _made(emission: Any, places: dict[str, int], trace: Sequence[Arrival]) -> dict[str, Any]:
    if emission.forwards is not None:
        return dict(trace[places[emission.forwards]].attributes)
    return {
        name: source[1] if source[0] == "literal" else trace[places[source[1]]].attributes.get(source[2])
        for name, source in emission.fields
    }


def defined_run(
    correlation: ksu.Correlation, trace: Sequence[Arrival], interpretation: ksu.Interpretation
) -> tuple[list[Any], list[Any], list[int]]:
    outcome = definitions.run(correlation, trace, interpretation)
    return (
        [(o.at, o.type, dict(o.attributes), o.event) for o in outcome.outputs],
        [(t.at, t.branch, t.labels) for t in outcome.triggers],
        [skipped.at for skipped in outcome.skipped],
    )


def whole(correlation: ksu.Correlation, trace: Sequence[Arrival]) -> ksu.Correlation:
    """The correlation with a parameter for each event there is."""
    names = {name for branch in correlation.branches for name in ksu.events(branch)}
    names |= {arrival.event for arrival in trace} | {parameter.name for parameter in correlation.parameters}
    types = {parameter.name: parameter.type for parameter in correlation.parameters}
    parameters = tuple(ksu.Parameter(types.get(name, "Event"), name) for name in sorted(names))
    return ksu.Correlation(
        correlation.output, "C", parameters, correlation.branches, correlation.initial, correlation.cases
    )
