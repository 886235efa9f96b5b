"""How systems move: by hand on a small one, and compiled correlators against the meaning of correlations."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from support.systems import system, systems
from tocsin.algebra.system.behaviour import Behaving, Traced
from tocsin.algebra.system.model import System
from tocsin.algebra.system.specification import Both, Either, InMode, IsOff, NotSo, UnderWay
from tocsin.automata.correlation.system import Compiled

IDL = """
eventtype T { };
component Source { publishes T out; };
component Sink { consumes T in_; };
"""
CPS = "component Sink { modes waiting, done; in waiting: on in_ do goto done; }"
COR = "T correlation Pair (T a, T b) l:(a;b) { case l: push b; abort (l); }"
CAD = """
#include "a.idl" #include "a.cps" #include "a.cor"
instance Source one, two;
instance Sink sink;
connect one.out -> Pair.a;
connect two.out -> Pair.b;
connect Pair -> sink.in_;
queue 1;
"""


def of(found: System) -> Behaving:
    return Behaving(found, Traced({c.name: c for c in found.library.correlations}))


def test_sources_send_while_there_is_room_and_the_queue_is_delivered_in_order() -> None:
    behaving = of(system(CAD, a_idl=IDL, a_cps=CPS, a_cor=COR))
    start = behaving.start()
    assert [str(move) for move, _ in behaving.moves(start)] == [
        "one moves, sends one.out",
        "two moves, sends two.out",
    ]
    state = start
    for wanted in ("one moves, sends one.out", "one.out is delivered", "two moves, sends two.out"):
        state = {str(move): after for move, after in behaving.moves(state)}[wanted]
    assert behaving.holds(Both(UnderWay("two", "out"), NotSo(UnderWay("one", "out"))), state)
    # The queue is full: nothing else can happen than a delivery.
    ((move, state),) = behaving.moves(state)
    assert str(move) == "two.out is delivered, sends Pair"
    assert behaving.holds(Both(IsOff("Pair", "l"), InMode("sink", "waiting")), state)
    ((move, state),) = behaving.moves(state)
    assert (str(move), behaving.holds(InMode("sink", "done"), state)) == ("Pair is delivered", True)
    assert behaving.holds(Either(UnderWay(), InMode("sink", "done")), state)
    assert not behaving.holds(UnderWay(), state)


def test_an_event_that_an_instance_cannot_use_is_dropped() -> None:
    text = CAD.replace("connect Pair -> sink.in_;", "connect one.out -> sink.in_;")
    behaving = of(system(text, a_idl=IDL, a_cps=CPS, a_cor=COR))
    state = behaving.start()
    for _ in range(2):
        state = {str(move): after for move, after in behaving.moves(state)}["one moves, sends one.out"]
        state = {str(move): after for move, after in behaving.moves(state)}["one.out is delivered"]
        assert behaving.holds(InMode("sink", "done"), state)


@settings(max_examples=60)
@given(systems(), st.randoms(use_true_random=False))
def test_compiled_correlators_move_like_the_reference(found: System, dice: random.Random) -> None:
    named = {c.name: c for c in found.library.correlations}
    reference, compiled = Behaving(found, Traced(named)), Behaving(found, Compiled(named))
    state, other = reference.start(), compiled.start()
    labels = [label for c in named.values() for label in Compiled(named)._found[c.name].program.labels]
    for _ in range(12):
        for label in labels:
            off = IsOff(next(iter(named)), label)
            assert reference.correlations == () or reference.holds(off, state) == compiled.holds(off, other)
        moves, others = list(reference.moves(state)), list(compiled.moves(other))
        assert [(m, s.modes, s.queue) for m, s in moves] == [(m, s.modes, s.queue) for m, s in others]
        if not moves:
            return
        chosen = dice.randrange(len(moves))
        state, other = moves[chosen][1], others[chosen][1]
