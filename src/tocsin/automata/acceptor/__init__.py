"""Compiled correlations: acceptors whose state is a few numbers, run one event at a time."""

from tocsin.automata.acceptor.equivalence import difference
from tocsin.automata.acceptor.program import Program, compile_correlation
from tocsin.automata.acceptor.run import feed, run, start
from tocsin.automata.acceptor.state import State, pack, unpack
from tocsin.automata.acceptor.table import Table, determinise

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
