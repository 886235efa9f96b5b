"""Systems of components for tests: from texts, and random ones."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from support.ksu_strategies import correlations
from tocsin.algebra.correlation.expression import Correlation, Library
from tocsin.algebra.correlation.types import Types
from tocsin.algebra.system.model import (
    Behaviour,
    Component,
    End,
    Instance,
    Port,
    System,
    Transition,
    Wire,
)
from tocsin.languages.attached import Attached
from tocsin.languages.ksu.system import read_system


def system(cad: str, **files: str) -> System:
    """The system of an assembly; `a_idl="…"` is the text of `a.idl`."""

    def read(path: Path) -> Attached:
        return Attached(files[path.name.replace(".", "_")], path.name)

    return read_system(Attached(cad, "system.cad"), read)


@st.composite
def systems(draw: st.DrawFn) -> System:
    """A few instances that send to each other and to a correlation, and get what it sends."""
    correlation: Correlation = draw(correlations)
    names = ["p", "q"]
    components, behaviours, instances = {}, {}, {}
    wires = [
        Wire(
            End(draw(st.sampled_from(names)), draw(st.sampled_from(["o1", "o2"]))),
            End(correlation.name, p.name),
        )
        for p in correlation.parameters
    ]
    for name in names:
        ports = {port: Port(port, "publishes", "T") for port in ("o1", "o2")} | {
            "i": Port("i", "consumes", "T")
        }
        components[name] = Component(name, ports)
        modes = ("m", "n")
        transition = st.builds(
            Transition,
            st.sampled_from([("m",), ("n",), ("m", "n")]),
            st.sampled_from([None, None, "i"]),
            st.sampled_from([(), ("o1",), ("o2",), ("o1", "o2")]),
            st.sampled_from([None, "m", "n"]),
        )
        behaviours[name] = Behaviour(name, modes, tuple(draw(st.lists(transition, min_size=1, max_size=4))))
        instances[name] = Instance(name, name)
        wires.append(
            Wire(
                draw(st.sampled_from([End(correlation.name), End("p", "o1"), End("q", "o2")])), End(name, "i")
            )
        )
    return System(
        Types(()),
        components,
        Library((correlation,)),
        behaviours,
        instances,
        tuple(wires),
        queue=draw(st.integers(1, 3)),
    )
