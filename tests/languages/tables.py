"""The tables of a README, so that what they say can be tried."""

from __future__ import annotations

import re
from pathlib import Path

import tocsin.languages

FOLDER = Path(tocsin.languages.__path__[0])


def rows(language: str, heading: str) -> list[tuple[list[str], ...]]:
    """The rows of the table under a heading; of each cell, what stands in backticks."""
    text = (FOLDER / language / "README.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [tuple(_quoted(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]) for line in table]


def _quoted(cell: str) -> list[str]:
    return [text.replace(r"\|", "|") for text in re.findall(r"`([^`]+)`", cell)]
