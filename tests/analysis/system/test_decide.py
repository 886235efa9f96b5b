"""Specifications decided from a graph agree with what they say, on random graphs."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from support.systems import system
from tocsin.algebra.system.behaviour import Behaving, Move, State
from tocsin.algebra.system.specification import Condition, InMode, Specification
from tocsin.analysis.system import Decision, decide, explore, overflow
from tocsin.automata.correlation.system import Compiled

Edges = list[list[int]]


class Drawn(Behaving):
    """States with numbers and given moves; a condition is the set of the numbers in which it holds."""

    def __init__(self, edges: Edges) -> None:
        self.system = system('#include "a.idl" instance A a;', a_idl="component A { };")
        self.edges = edges

    def start(self) -> State:
        return State((0,), ())

    def moves(self, state: State) -> Iterator[tuple[Move, State]]:
        (number,) = state.modes
        return ((Move(f"{number}", f"{after}", ()), State((after,), ())) for after in self.edges[number])

    def holds(self, condition: Condition, state: State) -> bool:
        assert isinstance(condition, InMode)
        return str(state.modes[0]) in condition.mode.split()


def those(numbers: set[int]) -> InMode:
    return InMode("a", " ".join(map(str, sorted(numbers))))


def reachable(edges: Edges, first: int, inside: set[int] | None = None) -> set[int]:
    found, pending = {first}, [first]
    while pending:
        for after in edges[pending.pop()]:
            if after not in found and (inside is None or after in inside):
                found.add(after)
                pending.append(after)
    return found


def lasts(edges: Edges, first: int, inside: set[int]) -> bool:
    """Whether one can stay inside for ever, or get stuck there: as many moves as there are states show it."""
    here = {first}
    for _ in edges:
        if any(not edges[n] for n in here):
            return True
        here = {after for n in here for after in edges[n] if after in inside}
    return bool(here)


def numbers(decision: Decision) -> list[int]:
    """The states on a trace."""
    return [0, *(int(move.delivered or "") for move in decision.trace or ())]


graphs = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3, unique=True), min_size=n, max_size=n)
)
sets = st.sets(st.integers(0, 6))


@settings(max_examples=400)
@given(graphs, sets, sets)
def test_every_form_means_what_it_says(edges: Edges, p: set[int], q: set[int]) -> None:
    graph = explore(Drawn(edges))
    all_ = reachable(edges, 0)

    def asked(form: str) -> Decision:
        return decide(graph, Specification(form, form, those(p), those(q)))  # type: ignore[arg-type]

    assert asked("always").holds == (all_ <= p)
    assert asked("never").holds == all_.isdisjoint(p)
    assert asked("possible").holds == (not all_.isdisjoint(p))
    assert asked("never deadlock").holds == all(edges[n] for n in all_)
    stuck = {n for n in all_ if reachable(edges, n).isdisjoint(p)}
    assert asked("always possible").holds == (not stuck)
    avoiding = {n for n in all_ if n not in q and lasts(edges, n, set(range(7)) - q)}
    assert asked("leads to").holds == avoiding.isdisjoint(p)
    # Traces are ways through the graph that show it.
    for form, shows in (("always", all_ - p), ("never", p), ("always possible", stuck)):
        if not (found := asked(form)).holds:
            assert numbers(found)[-1] in shows
    if not (found := asked("leads to")).holds:
        way = numbers(found)
        assert any(n in p for n in way[: None if found.repeats is None else found.repeats + 1])
        assert way[-1] not in q
        assert edges[way[-1]] == [] if found.repeats is None else way[-1] == way[found.repeats]


def test_what_is_not_looked_at_is_not_known() -> None:
    edges = [[n + 1] for n in range(9)] + [[]]
    graph = explore(Drawn(edges), most=5)
    assert (graph.truncated, len(graph.states), graph.complete) == (True, 5, 4)
    for form in ("always", "always possible", "leads to", "never deadlock"):
        assert decide(graph, Specification("s", form, those(set(range(10))), those({9}))).holds is None  # type: ignore[arg-type]
    assert decide(graph, Specification("s", "possible", those({7}))).holds is None
    assert decide(graph, Specification("s", "possible", those({3}))).holds is True
    assert decide(graph, Specification("s", "always", those({0, 1, 2}))).holds is False


def test_a_queue_that_overflows_is_found() -> None:
    idl = "eventtype T { }; component A { publishes T o; consumes T i; };"
    cps = "component A { do push o; on i do push o, o; }"
    found = system(
        '#include "a.idl" #include "a.cps" instance A a; connect a.o -> a.i; queue 2;', a_idl=idl, a_cps=cps
    )
    graph = explore(Behaving(found, Compiled({})))
    decision = overflow(graph)
    assert decision is not None
    assert [str(move) for move in decision.trace or ()] == [
        "a moves, sends a.o",
        "a moves, sends a.o",
        "a.o is delivered, sends a.o, a.o",
    ]
    assert decide(graph, Specification("s", "never deadlock")).holds is True
