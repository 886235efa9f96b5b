"""The map in ARCHITECTURE.md has one line for every folder of the package, and none for folders that do not exist."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tocsin"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
_LINE = re.compile(r"( *)(\w+)/ +(\S.*)")


def folders_of_map(text: str) -> list[str]:
    """The folders of an indented map, as paths; each line has a name and says what the folder is for."""
    found: list[str] = []
    above: list[str] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        assert match, f"not a line of a map: {line!r}"
        depth = len(match[1]) // 2 - 1
        assert 0 <= depth <= len(above), f"wrong indentation: {line!r}"
        above = [*above[:depth], match[2]]
        found.append("/".join(above))
    return found


def map_of_page() -> list[str]:
    match = re.search(r"^src/tocsin/\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert match, "ARCHITECTURE.md has no map"
    return folders_of_map(match[1])


def folders() -> set[str]:
    return {str(file.parent.relative_to(SOURCE)) for file in SOURCE.rglob("*.py")} - {"."}


def test_every_folder_has_one_line() -> None:
    shown = Counter(map_of_page())
    assert not [folder for folder, lines in shown.items() if lines > 1]
    missing = sorted(folders() - set(shown))
    assert not missing, f"ARCHITECTURE.md: no line for {missing}"


def test_every_line_is_a_folder() -> None:
    gone = sorted(set(map_of_page()) - folders())
    assert not gone, f"ARCHITECTURE.md: no such folder: {gone}"


def test_folders_lie_in_the_order_of_the_alphabet() -> None:
    # Compared part by part, so that a folder comes before what it holds.
    shown = [folder.split("/") for folder in map_of_page()]
    assert shown == sorted(shown)


def test_a_map_is_read_by_its_indentation() -> None:
    assert folders_of_map("  a/   one\n    b/  two\n  c/   three") == ["a", "a/b", "c"]
    with pytest.raises(AssertionError, match="not a line of a map"):
        folders_of_map("  a/")
    with pytest.raises(AssertionError, match="wrong indentation"):
        folders_of_map("    b/  two")


def test_modules_that_the_page_names_exist() -> None:
    named = {name for name in re.findall(r"`([\w/]+\.py)`", PAGE) if not name.startswith("tests/")}
    assert len(named) > 5
    gone = sorted(
        name for name in named if not any((root / name).is_file() for root in (SOURCE, SOURCE.parent))
    )
    assert not gone, f"ARCHITECTURE.md: no such module: {gone}"
