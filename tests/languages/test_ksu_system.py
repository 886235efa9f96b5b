"""The files of systems: component IDL, behaviours, assemblies with instances, rates and specifications."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.systems import system
from tocsin.algebra.system.model import Behaviour, End, Instance, Rate, Transition
from tocsin.algebra.system.specification import Both, Either, InMode, IsOff, NotSo, UnderWay
from tocsin.analysis.system import check_layout
from tocsin.errors import InputError, PatternErrors, PipelineErrors, TocsinError
from tocsin.languages.attached import Attached
from tocsin.languages.ksu import parse_assembly, parse_idl
from tocsin.languages.ksu.idl import parse_declarations
from tocsin.languages.ksu.system import read_system
from tocsin.languages.ksu.system.behaviour import parse_behaviours

IDL = """
#include "types.idl"
module M {
  enum Color { red, green };
  struct Place { double x; double y; };
  interface Base { attribute long size; void reset(); };
  interface Data : Base { Place read(in long at, out Color color); };
  component Sensor supports Base { publishes T out; provides Data data; attribute short rate; };
  component Better : Sensor { emits U more; consumes T in_; uses Data other; };
  home Sensors manages Sensor { Sensor create(in long id); };
};
"""
TYPES = "eventtype T { public long n; }; eventtype U : T { };"


def declared(text: str) -> object:
    return parse_declarations(text, lambda name: Attached(TYPES, name))


def test_components() -> None:
    found = parse_declarations(IDL, lambda name: Attached(TYPES, name))
    assert found.types.names == ("T", "U")
    better = found.components["M::Better"]
    assert [(p.direction, p.type, p.name) for p in better.ports.values()] == [
        ("publishes", "T", "out"),
        ("provides", "M::Data", "data"),
        ("emits", "U", "more"),
        ("consumes", "T", "in_"),
        ("uses", "M::Data", "other"),
    ]
    assert (better.sending(), better.consuming()) == (("out", "more"), ("in_",))
    assert parse_idl("enum E { a, b }; eventtype T { public E e; };").attributes("T") == {"e": "string"}


def test_a_file_is_included_once_and_may_include_itself() -> None:
    texts = {"a.idl": '#include "b.idl" eventtype A : B { };', "b.idl": '#include "b.idl" eventtype B { };'}
    found = parse_declarations(texts["a.idl"], lambda name: Attached(texts[name], name))
    assert found.types.names == ("B", "A")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("component A { publishes X out; };", ["unknown-type"]),
        ("component A { uses X out; };", ["unknown-type"]),
        ("component A : X { };", ["unknown-component"]),
        ("component A { publishes T a; consumes T a; };", ["duplicate-port"]),
        ("component A { sends T a; };", ["syntax"]),
        ("component A { publishes T a };", ["syntax"]),
        ("component A { }", ["syntax"]),
        ("interface A { void; };", ["syntax"]),
        ("home H { };", ["syntax"]),
        ("home H manages X { };", ["unknown-type"]),
        ("struct S { Place x; };", ["unknown-type"]),
        ("enum E { a, a };", ["duplicate-name"]),
        ("component A { }; interface A { };", ["duplicate-type"]),
        ('# "x"', ["syntax"]),
        ('module M { #include "x" };', ["syntax"]),
    ],
)
def test_mistakes_in_idl(text: str, codes: list[str]) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse_declarations("eventtype T { }; " + text if "#" not in text else text, lambda name: Attached(""))
    assert [error.code for error in caught.value.errors][: len(codes)] == codes


def test_a_text_alone_includes_nothing() -> None:
    with pytest.raises(PatternErrors, match=r"no-include: \"types.idl\" cannot be included in a text"):
        parse_idl(IDL)


def test_behaviours() -> None:
    found = parse_behaviours(
        "component A { modes x, y; in x: on p do push a, b goto y; do goto x; c depends on p, q; d depends on nothing; }"
        "component M::B { do push a; }"
    )
    assert found == {
        "A": Behaviour(
            "A",
            ("x", "y"),
            (Transition(("x",), "p", ("a", "b"), "y"), Transition(("x", "y"), None, (), "x")),
            (("c", ("p", "q")), ("d", ())),
        ),
        "M::B": Behaviour("M::B", ("running",), (Transition(("running",), None, ("a",), None),)),
    }


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("component A { do; }", ["syntax"]),
        ("component A { in x do push a; on p push a; do push a; }", ["syntax", "syntax"]),
        ("component A { c depends p; }", ["syntax"]),
        ("component A { } component A { }", ["duplicate-name"]),
        ("thing A { } component B { do; }", ["syntax", "syntax"]),
        ("component A {", ["syntax"]),
    ],
)
def test_mistakes_in_behaviours(text: str, codes: list[str]) -> None:
    with pytest.raises(PatternErrors) as caught:
        parse_behaviours(text)
    assert [error.code for error in caught.value.errors] == codes


CAD = """
#include "a.cor"
#include "a.idl"
instance A a, b on left;
connect a.out -> C.x;
connect C -> b.in_;
rate a.out 2.5;
queue 3;
spec One: never deadlock;
spec Two: always possible a in running & (C.l off | !b.out under way);
spec Three: idle leads to C under way;
"""
FILES = {
    "a_idl": "eventtype T { }; component A { publishes T out; consumes T in_; };",
    "a_cor": "T correlation C (T x) l:x { case l: push x; } T correlation Unused (T x) l:x { case l: push x; }",
}


def test_a_system() -> None:
    found = system(CAD, **FILES)
    assert found.instances == {name: Instance(name, "A", "left") for name in "ab"}
    assert [str(w.source) for w in found.wires] == ["a.out", "C"]
    assert (found.rates, found.queue) == ((Rate(End("a", "out"), 2.5),), 3)
    assert [c.name for c in found.library.correlations] == ["C"]
    one, two, three = found.specifications
    assert (one.form, two.form, three.form) == ("never deadlock", "always possible", "leads to")
    off = Either(IsOff("C", "l"), NotSo(UnderWay("b", "out")))
    assert two.condition == Both(InMode("a", "running"), off)
    assert two.written == "always possible a in running & (C.l off | !b.out under way)"
    assert (three.condition, three.then) == (NotSo(UnderWay()), UnderWay("C"))


def test_the_connections_of_a_system_are_an_assembly() -> None:
    assert {event: str(end) for event, end in parse_assembly(CAD).sources("C").items()} == {"x": "a.out"}


@pytest.mark.parametrize(
    ("cad", "codes"),
    [
        ("instance A a instance A b;", ["syntax"]),
        ("instance A a, a;", ["duplicate-name"]),
        ("queue 0;", ["bad-bound"]),
        ("rate a.out fast;", ["syntax"]),
        ("spec s never deadlock;", ["syntax"]),
        ("spec s: a in x;", ["syntax"]),
        ("spec s: always a;", ["syntax"]),
        ("spec s: always " + "(" * 200 + "idle;", ["too-deep"]),
        ("specs s; connect a -> ;", ["syntax", "syntax"]),
        ('#include "a.xml"', ["bad-file"]),
    ],
)
def test_mistakes_in_a_system(cad: str, codes: list[str]) -> None:
    with pytest.raises((PatternErrors, PipelineErrors)) as caught:
        system(cad, **FILES)
    assert [error.code for error in caught.value.errors] == codes


def test_mistakes_name_their_file(tmp_path: Path) -> None:
    (tmp_path / "s.cad").write_text('#include "a.cps" instance A a;')
    with pytest.raises(InputError, match=r"no-file: there is no file .*a\.cps"):
        read_system(Attached.of(tmp_path / "s.cad"))
    (tmp_path / "a.cps").write_text("component A { do; }")
    with pytest.raises(PipelineErrors, match=r"a\.cps, line 1, column 17"):
        read_system(Attached.of(tmp_path / "s.cad"))
    with pytest.raises(InputError, match="the system has no instances"):
        system("", **FILES)


def test_files_without_end_are_refused() -> None:
    def include(name: str) -> Attached:
        return Attached(f'#include "{int(name) + 1}"', name)

    with pytest.raises((PatternErrors, PipelineErrors), match="too-many-files"):
        parse_declarations('#include "1"', include)


WORDS = sorted(
    {
        word
        for text in (IDL, TYPES, CAD, *FILES.values())
        for word in re.findall(r"\w+|[^\w\s]|\"[^\"]*\"", text)
    }
)
WORDS += [
    "in",
    "do",
    "push",
    "goto",
    "modes",
    "depends",
    "always",
    "leads",
    "to",
    "way",
    "on",
    "1",
    "0",
    "#include",
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_no_text_gives_anything_but_an_error(text: str) -> None:
    for read in (
        lambda: parse_declarations(text, lambda name: Attached("", name)),
        lambda: parse_behaviours(text),
        lambda: check_layout(system(text, **{**FILES, "a_cps": text})),
    ):
        with suppress(TocsinError, KeyError):  # a file that the test does not have
            read()
