"""Random ECL: predicates, outputs, expressions, programs, machines and traces.

Few letters and few constants, so that events often satisfy what is waited for, and outputs often meet.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tocsin.algebra.completion.expression import (
    FALSE,
    TRUE,
    Accumulate,
    Definition,
    DoUnless,
    Expression,
    Fail,
    Interpretation,
    Loop,
    Mode,
    Modes,
    Named,
    Parallel,
    Persist,
    Predicate,
    Program,
    Push,
    Repeat,
    Select,
    SelectStar,
    Sequential,
    Subscription,
)
from tocsin.algebra.completion.fields import Fields
from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.algebra.completion.output import Constant, Emit, FieldOf, Forward, Make, Output
from tocsin.algebra.predicate import And, Attribute, Compare, Filter, Literal, Not, Or
from tocsin.values import Relation

LETTERS = "abcd"
outcomes = st.sampled_from(["success", "failure"])
readings = st.builds(Interpretation, outcomes, outcomes)


def letter(name: str) -> Compare:
    """The predicate on a type."""
    return Compare(Attribute("type"), Relation.EQ, Literal(name))


letters = st.sampled_from(LETTERS).map(letter)
guards = st.one_of(
    letters,
    letters,
    letters,
    st.sampled_from([TRUE, FALSE]),
    st.builds(Not, letters),
    st.tuples(letters, letters).map(Or),
)
traces = st.lists(st.sampled_from([{"type": name} for name in LETTERS + "e"]), max_size=12)
constants = st.sampled_from([Constant(name) for name in "xyz"])


@st.composite
def expressions(
    draw: st.DrawFn, depth: int = 3, outputs: st.SearchStrategy[Output] = constants
) -> Expression:
    """An expression with every operator, at most so deep."""
    kind = draw(st.integers(0, 14)) if depth else 0

    def part() -> Expression:
        return draw(expressions(depth - 1, outputs))

    def parts() -> tuple[Expression, ...]:
        return tuple(part() for _ in range(draw(st.integers(1, 3))))

    def times() -> int | None:
        return draw(st.sampled_from([None, None, 1, 2, 3]))

    match kind:
        case 0:
            return Predicate(draw(guards))
        case 1:
            return Accumulate(parts())
        case 2:
            return Select(parts())
        case 3:
            return SelectStar(parts())
        case 4:
            return Sequential(parts())
        case 5:
            return DoUnless(part(), part())
        case 6:
            return Fail(part())
        case 7 | 8:
            return Push(draw(outputs), part())
        case 9:
            return Parallel(parts())
        case 10:
            return Modes(tuple(Mode(draw(guards), part()) for _ in range(draw(st.integers(1, 3)))))
        case 11 | 12:
            return Repeat(part(), times())
        case 13:
            return Persist(part(), times())
        case _:
            return Loop(part(), times())


# Predicates over fields of every kind, and events that have or lack those fields.

_values: dict[str, tuple[int | float | str | bool, ...]] = {
    "type": ("a", "b", "select", "two words"),
    "source": ("GPS", "INS"),
    "timestamp": (0, 5),
    "data.alt": (-1, 0, 0.5, 500, "high"),
    "ok": (True, False, 1),
}


@st.composite
def comparisons(draw: st.DrawFn) -> Compare:
    name = draw(st.sampled_from(sorted(_values)))
    return Compare(
        Attribute(name), draw(st.sampled_from(Relation)), Literal(draw(st.sampled_from(_values[name])))
    )


def _joined(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, parts))


filters: st.SearchStrategy[Filter] = st.recursive(
    st.one_of(comparisons(), comparisons(), st.sampled_from([TRUE, FALSE])), _joined, max_leaves=5
)


@st.composite
def _between_fields(draw: st.DrawFn) -> Compare:
    names = st.sampled_from(sorted(set(_values) - {"type"}))
    return Compare(Attribute(draw(names)), draw(st.sampled_from(Relation)), Attribute(draw(names)))


# Those above have finite alphabets; these need not.
relations: st.SearchStrategy[Filter] = st.recursive(
    st.one_of(comparisons(), _between_fields(), _between_fields()), _joined, max_leaves=5
)


@st.composite
def events(draw: st.DrawFn) -> Fields:
    """An event of which any field may be absent, or of another kind than the predicates expect."""
    stray = st.sampled_from([None, None, "other", -0.25, 7, 499, True, ""])
    drawn = {name: draw(st.one_of(st.sampled_from(values), stray)) for name, values in _values.items()}
    return {name: value for name, value in drawn.items() if value is not None}


_sources = st.one_of(
    st.sampled_from(["alt", "data.alt"]).map(FieldOf),
    st.sampled_from([1, -2.5, "GPS", "two words", True, "true"]).map(Literal),
)
outputs = st.one_of(
    constants,
    st.sampled_from([Constant(7), Constant(-1), Constant("low fuel"), Constant('a "quote"'), Forward()]),
    st.builds(
        Make,
        st.sampled_from(["Low", "Alarm"]),
        st.dictionaries(st.sampled_from(["by", "level"]), _sources).map(lambda fields: tuple(fields.items())),
    ),
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A text with definitions that are used, and subscriptions with or without names."""

    def body(known: list[Definition]) -> Expression:
        drawn = draw(expressions(2, outputs))
        used = draw(st.sampled_from([None, *known]))
        return drawn if used is None else Sequential((Named(used.name, used.expression), drawn))

    definitions: list[Definition] = []
    for name in draw(st.lists(st.sampled_from(["a", "p", "q"]), unique=True, max_size=2)):
        definitions.append(Definition(name, body(definitions)))
    names: list[str | None] = draw(st.sampled_from([[None], ["S"], ["S", "T"]]))
    return Program(tuple(Subscription(name, body(definitions)) for name in names), tuple(definitions))


# Machines that nobody has constructed: anything Definition 3 allows.


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """A small machine with any transitions and any order."""
    states = [f"q{i}" for i in range(1, draw(st.integers(2, 5)) + 1)]
    some = st.frozensets(st.sampled_from(states), max_size=3)
    one = st.frozensets(st.sampled_from(states), min_size=1, max_size=2)
    transitions = []
    for i in range(draw(st.integers(1, 6))):
        enable = tuple(draw(st.lists(one, min_size=1, max_size=2)))
        clear = draw(st.one_of(some, st.just(frozenset(states)))).union(*enable)
        input = draw(st.one_of(st.none(), guards, guards))
        emits = draw(st.one_of(st.just(()), constants.map(lambda c, i=i: (Emit(c, place=i),))))
        transitions.append(Transition(f"t{i + 1}", enable, input, clear, draw(one), emits))
    pairs = [(a.name, b.name) for i, a in enumerate(transitions) for b in transitions[i + 1 :]]
    order = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Machine("R", tuple(states), draw(one), tuple(transitions), tuple(order))
