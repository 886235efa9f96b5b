"""What an explanation of a query over XML events says, and what a check finds."""

from __future__ import annotations

import pytest

from tocsin.explain import check, explain
from tocsin.explain.contents import Text

TEXT = """WHERE BLOCK $P: <person> <name></> ELEMENT_AS $n <k>$k</> </> IN "persons",
BLOCK $T: <pay state="done"> <k>$k</> </> IN "orders", BLOCK $X: <$t></> IN "orders", $k > 3,
EVENT {} CONSTRUCT <result> $k $n </>"""


def _texts(event: str) -> list[str]:
    found = explain(TEXT.format(event), "exml-ql")
    return [part.text for part in found.parts(Text)]


def test_an_explanation_has_the_tree_the_index_and_what_waits() -> None:
    found = explain(TEXT.format("$P BEFORE $T WITHIN 1h"), "exml-ql")
    (tree,) = found.trees
    assert (tree.operator, [one.operator for one in tree.operands]) == ("and", ["before", "block"])
    assert tree.operands[0].words == "the first before the second, within 1h"
    _, index, waits = (part.text.splitlines() for part in found.parts(Text))
    assert index == [
        "$P in 'persons': begins at <person>; 3 nodes and 1 predicate to compare",
        "$T in 'orders': begins at <pay>, looked up by the text 'done' at @state; 2 nodes and 1 predicate to compare",
        "$X in 'orders': begins at any element; 1 node and 0 predicates to compare",
    ]
    assert waits == [
        "the newest ($P $T) waits for $X: for ever",
        "the newest $X waits for ($P $T): for ever",
        "the newest $P waits for $T: at most 1h",
    ]
    assert not found.warnings
    assert found.to_dict()["family"] == "blocks"


@pytest.mark.parametrize(
    ("event", "waits"),
    [
        ("$P AFTER $T CONTEXT CHRONICLE", "every $T waits for $P: for ever"),
        (
            "$P DURING $T WITHIN 5s CONTEXT RECENT_PER_KEY",
            "the newest of each key $T waits for $P: at most 5s",
        ),
        ("NOT $X BETWEEN $P AND $T", "the newest $P waits for $T: for ever"),
    ],
)
def test_what_waits_depends_on_operator_and_context(event: str, waits: str) -> None:
    assert waits in _texts(event)[2].splitlines()


def test_what_is_odd_is_a_warning() -> None:
    report = check(TEXT.format("$P BEFORE $T WITHIN 1h CONTEXT CONTINUOUS"), "exml-ql")
    assert [one.code for one in report.findings] == ["unbounded-state"]  # for the block that EVENT leaves out
    assert [one.name for one in report.examined] == ["$P", "$T", "$X"]
    assert "3 pairs not compared" in str(report)
    report = check(TEXT.format("$P BEFORE $X AND $T CONTEXT RECENT_PER_KEY"), "exml-ql")
    assert [one.code for one in report.findings] == ["no-key"]
    assert not check(TEXT.format("$P BEFORE $T"), "exml-ql").findings
