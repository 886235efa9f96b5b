"""Compiled correlations: acceptors whose state is a few numbers, run one event at a time."""

from tocsin.automata.correlation.equivalence import difference
from tocsin.automata.correlation.program import Program, compile_correlation
from tocsin.automata.correlation.run import feed, run, start
from tocsin.automata.correlation.state import State, pack, unpack
from tocsin.automata.correlation.table import Table, determinise

__all__ = [
    "Program",
    "State",
    "Table",
    "compile_correlation",
    "determinise",
    "difference",
    "feed",
    "pack",
    "run",
    "start",
    "unpack",
]

DOORS = (
    "acceptor",
    "draft",
    "guard",
    "ports",
    "system",
    "table",
)
