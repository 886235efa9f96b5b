"""Pickles are read only where they come from the driver inside Spark's own messages, or from the cache of kernels."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tocsin"

# Each reads bytes that the driver made in the same run, or that lie beside the source (see docs/explanation/trust.md).
READERS = {
    "runtime/batch/partition.py",  # predicates of a job
    "runtime/compiling.py",  # machine code of the kernels, in the folder of the package or in NUMBA_CACHE_DIR
    "runtime/kernels/completion/memory.py",  # the table of a plan
    "runtime/kernels/completion/table.py",  # the stepper of a plan
    "runtime/predicates/at_decision.py",  # predicates of rules, which workers compile themselves
    "runtime/program.py",  # the plan
    "spark/rules/compile_rules.py",  # settings of a query with rules
}
# None of these may be used at all: they run what they read.
NEVER = {"dill", "jsonpickle", "marshal", "shelve", "cloudpickle"}


def calls(tree: ast.AST) -> set[str]:
    """The functions that a module calls by the name of a module, as in `pickle.loads`."""
    return {
        f"{node.func.value.id}.{node.func.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    }


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module.partition(".")[0]}
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_known_modules_read_pickles() -> None:
    readers, never = set(), set()
    for file in SOURCE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        name = str(file.relative_to(SOURCE))
        used = calls(tree) & {"pickle.loads", "pickle.load", "pickle.Unpickler"}
        if used or {"pickle.loads", "pickle.load", "pickle.Unpickler"} & imported(tree):
            readers.add(name)
        if NEVER & imported(tree) or calls(tree) & {"yaml.load", "yaml.unsafe_load", "yaml.full_load"}:
            never.add(name)
    assert readers == READERS
    assert never == set()
