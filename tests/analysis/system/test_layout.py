"""What is said about the layout of a system: mistakes, and warnings."""

from __future__ import annotations

import pytest

from support.systems import system
from tocsin.analysis.system import check_layout
from tocsin.errors import PatternErrors

IDL = """
interface Data { float read(in long at); };
interface Other { };
eventtype T { };
eventtype U : T { };
component A { publishes U out; emits T one; provides Data data; };
component B { consumes T in_; publishes T echo; uses Data data; };
"""
COR = "T correlation Pair (T a, T b) l:(a + b) { case l: push a; }"
INCLUDED = '#include "a.idl" #include "a.cps" #include "a.cor" '
GOOD = """
instance A a; instance B b, c;
connect a.out -> Pair.a; connect a.one -> Pair.b; connect Pair -> b.in_; connect Pair -> c.in_;
connect b.data -> a.data; connect c.data -> a.data; connect b.echo -> c.in_; connect c.echo -> b.in_;
"""


def warnings(cad: str, cps: str = "component B { do push echo; }", cor: str = COR) -> list[str]:
    return [
        str(one).splitlines()[0]
        for one in check_layout(system(INCLUDED + cad, a_idl=IDL, a_cps=cps, a_cor=cor))
    ]


def test_a_good_one() -> None:
    assert warnings(GOOD) == []


@pytest.mark.parametrize(
    ("cad", "cps", "wanted"),
    [
        (
            GOOD.replace("connect c.data -> a.data;", ""),
            "",
            "unbound-port: c.data uses Data, and is connected to nothing",
        ),
        (
            GOOD.replace("connect a.one -> Pair.b;", ""),
            "",
            "unbound-event: event b of Pair is bound to no port",
        ),
        (GOOD, "component A { do push out; }", "never-triggered: Pair never sends anything"),
        (GOOD, "component A { do push out; }", "never-sends: a.one never sends anything"),
        (
            GOOD,
            "component A { modes x, y; do push out; in y: do push one; }",
            "never-triggered: Pair never sends anything",
        ),
        (
            GOOD,
            "component B { on in_ do push echo; }",
            "event-cycle: events go in a circle: b.echo -> c.echo -> b.echo",
        ),
        (
            GOOD + "rate a.out 10; rate a.one 40; rate b.echo 2; rate c.echo 3; rate c.in_ 13;",
            "",
            "too-slow: c.in_ needs 13 events a second, and is sent at most 12",
        ),
    ],
)
def test_warnings(cad: str, cps: str, wanted: str) -> None:
    assert any(one.startswith(wanted) for one in warnings(cad, cps)), warnings(cad, cps)


def test_a_mode_that_something_leads_to_is_no_reason() -> None:
    cps = "component A { modes x, y; do push out; in x: do goto y; in y: do push one; }"
    assert not any("never" in one for one in warnings(GOOD, cps))


@pytest.mark.parametrize(
    ("cad", "cps", "wanted"),
    [
        (
            "instance A Pair; connect Pair -> Pair.a;",
            "",
            "duplicate-name: Pair is an instance and a correlation",
        ),
        ("instance C c;", "", "unknown-component: component C not declared"),
        (
            "instance A a; connect a.out -> b.in_;",
            "",
            "unknown-instance: there is no instance or correlation b",
        ),
        (
            "instance A a; instance B b; connect a.oout -> b.in_;",
            "",
            "unknown-port: a is a A, which has no port oout",
        ),
        ("instance A a; instance B b; connect b.in_ -> a.out;", "", "wrong-direction: b.in_ sends nothing"),
        (
            "instance A a; instance B b; connect a.out -> b.echo;",
            "",
            "wrong-direction: b.echo consumes nothing",
        ),
        (
            "instance A a; instance B b; connect b.data -> b.in_;",
            "",
            "wrong-direction: b.data uses an interface",
        ),
        ("instance A a; connect a.one -> Pair.x;", "", "unknown-event: event x not declared in Pair"),
        (GOOD + "connect b.echo -> Pair.a;", "", "bound-twice: event Pair.a is bound twice"),
        (
            GOOD + "connect a.one -> b.in_;",
            "",
            "connected-twice: a.one emits to one receiver, and is connected 2 times",
        ),
        ("instance A a;", "component A { in up: do push out; }", "unknown-mode: A has no mode up"),
        ("instance A a;", "component A { do goto up; }", "unknown-mode: A has no mode up"),
        ("instance A a;", "component A { do push data; }", "unknown-port: A sends nothing by a port data"),
        (
            "instance B b;",
            "component B { on echo do push echo; }",
            "unknown-port: B consumes nothing by a port echo",
        ),
        ("instance B b;", "component X { do push echo; }", "unknown-component: component X not declared"),
        (GOOD + "spec s: never d in x;", "", "unknown-instance: there is no instance d"),
        (GOOD + "spec s: never a in x;", "", "unknown-mode: a has no mode x"),
        (GOOD + "spec s: never Pair.m off;", "", "unknown-label: Pair has no label m"),
        (GOOD + "spec s: never Pear.l off;", "", "unknown-correlation: no correlation Pear is connected"),
        (GOOD + "spec s: never b.in_ under way;", "", "wrong-direction: nothing leaves by b.in_"),
    ],
)
def test_mistakes(cad: str, cps: str, wanted: str) -> None:
    with pytest.raises(PatternErrors) as caught:
        warnings(cad, cps)
    assert any(str(error).startswith(wanted) for error in caught.value.errors), caught.value.errors


def test_the_rate_of_what_can_be_switched_off_is_not_that_of_the_rarer() -> None:
    cor = "T correlation Pair (T a, T b) l:(a + m:b) { case l: push a; case l & m: abort (m); }"
    rates = "rate a.out 40; rate a.one 10; rate b.echo 0; rate c.echo 0; rate c.in_ 60;"
    assert any(
        "c.in_ needs 60 events a second, and is sent at most 50" in w for w in warnings(GOOD + rates, cor=cor)
    )
    cor = cor.replace("abort (m)", "push b")
    assert any(
        "c.in_ needs 60 events a second, and is sent at most 20" in w for w in warnings(GOOD + rates, cor=cor)
    )


def test_types_must_fit() -> None:
    cor = "U correlation Pair (U a, T b) l:(a + b) { case l: push a; }"
    with pytest.raises(PatternErrors, match=r"wrong-type: a\.one has the type T, and Pair\.a takes U"):
        warnings("instance A a; connect a.one -> Pair.a;", cor=cor)
