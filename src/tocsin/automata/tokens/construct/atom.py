"""Atoms: one state that reads, one transition."""

from __future__ import annotations

from tocsin.algebra.tokens.pattern import Atom
from tocsin.automata.tokens.fragment import Context, Draft, Fragment, Read


def atom(draft: Draft, pattern: Atom, context: Context) -> Fragment:
    """`[A, B in S]`. Paper: 003, Fig. 14a."""
    start, end = draft.node(), draft.node()
    draft.nodes[start] = Read(pattern, context, end)
    return Fragment(start, end)
