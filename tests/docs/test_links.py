"""Links between the pages lead somewhere: to a file that exists, and to a heading that it has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "examples/*/*.md", "benchmarks/*.md", "src/**/*.md")
    for page in ROOT.glob(pattern)
)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def links(text: str) -> list[str]:
    """The targets of the links of a page that lie in this repository."""
    return [target for target in _LINK.findall(_FENCE.sub("", text)) if "://" not in target]


def anchors(text: str) -> set[str]:
    """The names that links to the headings of a page use."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in links(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            broken.append(target)
    assert not broken, f"these lead nowhere: {broken}"


def test_links_in_code_are_no_links() -> None:
    assert links("[a](b.md)\n```\n[c](d.md)\n```\n[e](https://f)") == ["b.md"]


def test_headings_become_anchors() -> None:
    assert anchors("# The `[stream]` table\n\n## How many shards?\n") == {
        "the-stream-table",
        "how-many-shards",
    }
