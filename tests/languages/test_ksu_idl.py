"""Event types from IDL files."""

from __future__ import annotations

import pytest

from languages.mistakes import mistakes
from tocsin.algebra.correlation.types import RecordType, Types, assignable, catalog, holds_value
from tocsin.languages.ksu import parse_idl


def test_the_types_of_the_paper() -> None:
    text = """
        eventtype Notify { attribute short SourceID; };
        eventtype DataNotify : Notify { attribute float Value; };
    """
    notify = RecordType("Notify", {"SourceID": "short"})
    assert parse_idl(text) == Types((notify, RecordType("DataNotify", {"Value": "float"}, "Notify")))


def test_every_primitive_type() -> None:
    names = [
        "short",
        "long",
        "long long",
        "unsigned short",
        "unsigned long",
        "float",
        "double",
        "boolean",
        "char",
        "octet",
        "string",
    ]
    members = " ".join(f"public {name} x{number};" for number, name in enumerate(names))
    assert list(parse_idl(f"eventtype T {{ {members} }};").attributes("T").values()) == names


def test_names_are_looked_up_from_the_inside_out() -> None:
    types = parse_idl("""
        typedef short Id;
        eventtype Base { attribute Id a; };
        module Outer {
            typedef double Id;
            eventtype Base { public Id b, c; };
            module Inner { eventtype Leaf : Base { attribute Id d; }; eventtype Top : Outer::Base { }; };
        };
        module Outer { eventtype Late : Inner::Leaf { }; };
    """)
    assert types.attributes("Outer::Inner::Leaf") == {"b": "double", "c": "double", "d": "double"}
    assert types.ancestors("Outer::Late") == ("Outer::Late", "Outer::Inner::Leaf", "Outer::Base")
    assert types.attributes("Base") == {"a": "short"}
    assert types.is_subtype("Outer::Inner::Top", "Outer::Base")
    assert not types.is_subtype("Outer::Base", "Base")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("eventtype A : B { };", [("unknown-type", "B")]),
        ("eventtype A : A { };", [("unknown-type", "A")]),
        ("eventtype A { attribute shrt x; };", [("unknown-type", "shrt")]),
        ("eventtype A { }; eventtype B { attribute A x; };", [("event-attribute", "A")]),
        ("eventtype A { attribute short x, x; };", [("duplicate-attribute", "x")]),
        (
            "eventtype A { public long x; }; eventtype B : A { public long x; };",
            [("duplicate-attribute", "x")],
        ),
        ("eventtype A { }; eventtype A { };", [("duplicate-type", "A")]),
        ("typedef short A; eventtype A { };", [("duplicate-type", "A")]),
        ("module M { eventtype A { };", [("open-bracket", "{")]),
        ("eventtype A { short x; };", [("syntax", "short")]),
        ("eventtype A { } eventtype B { };", [("syntax", "eventtype")]),
        ("eventtype attribute { };", [("syntax", "attribute")]),
        ("valuetype A { };", [("syntax", "valuetype")]),
        (
            "eventtype A { attribute short; public nope y; }; typedef shor S; eventtype B : C { };",
            [("syntax", ";"), ("unknown-type", "nope"), ("unknown-type", "shor"), ("unknown-type", "C")],
        ),
    ],
)
def test_mistakes(text: str, found: list[tuple[str, str]]) -> None:
    assert mistakes(lambda: parse_idl(text)) == found


@pytest.mark.parametrize(
    ("source", "target", "fits"),
    [
        ("short", "long", True),
        ("long", "short", False),
        ("unsigned short", "long", True),
        ("unsigned long", "long", False),
        ("unsigned long", "long long", True),
        ("short", "unsigned long", False),
        ("octet", "unsigned short", True),
        ("long long", "float", True),
        ("float", "double", True),
        ("double", "float", False),
        ("boolean", "short", False),
        ("char", "string", True),
        ("string", "char", False),
    ],
)
def test_a_type_that_keeps_its_values(source: str, target: str, fits: bool) -> None:
    assert assignable(source, target) == fits


@pytest.mark.parametrize(
    ("value", "target", "fits"),
    [
        (-1, "unsigned short", False),
        (65535, "unsigned short", True),
        (1, "double", True),
        (1.5, "long", False),
        (1.5, "float", True),
        (True, "boolean", True),
        (True, "long", False),
        (1, "boolean", False),
        ("x", "char", True),
        ("xy", "char", False),
        ("xy", "string", True),
    ],
)
def test_a_constant_that_fits(value: float | str | bool, target: str, fits: bool) -> None:
    assert holds_value(value, target) == fits


def test_a_long_line_of_parents() -> None:
    text = "eventtype T0 { public short x; };" + "".join(
        f"eventtype T{n} : T{n - 1} {{ }};" for n in range(1, 3000)
    )
    assert parse_idl(text).attributes("T2999") == {"x": "short"}


def test_other_parts_of_tocsin_know_the_types() -> None:
    known = catalog(parse_idl("eventtype A { public short x; }; eventtype B : A { public boolean y; };"))
    assert known.attributes("B") == {"x": "int", "y": "bool"}
    assert known.members("A") == {"A", "B"}
