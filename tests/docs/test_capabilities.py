"""The pages that say what of each paper is there: no line without evidence, and no evidence that is not there."""

from __future__ import annotations

import pytest

from support.capabilities import PAGES, ROOT, Capability, Paper, page, papers

PAPERS = papers()
LINES = [(paper, one) for paper in PAPERS.values() for one in paper.capabilities]


@pytest.mark.parametrize("name", PAPERS)
def test_the_pages_are_up_to_date(name: str) -> None:
    assert (PAGES / f"{name}.md").read_text() == page(name, PAPERS[name])


@pytest.mark.parametrize(("paper", "one"), LINES, ids=[one.name for _, one in LINES])
def test_what_is_named_is_there(paper: Paper, one: Capability) -> None:
    evidence = paper.evidence(one)
    assert evidence or one.missing or one.declined
    assert len(evidence) >= len(one.shown)  # a range without any case shows nothing
    for shown in evidence:
        path, _, test = shown.partition("::")
        if path.endswith(".py"):
            text = (ROOT / "tests" / path).read_text()
            assert f"def {test or 'test_'}" in text, shown
        else:
            assert shown in paper.cases, shown


def test_every_line_of_the_papers_is_there() -> None:
    numbers = {
        name: [one.name.partition("-")[2] for one in paper.capabilities] for name, paper in PAPERS.items()
    }
    for name, count in {"ecl": 42, "ksu": 34, "cambridge": 36, "exml-ql": 15, "jung-hinze": 28}.items():
        assert numbers[name] == [f"{number:02}" for number in range(1, count + 1)]
