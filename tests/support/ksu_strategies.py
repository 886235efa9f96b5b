"""Random filters, guards, correlations and traces of the KSU correlation language."""

from __future__ import annotations

from functools import reduce

from hypothesis import strategies as st

from tocsin.algebra.correlation.expression import (
    Accumulation,
    And,
    Assignment,
    Atom,
    Branches,
    Case,
    Collection,
    Correlation,
    Expression,
    Field,
    Guard,
    Interpretation,
    Is,
    Labelled,
    Not,
    Or,
    Parameter,
    Push,
    PushNew,
    Sequence,
    Statement,
    Switch,
    labelled,
)
from tocsin.algebra.correlation.outcome import Arrival
from tocsin.algebra.predicate import Literal
from tocsin.languages.lexis import MAX_INTEGER

EVENTS = "abcd"
CONTROLS = "xyz"
# Guards and switches are drawn with these for labels, because the filter they belong to is not known yet.
STAND_INS = tuple(f"n{number}" for number in range(8))

# --- filters ----------------------------------------------------------------------------------------


def _pairs(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(lambda two: Accumulation(*two)),
        pair.map(lambda two: Collection(*two)),
        pair.map(lambda two: Sequence(*two)),
        # Twice as many sequences as other operators: they are what has an order to get wrong.
        pair.map(lambda two: Sequence(*two)),
        inner.map(lambda one: Labelled("", one)),
    )


atoms = st.sampled_from(EVENTS).map(Atom)
expressions = st.recursive(atoms, _pairs, max_leaves=6)


def _filter(parts: list[tuple[Expression, bool]]) -> Branches:
    labels: list[str] = []
    return tuple(_named(Labelled("", branch) if whole else branch, labels) for branch, whole in parts)


def _named(expression: Expression, labels: list[str]) -> Expression:
    """The same expression with a label of its own for each labelled part."""
    match expression:
        case Atom():
            return expression
        case Labelled(_, body):
            labels.append(f"l{len(labels)}")
            return Labelled(labels[-1], _named(body, labels))
        case _:
            return type(expression)(_named(expression.left, labels), _named(expression.right, labels))


branch = st.tuples(expressions, st.booleans())
single_filters = st.lists(branch, min_size=1, max_size=1).map(_filter)
filters = st.lists(branch, min_size=1, max_size=3).map(_filter)

# --- transformers -----------------------------------------------------------------------------------

guards: st.SearchStrategy[Guard] = st.recursive(
    st.sampled_from(STAND_INS).map(Is),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    ),
    max_leaves=4,
)
switches = st.builds(
    Switch,
    st.sampled_from(["abort", "revive", "toggle"]),
    st.lists(st.sampled_from(STAND_INS), min_size=1, max_size=2).map(tuple),
)
values = st.one_of(
    st.booleans(),
    st.integers(-MAX_INTEGER, MAX_INTEGER),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text("a\"' é\n;", max_size=3),
)
fields = st.builds(Field, st.sampled_from(EVENTS), st.sampled_from(["x", "y"]))
assignments = st.builds(Assignment, st.sampled_from(["x", "y", "z"]), st.one_of(fields, values.map(Literal)))
pushes = st.one_of(
    st.sampled_from(EVENTS).map(Push),
    st.lists(assignments, max_size=2, unique_by=lambda a: a.attribute).map(lambda a: PushNew("N", tuple(a))),
)
# Switches most often: what they do to a running filter is the hard part.
bodies = st.lists(st.one_of(switches, switches, pushes), max_size=2).map(tuple)
cases = st.builds(Case, guards, bodies)
readings = st.builds(
    Interpretation,
    st.sampled_from(["literal", "local"]),
    st.sampled_from(["eager", "lazy"]),
    st.sampled_from(["recent", "earliest"]),
)


def _label(stand_in: str, labels: list[str]) -> str:
    return labels[STAND_INS.index(stand_in) % len(labels)]


def _with_labels(case: Case, labels: list[str]) -> Case:
    """The case with the labels of a filter in place of the stand-ins."""
    return Case(_guard(case.guard, labels), tuple(_statement(statement, labels) for statement in case.body))


def _guard(guard: Guard, labels: list[str]) -> Guard:
    match guard:
        case Is(stand_in):
            return Is(_label(stand_in, labels))
        case Not(part):
            return Not(_guard(part, labels))
        case And(parts) | Or(parts):
            return type(guard)(tuple(_guard(part, labels) for part in parts))


def _statement(statement: Statement, labels: list[str]) -> Statement:
    if isinstance(statement, Switch):
        return Switch(statement.action, tuple(_label(stand_in, labels) for stand_in in statement.labels))
    return statement


# --- correlations -----------------------------------------------------------------------------------


def _correlation(branches: Branches, initial: list[Switch], drawn: list[Case]) -> Correlation:
    labels = [part.label for branch in branches for part in labelled(branch)]
    if not labels:
        branches, labels = (Labelled("l0", branches[0]), *branches[1:]), ["l0"]
    first = tuple(_statement(switch, labels) for switch in initial)
    parameters = tuple(Parameter("E", name) for name in EVENTS)
    return Correlation(
        "N", "C", parameters, branches, first, tuple(_with_labels(case, labels) for case in drawn)
    )


correlations = st.builds(
    _correlation, filters, st.lists(switches, max_size=1), st.lists(cases, min_size=1, max_size=4)
)


def _staged(stages: list[Expression]) -> Expression:
    """Stages one after the other, grouped to the left or to the right."""
    if len(stages) % 2:
        return reduce(Sequence, stages)
    return reduce(lambda later, stage: Sequence(stage, later), reversed(stages))


def _everywhere(expression: Expression) -> Expression:
    """The same expression with exactly one label on every part."""
    match expression:
        case Atom():
            return Labelled("", expression)
        case Labelled(_, body):
            return _everywhere(body)
        case _:
            return Labelled("", type(expression)(_everywhere(expression.left), _everywhere(expression.right)))


def _controlled(
    parts: list[Expression], initial: list[Switch], switching: list[list[Switch]], pushing: list[Case]
) -> Correlation:
    data = _filter([(_everywhere(part), False) for part in parts])
    labels = [part.label for branch in data for part in labelled(branch)]
    controls = tuple(Labelled(f"m{event}", Atom(event)) for event in CONTROLS)
    drawn = [Case(Is("n0"), tuple(body)) for body in switching]
    named = [_with_labels(case, labels) for case in drawn]
    control_cases = [Case(Is(c.label), case.body) for c, case in zip(controls, named, strict=True)]
    push_cases = [_with_labels(case, labels) for case in pushing]
    first = tuple(_statement(switch, labels) for switch in initial)
    parameters = tuple(Parameter("E", name) for name in (*EVENTS, *CONTROLS))
    return Correlation("N", "C", parameters, (*data, *controls), first, (*control_cases, *push_cases))


some = st.sampled_from("abc").map(Atom)
couples = st.tuples(some, some)
# Stages of two events are what can be half done while an earlier stage comes and goes.
stages = st.one_of(
    some, couples.map(lambda two: Accumulation(*two)), couples.map(lambda two: Collection(*two))
)
staged = st.one_of(
    st.recursive(some, _pairs, max_leaves=4), st.lists(stages, min_size=2, max_size=3).map(_staged)
)
toggles = st.sampled_from(STAND_INS).map(lambda stand_in: [Switch("toggle", (stand_in,))])

# A label on every part, and three events that switch some of them: a trace can do so wherever it pleases.
controlled = st.builds(
    _controlled,
    st.lists(staged, min_size=1, max_size=2),
    st.lists(switches, max_size=1),
    st.lists(st.one_of(toggles, st.lists(switches, max_size=2)), min_size=3, max_size=3),
    st.lists(st.builds(Case, guards, st.tuples(pushes)), max_size=2),
)

# --- traces -----------------------------------------------------------------------------------------


def _traces(events: str, shortest: int, longest: int) -> st.SearchStrategy[list[Arrival]]:
    # One draw of bytes is much faster than a draw for each event.
    return st.binary(min_size=shortest, max_size=longest).map(
        lambda drawn: [
            Arrival(events[byte % len(events)], None, {"x": number}, number)
            for number, byte in enumerate(drawn)
        ]
    )


traces = _traces(EVENTS, 0, 12)
switched_traces = _traces("abc" + CONTROLS, 6, 14)
