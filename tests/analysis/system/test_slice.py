"""What can influence a port."""

from __future__ import annotations

from support.systems import system
from tocsin.algebra.system.model import End
from tocsin.analysis.system import slice_of

IDL = """
eventtype T { };
component Source { publishes T out; };
component Box { consumes T x; consumes T y; consumes T z; publishes T fast; publishes T slow; };
"""
CPS = """
component Box {
  modes on, off;
  in on: on x do push fast;
  on y do goto off;
  slow depends on z;
}
"""
CAD = """
#include "a.idl" #include "a.cps"
instance Source p, q, r; instance Box box, last;
connect p.out -> box.x; connect q.out -> box.y; connect r.out -> box.z;
connect box.fast -> last.x; connect box.slow -> last.z;
"""


def influence(owner: str, port: str) -> list[str]:
    return [str(end) for end in slice_of(system(CAD, a_idl=IDL, a_cps=CPS), End(owner, port))]


def test_a_slice_follows_connections_behaviours_and_modes() -> None:
    assert influence("last", "x") == ["last.x", "box.fast", "box.x", "box.y", "p.out", "q.out"]
    assert influence("last", "z") == ["last.z", "box.slow", "box.z", "r.out"]
    assert influence("last", "y") == ["last.y"]
    assert influence("p", "out") == ["p.out"]
