"""Assembly files: which ports are connected."""

from __future__ import annotations

import pytest

from languages.mistakes import mistakes
from tocsin.algebra.system.model import End, Wire
from tocsin.languages.ksu import parse, parse_assembly, parse_idl, show_assembly

TYPES = parse_idl("eventtype E { }; eventtype F : E { }; eventtype G { };")
LIBRARY = parse(
    """
    F correlation First (E a, E b) l:(a+b) { case l: push new F {} }
    G correlation Second (E c, G d) l:(c;d) { case l: push d }
    """,
    TYPES,
)


def test_the_notation() -> None:
    text = "connect A.out1 -> AfterTimeout.a;\nconnect AfterTimeout -> C.in1;"
    found = parse_assembly(text)
    assert found.connections == (
        Wire(End("A", "out1"), End("AfterTimeout", "a")),
        Wire(End("AfterTimeout"), End("C", "in1")),
    )
    assert show_assembly(found) == text


def test_a_correlation_can_feed_another() -> None:
    text = """connect A.o -> First.a; connect B.o -> First.b; connect First -> Second.c;
        connect C.o -> Second.d; connect Second -> D.i; connect Second -> E.i;"""
    found = parse_assembly(text, LIBRARY, TYPES)
    assert found.sources("Second") == {"c": End("First"), "d": End("C", "o")}
    assert found.receivers("Second") == (End("D", "i"), End("E", "i"))
    assert found.warnings == ()


def test_an_event_that_nobody_sends_is_worth_a_warning() -> None:
    found = parse_assembly("connect A.o -> First.a;", LIBRARY, TYPES)
    assert [(w.code, w.span and w.span.line_column) for w in found.warnings] == [("unbound-event", (2, 31))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("connect A.o -> First.x;", [("unknown-event", "First.x")]),
        ("connect Frist -> A.i;", [("unknown-correlation", "Frist")]),
        ("connect First.out -> A.i;", [("unknown-port", "First.out")]),
        ("connect A.o -> First;", [("no-port", "First")]),
        ("connect A.o -> First.a; connect B.o -> First.a;", [("bound-twice", "First.a")]),
        ("connect A.o -> First.a; connect A.o -> First.b;", [("bound-twice", "A.o")]),
        ("connect First -> Second.d;", [("wrong-type", "connect First -> Second.d;")]),
        ("connect A.o = B.i;", [("syntax", "=")]),
        (
            "connect A.o -> B.i connect A. -> B.i; link A -> B;",
            [("syntax", "connect"), ("syntax", "->"), ("syntax", "link")],
        ),
    ],
)
def test_mistakes(text: str, found: list[tuple[str, str]]) -> None:
    assert mistakes(lambda: parse_assembly(text, LIBRARY, TYPES)) == found
