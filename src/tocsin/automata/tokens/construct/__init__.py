"""From a pattern to a draft automaton, one file per operator."""

from __future__ import annotations

from typing import assert_never

from tocsin.algebra.tokens.pattern import (
    AllOf,
    AnyOf,
    Atom,
    Optional,
    Order,
    Pattern,
    Repeat,
    Sequence,
    Timed,
    Within,
)
from tocsin.automata.tokens.construct.any_of import any_of
from tocsin.automata.tokens.construct.atom import atom
from tocsin.automata.tokens.construct.concatenation import concatenation
from tocsin.automata.tokens.construct.optional import optional
from tocsin.automata.tokens.construct.repeat import repeat
from tocsin.automata.tokens.construct.sequence import sequence
from tocsin.automata.tokens.construct.timed import timed
from tocsin.automata.tokens.construct.within import within
from tocsin.automata.tokens.fragment import Context, Draft, Fragment


def construct(draft: Draft, pattern: Pattern, context: Context) -> Fragment:
    """Add a pattern to the draft. Parallel parts must have been cut out by `plan` before."""
    fragment = _construct(draft, pattern, context)
    draft.spans.setdefault(
        fragment.start, pattern.span
    )  # inner parts come first, so the innermost part at a node keeps it
    return fragment


def _construct(draft: Draft, pattern: Pattern, context: Context) -> Fragment:
    match pattern:
        case Atom():
            return atom(draft, pattern, context)
        case Sequence(parts, Order.WEAK):
            return concatenation(draft, parts, context, construct)
        case Sequence(parts, _):
            return sequence(draft, parts, context, construct)
        case Repeat(body):
            return repeat(draft, body, context, construct)
        case Optional(body, most):
            return optional(draft, body, most, context, construct)
        case AnyOf(options):
            return any_of(draft, options, context, construct)
        case Timed(first, second, timer):
            return timed(draft, first, second, timer, context, construct)
        case Within(body, limit):
            return within(draft, body, limit, pattern.span, context, construct)
        case AllOf():
            raise TypeError("a parallel pattern is two detectors; `plan` must cut it out first")
        case _:
            assert_never(pattern)
