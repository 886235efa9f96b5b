"""Correlation machines (paper 000): built from expressions, run, simplified, turned into tables."""

from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.automata.completion.alphabet import Alphabet, alphabet_of, enumerated
from tocsin.automata.completion.channel import Channel
from tocsin.automata.completion.compile import Compiled, compile_machine, simplify
from tocsin.automata.completion.construct import construct
from tocsin.automata.completion.passes.compose import compose
from tocsin.automata.completion.passes.determinise import determinise
from tocsin.automata.completion.passes.minimise import minimise
from tocsin.automata.completion.table import Determinised, Table

__all__ = [
    "Alphabet",
    "Channel",
    "Compiled",
    "Determinised",
    "Machine",
    "Table",
    "Transition",
    "alphabet_of",
    "compile_machine",
    "compose",
    "construct",
    "determinise",
    "enumerated",
    "minimise",
    "simplify",
]

DOORS = (
    "alphabet",
    "compile",
    "construct",
    "draft",
    "passes.determinise",
    "passes.minimise",
    "passes.partition",
    "passes.quench",
    "simulate",
    "table",
)
