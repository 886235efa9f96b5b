"""From a pattern to a draft automaton, one file an operator."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.pattern import AllOf, AnyOf, Atom, Order, Pattern, Repeat, Sequence, Timed
from tocsin.automata.construct.any_of import any_of
from tocsin.automata.construct.atom import atom
from tocsin.automata.construct.concatenation import concatenation
from tocsin.automata.construct.repeat import repeat
from tocsin.automata.construct.sequence import sequence
from tocsin.automata.construct.timed import timed
from tocsin.automata.fragment import Context, Draft, Fragment


def construct(draft: Draft, pattern: Pattern, context: Context) -> Fragment:
    """Add a pattern to the draft. Parallel parts must have been cut out by `plan` before."""
    match pattern:
        case Atom():
            return atom(draft, pattern, context)
        case Sequence(parts, Order.WEAK):
            return concatenation(draft, parts, context, construct)
        case Sequence(parts, _):
            return sequence(draft, parts, context, construct)
        case Repeat(body):
            return repeat(draft, body, context, construct)
        case AnyOf(options):
            return any_of(draft, options, context, construct)
        case Timed(first, second, timer):
            return timed(draft, first, second, timer, context, construct)
        case AllOf():
            raise TypeError("a parallel pattern is two detectors; `plan` must cut it out first")
        case _:
            assert_never(pattern)
