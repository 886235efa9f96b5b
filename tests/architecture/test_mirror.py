"""Tests mirror the package: a red test names the room to look in."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "src" / "tocsin"

# Folders for what no single room answers for: whole languages, laws, the tree itself, pages, examples, and shared code.
ELSEWHERE = {"architecture", "conformance", "docs", "examples", "properties", "support"}


def mirrored(path: Path) -> bool:
    """Whether a path below tests belongs to the mirror of the package."""
    return path.relative_to(TESTS).parts[0] not in ELSEWHERE


def room(folder: Path) -> Path:
    """The folder of the package that a folder of tests mirrors."""
    return SOURCE / folder.relative_to(TESTS)


def test_every_folder_of_tests_mirrors_a_room() -> None:
    folders = {file.parent for file in TESTS.rglob("*.py")} - {TESTS}
    strays = sorted(str(f.relative_to(TESTS)) for f in folders if mirrored(f) and not room(f).is_dir())
    assert not strays, f"src/tocsin has no such folder: {strays}"


def test_every_test_module_lies_in_a_room() -> None:
    modules = [file for file in TESTS.rglob("test_*.py") if mirrored(file)]
    assert len(modules) > 100
    strays = sorted(str(m.relative_to(TESTS)) for m in modules if not room(m.parent).is_dir())
    assert not strays, f"move these to the room they test: {strays}"


def test_every_room_has_tests() -> None:
    rooms = {file.relative_to(SOURCE).parts[0] for file in SOURCE.glob("*/*.py")}
    tested = {file.relative_to(TESTS).parts[0] for file in TESTS.glob("*/**/test_*.py")}
    assert rooms <= tested, f"no tests for {sorted(rooms - tested)}"


def test_no_test_module_imports_another() -> None:
    found = []
    for file in TESTS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            own = [name for name in named if _is_test_module(name)]
            found += [f"{file.relative_to(TESTS)} imports {name}" for name in own]
    assert not found, "put what is shared into tests/support: " + "; ".join(found)


def _is_test_module(name: str) -> bool:
    path = TESTS.joinpath(*name.split("."))
    return path.name.startswith("test_") and path.with_suffix(".py").is_file()


def test_helpers_lie_in_support() -> None:
    modules = {file.name for file in TESTS.glob("*.py") if not file.name.startswith("test_")}
    assert modules == {"conftest.py", "fuzz.py", "many_cases.py"}
