"""Reads how blocks are composed in time: what stands after EVENT."""

from __future__ import annotations

from tocsin.algebra.blocks.query import CONTEXTS, Context
from tocsin.algebra.blocks.temporal import Absent, Both, Composition, Of, OneOfTwo, Related, Relation
from tocsin.errors import did_you_mean
from tocsin.languages.exml_ql.scanner import Scanner
from tocsin.languages.exml_ql.words import DURATION

_RELATIONS: tuple[Relation, ...] = ("BEFORE", "AFTER", "CONCURRENT", "DURING")


def composition(scanner: Scanner) -> Composition:
    """Operators between blocks: OR binds weakest, then AND, then the relations of time."""
    left = _both(scanner)
    while scanner.word("OR"):
        left = OneOfTwo(left, _both(scanner))
    return left


def _both(scanner: Scanner) -> Composition:
    left = _related(scanner)
    while scanner.word("AND"):
        left = Both(left, _related(scanner))
    return left


def _related(scanner: Scanner) -> Composition:
    if scanner.word("NOT"):
        absent = _operand(scanner)
        if not scanner.word("BETWEEN"):
            scanner.fail("BETWEEN", "write NOT $x BETWEEN $a AND $b")
        first = _operand(scanner)
        if not scanner.word("AND"):
            scanner.fail("AND", "write NOT $x BETWEEN $a AND $b")
        return Absent(absent, first, _operand(scanner))
    left = _operand(scanner)
    while (relation := next((one for one in _RELATIONS if scanner.word(one)), None)) is not None:
        right = _operand(scanner)
        left = Related(relation, left, right, _within(scanner))
    return left


def _within(scanner: Scanner) -> int | None:
    if not scanner.word("WITHIN"):
        return None
    found = scanner.take(DURATION)
    if found is None:
        scanner.fail("a duration", "write 10s, 5min or 1.5h")
    return scanner.duration(found)


def _operand(scanner: Scanner) -> Composition:
    if scanner.sign("("):
        with scanner.nested():
            inner = composition(scanner)
        scanner.expect(")", "')'")
        return inner
    return Of(*scanner.variable("a block"))


def context(scanner: Scanner) -> Context:
    """The word after CONTEXT."""
    given = scanner.ahead()
    known: dict[str, Context] = {name.upper(): name for name in CONTEXTS}
    if given not in known:
        scanner.fail("a context", did_you_mean(given, known, f"one of {', '.join(known)}"))
    scanner.word(given)
    return known[given]
