"""Patterns and conditions that can never be met are found; those that can are left alone."""

from __future__ import annotations

import pytest

from tocsin.algebra.predicate import Filter
from tocsin.algebra.tokens.pattern import specs
from tocsin.automata.tokens.never import is_contradiction, never
from tocsin.events import Catalog, EventType
from tocsin.languages.registry import parse


def _filter_of(text: str) -> Filter:
    (spec,) = specs(parse(f"[A({text})]").pattern)
    assert spec.filter is not None
    return spec.filter


@pytest.mark.parametrize(
    "text",
    [
        "k<1 AND k>2",
        "k<1 AND k>=1",
        "k<=1 AND k>=1 AND k!=1",
        "k=1 AND k=2",
        "k=1 AND k='1'",
        "k<1 AND k<'a'",
        "k=1 AND k!=1",
        "k=1 AND NOT k=1",
        "NOT (k<1 OR k>=1)",
        "(k=1 OR k=2) AND k>2",
        "k='b' AND k<'b'",
        "b=true AND b=false",
        "b!=true AND b>=true",
        "x=1 AND (k=1 AND k=2 OR k=3 AND k=4)",
        "k=$x AND k=1 AND k=2",
    ],
)
def test_a_contradiction(text: str) -> None:
    assert is_contradiction(_filter_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "k<2 AND k>1",
        "k<=1 AND k>=1",
        "k!=1 AND k!=2",
        "k!=1 AND k!='1'",
        "k=1 OR k=2",
        "NOT (k=1 AND k=2)",
        "k=1 AND j=2",
        "k=$x AND j=$x",
        "k<'b' AND k>'a'",
        "b!=true",
        "(k=1 OR k=2) AND k>1",
    ],
)
def test_no_contradiction(text: str) -> None:
    assert not is_contradiction(_filter_of(text))


def test_a_condition_of_very_many_cases_is_not_looked_into() -> None:
    text = " AND ".join(f"(a{n}=1 OR a{n}=2)" for n in range(20)) + " AND k=1 AND k=2"
    assert not is_contradiction(_filter_of(text))


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("[A];[B]", []),
        ("[!A in {A,B}]", []),
        ("[!A in {A}]", ["never-matches"]),
        ("[!A,B in {B,A}][C]", ["never-matches", "never-matches"]),
        ("[!A(k=1) in {A(k=1)}]", ["never-matches"]),
        ("[!A(k=1) in {A}]", []),
        ("[!A in {A(k=1)}]", ["never-matches"]),
        ("[A(k=1 AND k=2), B]", ["never-true"]),
        ("[A]|[!B in {B}]", ["never-matches"]),
        ("[A][!B in {B}]*", ["never-matches"]),
        ("[!B in {B}]*", ["never-matches", "never-matches"]),
        ("[A]||[!B in {B}]", ["never-matches", "never-matches"]),
        ("([A],[!B in {B}])_{T1=1s}", ["never-matches", "never-matches"]),
        ("C := ([!B in {B}]); [C];[A]", ["never-matches", "never-matches", "never-matches"]),
        ("[A];[B] where A.k=1 AND A.k=2", ["never-true"]),
        ("[A];[B] where A.k=1 AND B.k=2", []),
    ],
)
def test_what_is_found_in_a_pattern(text: str, codes: list[str]) -> None:
    assert [finding.code for finding in never(parse(text))] == codes


def test_a_finding_points_at_the_text() -> None:
    (finding, *_) = never(parse("[A];[B(k=1 AND k=2)]"))
    assert finding.span is not None
    assert finding.span.text[finding.span.start : finding.span.end] == "k=1 AND k=2"


def test_with_a_catalog_a_parent_covers_its_children() -> None:
    catalog = Catalog([EventType("Seen"), EventType("Badge", parent="Seen")])
    subscription = parse("[!Seen in {Badge}]", catalog=catalog)
    assert [finding.code for finding in never(subscription, catalog)] == ["never-matches"]
    assert never(parse("[!Badge in {Seen}]", catalog=catalog), catalog) == []
