"""Explain and check queries over XML events: the event tree, how the index finds each block, what waits and how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from tocsin.algebra.blocks.joining import Evaluation
from tocsin.algebra.blocks.query import Context, Query, stream_of
from tocsin.algebra.blocks.temporal import (
    Absent,
    Both,
    Composition,
    Of,
    OneOfTwo,
    Related,
    leaves,
    parts_of,
)
from tocsin.algebra.blocks.warnings import KEEPS_ALL, limit_of, sides, tree_with_all, warnings
from tocsin.automata.blocks.chain import Chain, chain_of
from tocsin.errors import counted
from tocsin.events import format_duration
from tocsin.explain.check_report import CheckReport, Examined, NotCompared
from tocsin.explain.contents import Finding, Findings, Text, Tree
from tocsin.explain.explanation import Explanation, Section
from tocsin.explain.family_checks import FamilyChecks
from tocsin.explain.parsed_text import ParsedText

__all__ = ["CHECKS", "explain"]

FAMILY = "blocks"
_RELATIONS = {
    "BEFORE": "the first before the second",
    "AFTER": "the first after the second",
    "CONCURRENT": "at the same time",
    "DURING": "the first during the second",
}


def explain(parsed: ParsedText) -> Explanation:
    """What a query means: its event tree, how its blocks are found, what it keeps."""
    query: Query = parsed.value
    text, tree, context = (
        parsed.language.text_of(query),
        tree_with_all(query),
        query.where.context or "recent",
    )
    sections = (
        Section("text", Text(text)),
        Section("event tree", _tree(tree)),
        Section("block index", Text("\n".join(_found_by(query)))),
        Section("waits", Text("\n".join(_waits(tree, context)) or "nothing waits")),
        Section("warnings", Findings(tuple(map(Finding.of, warnings(query))))),
    )
    return Explanation(FAMILY, parsed.language.name, text, sections)


def _tree(tree: Composition) -> Tree:
    match tree:
        case Of(block, span):
            place = None if span is None else (span.start, span.end)
            return Tree(f"block ${block}", "block", (), place)
        case Related(relation, left, right, within):
            limit = "" if within is None else f", within {format_duration(within)}"
            return Tree(_RELATIONS[relation] + limit, relation.lower(), (_tree(left), _tree(right)))
        case Absent(absent, first, last):
            words = "the second before the third, and nothing of the first between"
            return Tree(words, "not-between", (_tree(absent), _tree(first), _tree(last)))
        case Both(left, right):
            return Tree("both, in any order", "and", (_tree(left), _tree(right)))
        case OneOfTwo(left, right):
            return Tree("one of these", "or", (_tree(left), _tree(right)))
        case _:
            assert_never(tree)


def _chains(query: Query) -> Iterator[tuple[str, str, Chain]]:
    """Each block with its stream and its node chain."""
    evaluation = Evaluation(query)
    for name, block in evaluation.blocks.items():
        stream = stream_of(block.source)
        own = evaluation.own_predicates(name)
        if stream is not None:
            yield name, stream.name, chain_of(block.pattern, own, query.interpretation.root_only)


def _found_by(query: Query) -> Iterator[str]:
    for name, stream, chain in _chains(query):
        heads = (
            "any element" if chain.heads is None else " or ".join(f"<{one}>" for one in sorted(chain.heads))
        )
        line = f"${name} in {stream!r}: begins at {heads}"
        if chain.required is not None:
            path, attribute, text = chain.required
            place = "/".join([*path, *([] if attribute is None else [f"@{attribute}"])]) or "."
            line += f", looked up by the text {text!r} at {place}"
        compared = f"{counted(chain.length, 'node')} and {counted(len(chain.predicates), 'predicate')}"
        yield f"{line}; {compared} to compare"


def _waits(tree: Composition, context: Context) -> Iterator[str]:
    """What each operator keeps of its operands, and for how long."""
    if isinstance(tree, Of):
        return
    if not isinstance(tree, OneOfTwo):
        waiting, other = sides(tree)
        kept = (
            "every"
            if context in KEEPS_ALL
            else "the newest of each key"
            if context.endswith("key")
            else "the newest"
        )
        either = isinstance(tree, Both) or (
            isinstance(tree, Related) and tree.relation in ("CONCURRENT", "DURING")
        )
        for one, partner in ((waiting, other), (other, waiting)) if either else ((waiting, other),):
            limit = limit_of(tree)
            how_long = "for ever" if limit is None else f"at most {format_duration(limit)}"
            yield f"{kept} {_named(one)} waits for {_named(partner)}: {how_long}"
    for part in parts_of(tree):
        yield from _waits(part, context)


def _named(tree: Composition) -> str:
    names = list(dict.fromkeys(f"${leaf.block}" for leaf in leaves(tree)))
    return names[0] if isinstance(tree, Of) else f"({' '.join(names)})"


def _report(parsed: ParsedText) -> CheckReport:
    query: Query = parsed.value
    examined = tuple(
        Examined("block", f"${name}", counts={"nodes": chain.length, "predicates": len(chain.predicates)})
        for name, _, chain in _chains(query)
    )
    pairs = len(examined) * (len(examined) - 1) // 2
    return CheckReport(
        FAMILY,
        parsed.language.name,
        examined,
        not_compared=NotCompared(pairs, "nobody asks which block of a query contains another"),
        findings=tuple(map(Finding.of, warnings(query))),
    )


def _named_parts(_: ParsedText) -> Sequence[object]:
    """Queries are not compared with each other."""
    return ()


CHECKS = FamilyChecks(_report, _named_parts)
