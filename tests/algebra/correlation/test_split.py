"""Filters split by where their events come from."""

from __future__ import annotations

import pytest
from hypothesis import given

from support.ksu_strategies import expressions
from tocsin.algebra.correlation.expression import Atom, Expression, Labelled, events
from tocsin.algebra.correlation.semantics import triggers
from tocsin.algebra.correlation.split import Split, decompose, split
from tocsin.errors import InputError
from tocsin.languages.ksu import parse_filter
from tocsin.languages.ksu.printer import show_expression

NODES = {"a": "n1", "b": "n1", "c": "n1", "d": "n2"}


@pytest.mark.parametrize(
    ("text", "local", "cross"),
    [
        ("l1:(a+b)|c+d", [("n1", "a+b")], ["c+d"]),
        ("a+b", [("n1", "a+b")], []),
        ("a", [], []),
        ("a+d", [], ["a+d"]),
        ("(a;b);d || a+b", [("n1", "a;b"), ("n1", "a+b")], ["a;b;d"]),
        ("d;(a|(b+c))", [("n1", "a | b+c")], ["d;(a | b+c)"]),
        ("a+(b|c+d)", [], ["a+(b | c+d)", "c+d"]),
    ],
)
def test_node_local_parts(text: str, local: list[tuple[str, str]], cross: list[str]) -> None:
    found = decompose(parse_filter(text), NODES)
    assert [(part.node, show_expression(part.expression)) for part in found.node_local] == local
    assert [show_expression(part) for part in found.cross_node] == cross


def test_an_event_without_a_node_is_refused() -> None:
    with pytest.raises(InputError, match="event z is on no node"):
        decompose(parse_filter("a+z"), NODES)


def joined(found: Split) -> Expression:
    """The branch, with the parts back in their places."""

    def put(expression: Expression) -> Expression:
        match expression:
            case Atom(event):
                return found.parts[event].expression if event in found.parts else expression
            case Labelled(label, body):
                return Labelled(label, put(body))
            case _:
                return type(expression)(put(expression.left), put(expression.right))

    return put(found.rest)


@given(expressions)
def test_nothing_is_lost_and_nothing_local_is_left(branch: Expression) -> None:
    found = split(branch, NODES)
    assert joined(found) == branch
    for part in found.parts.values():
        assert {NODES[event] for event in events(part.expression)} == {part.node}
    nodes = NODES | {name: part.node for name, part in found.parts.items()}
    assert decompose((found.rest,), nodes).node_local == ()


def test_only_completions_cross_the_network() -> None:
    """Node n1 answers for a+b: two of its events cross instead of six, and the branch triggers all the same."""
    (branch,) = parse_filter("(a+b)+d")
    found = split(branch, NODES)
    (name, part) = next(iter(found.parts.items()))
    trace = "aabdaabd"
    done = {trigger.at for trigger in triggers((part.expression,), trace)}
    crossing = [
        name if place in done else event
        for place, event in enumerate(trace, 1)
        if place in done or event == "d"
    ]
    assert crossing == [name, "d", name, "d"]
    assert len(triggers((found.rest,), crossing)) == len(triggers((branch,), trace)) == 2
