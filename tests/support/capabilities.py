"""What the papers describe, with what shows it: read from `tests/conformance/capabilities`, and written as pages.

Run as `python tests/support/capabilities.py`, it writes the pages of `docs/conformance` anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CONFORMANCE, PAGES = ROOT / "tests" / "conformance", ROOT / "docs" / "conformance"
_RANGE = re.compile(r"([a-z]+)-(\d+)\.\.(\d+)")


@dataclass(frozen=True)
class Capability:
    """One line of a paper: what it says, the cases and tests that show it, and what is missing or declined."""

    name: str
    says: str
    shown: tuple[str, ...] = ()
    missing: str = ""
    declined: str = ""


@dataclass(frozen=True)
class Paper:
    """The capabilities of a paper, and the ids of the cases that are kept for it."""

    title: str
    source: str
    capabilities: tuple[Capability, ...]
    cases: frozenset[str]

    def evidence(self, one: Capability) -> list[str]:
        """What shows a capability; a range of cases is those that are there."""
        found = []
        for shown in one.shown:
            match = _RANGE.fullmatch(shown)
            if match is None:
                found.append(shown)
                continue
            numbers = range(int(match[2]), int(match[3]) + 1)
            found += [case for n in numbers if (case := f"{match[1]}-{n:03}") in self.cases]
        return found


def papers() -> dict[str, Paper]:
    """The papers by the name of their file."""
    found = {}
    for path in sorted((CONFORMANCE / "capabilities").glob("*.yaml")):
        told: dict[str, Any] = yaml.safe_load(path.read_text())
        cases = re.findall(r"^\W*id: (\S+)$", (CONFORMANCE / path.name).read_text(), re.MULTILINE)
        capabilities = tuple(
            Capability(name, **{**own, "shown": tuple(own.get("shown", ()))})
            for name, own in told["capabilities"].items()
        )
        found[path.stem] = Paper(told["title"], told["paper"], capabilities, frozenset(cases))
    return found


def page(name: str, paper: Paper) -> str:
    """The page of a paper."""
    whole = sum(not one.missing and not one.declined for one in paper.capabilities)
    lines = [
        f"# {paper.title}: what the paper describes",
        "",
        f"{paper.source}",
        "",
        f"{whole} of {len(paper.capabilities)} lines are shown whole. A case is one of `tests/conformance/{name}.yaml`,",
        "which every engine must pass (`tocsin test`); other evidence is a test, by its file under `tests`. This page is",
        "written by `python tests/support/capabilities.py`, and a test fails if what it names is not there.",
        "",
        "| | described | shown by | missing or declined |",
        "|---|---|---|---|",
    ]
    for one in paper.capabilities:
        shown = ", ".join(f"`{evidence}`" for evidence in paper.evidence(one)) or "–"
        rest = " ".join(
            [f"missing: {one.missing}"] * bool(one.missing)
            + [f"declined: {one.declined}"] * bool(one.declined)
        )
        lines.append(f"| {one.name} | {one.says} | {shown} | {rest} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for own, told in papers().items():
        (PAGES / f"{own}.md").write_text(page(own, told))
