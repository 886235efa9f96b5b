"""Correlation machines (paper 000): built from expressions, run, made small, turned into tables, drawn."""

from tocsin.algebra.completion.machine import Machine, Transition
from tocsin.automata.machine.alphabet import Alphabet, alphabet_of, enumerated
from tocsin.automata.machine.channel import Channel
from tocsin.automata.machine.compile import Compiled, compile_machine, simplify
from tocsin.automata.machine.construct import construct
from tocsin.automata.machine.draw import draw
from tocsin.automata.machine.passes.compose import compose
from tocsin.automata.machine.passes.determinise import determinise
from tocsin.automata.machine.passes.minimise import minimise
from tocsin.automata.machine.table import Determinised, Table

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
    "draw",
    "enumerated",
    "minimise",
    "simplify",
]
