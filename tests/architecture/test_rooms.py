"""The house rules that no linter knows: how large rooms and functions may be, how modules are named, which doors a room has.

A room is a folder of `src/tocsin`. Its `__init__` may name its doors, `DOORS = ("feed", "state")`: the modules that code
outside the room may import. A room without that line is open, and so are the top-level folders, whose contracts are in
pyproject.toml.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tocsin"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_MODULES = 15  # in a folder, beside __init__
MOST_LINES = 80  # of a function
MOST_PARAMETERS = 8
COMPILED = {"kernel", "bare", "inlined"}  # decorators of `runtime.compiling`
# Names that several modules of a package have, because each plays the same part in its room.
ROLES = {
    "algebra": {"check", "expression", "semantics", "warnings"},
    "automata": {"compile", "draft", "repeat", "table"},
    "cases": {"answers", "kinds", "tables"},
    "explain": {"diagrams", "verdicts", "wording"},
    "languages": {"colours", "names", "parser", "printer", "words"},
    "runtime": {"kernel", "memory"},
    "spark": {"run"},
}
# Endings that make two names hard to tell apart: chain/chains, group/grouped, rank/ranking.
ENDINGS = ("s", "es", "d", "ed", "r", "er", "ing", "ings")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id in COMPILED for one in function.decorator_list)


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_no_folder_has_more_modules_than_can_be_seen_at_once() -> None:
    sizes: dict[str, int] = {}
    for path in MODULES:
        if path.name != "__init__.py":
            folder = str(path.parent.relative_to(SOURCE))
            sizes[folder] = sizes.get(folder, 0) + 1
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_no_function_is_longer_than_can_be_followed() -> None:
    long = {
        f"{name_of(path)}.{one.name}": lines
        for path in MODULES
        for one in functions(path)
        if not is_kernel(one) and (lines := (one.end_lineno or 0) - one.lineno + 1) > MOST_LINES
    }
    assert long == {}


def test_no_function_takes_more_than_can_be_remembered() -> None:
    many = {
        f"{name_of(path)}.{one.name}": len(parameters(one))
        for path in MODULES
        for one in functions(path)
        if len(parameters(one)) > MOST_PARAMETERS
    }
    assert many == {}


@pytest.mark.parametrize("package", sorted({path.relative_to(SOURCE).parts[0] for path in MODULES}))
def test_no_module_name_differs_from_another_of_the_package_by_its_ending(package: str) -> None:
    names = {path.stem for path in MODULES if path.relative_to(SOURCE).parts[0] == package}
    alike = {(name, name + ending) for name in names for ending in ENDINGS if name + ending in names}
    assert alike == set()


def test_modules_of_one_package_share_a_name_only_if_it_is_a_role() -> None:
    found: dict[tuple[str, str], int] = {}
    for path in MODULES:
        inner = path.relative_to(SOURCE).parts
        if len(inner) > 1 and path.stem != "__init__":
            found[inner[0], path.stem] = found.get((inner[0], path.stem), 0) + 1
    shared: dict[str, set[str]] = {}
    for (package, name), count in found.items():
        if count > 1:
            shared.setdefault(package, set()).add(name)
    assert shared == ROLES


# --- doors ----------------------------------------------------------------------------------------


def doors(room: Path) -> tuple[str, ...] | None:
    """The modules of a room that code outside may import; None if the room does not say."""
    for node in tree(room / "__init__.py").body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "DOORS"
        ):
            found = ast.literal_eval(node.value)
            assert isinstance(found, tuple)
            return found
    return None


ROOMS = {
    name_of(path): own
    for path in MODULES
    if path.name == "__init__.py" and (own := doors(path.parent)) is not None
}


@cache
def imported(path: Path) -> frozenset[str]:
    """The modules of ours that a module imports, also `from package import module`."""
    known = {name_of(other) for other in MODULES}
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tocsin"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
    return frozenset(found)


def test_there_are_rooms_with_doors() -> None:
    assert {room.split(".")[1] for room in ROOMS} >= {"runtime", "spark"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_entered_by_its_doors(room: str) -> None:
    allowed = {room, *(f"{room}.{door}" for door in ROOMS[room])}
    climbed = {
        (name_of(path), other)
        for path in MODULES
        if not re.match(rf"{re.escape(room)}(\.|$)", name_of(path))
        for other in imported(path)
        if other.startswith(f"{room}.") and other not in allowed
    }
    assert climbed == set()


@pytest.mark.parametrize("room", ROOMS)
def test_every_door_is_there_and_used(room: str) -> None:
    used = {
        other
        for path in MODULES
        if not re.match(rf"{re.escape(room)}(\.|$)", name_of(path))
        for other in imported(path)
    }
    closed = {door for door in ROOMS[room] if f"{room}.{door}" not in used}
    assert closed == set()
