"""The folder that a stream watches for changes of its rules: one numbered file per change, never modified.

Spark's file source ignores names that begin with `_` or `.`; so `_query.json`, in which a query describes the rules it
accepts, can be in the same folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.errors import InputError, TocsinError, did_you_mean
from tocsin.languages.registry import language, languages
from tocsin.runtime.stream.rule_book import MAX_BYTES, Change, Rule, changed, file_change, read_change

_QUERY = "_query.json"


class Query(NamedTuple):
    """The description of a query for those who change its rules."""

    language: str
    columns: Mapping[str, str]  # the columns that rules may name, with their kinds
    rules: tuple[Rule, ...]  # the ones it starts with


class Listed(NamedTuple):
    """A change in a folder; `problem` is why it cannot be applied, as far as that is known without the query."""

    file: str
    change: Change | None
    problem: TocsinError | None = None


def check_language(name: str, rule: Rule) -> None:
    """Raise an error for a rule in a language whose matches have other columns than those of the query."""
    query, own = language(name), language(rule.language or name)
    if own.name == query.name or not (own.sends or query.sends):
        return
    known = (query.name,) if query.sends else tuple(one.name for one in languages() if not one.sends)
    raise InputError(
        "other-language",
        f"the matches of this query cannot hold the rule {rule.name!r}, which is in {own.name}",
        hint=f"its rules are in {', '.join(known)}; for others start a query of their own",
    )


def write_change(folder: Path, change: Mapping[str, Any]) -> Path:
    """Write a change as the next file of a folder, atomically; concurrent writers get different numbers."""
    text = json.dumps({key: value for key, value in change.items() if value}, ensure_ascii=False, indent=1)
    draft = folder / f".{os.getpid()}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_text(text + "\n", encoding="utf-8")
        number = max((_number(file) for file in _files(folder)), default=0) + 1
        while True:
            target = folder / f"{number:06d}.json"
            try:
                os.link(draft, target)  # unlike a rename, it never replaces a file
                return target
            except FileExistsError:
                number += 1
    except OSError as problem:
        raise InputError("bad-file", f"{folder} cannot be written: {problem.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


def write_query(folder: Path, query: Query) -> None:
    """Write the description of a query to a folder."""
    said = {
        "language": query.language,
        "columns": dict(query.columns),
        "rules": [_plain(rule) for rule in query.rules],
    }
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{os.getpid()}.query"
    draft.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    draft.replace(folder / _QUERY)


def read_query(folder: Path) -> Query | None:
    """Read the description of a query; None if there is none yet."""
    try:
        said = json.loads((folder / _QUERY).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    rules = tuple(Rule(**{**one, "options": tuple(map(tuple, one["options"]))}) for one in said["rules"])
    return Query(said["language"], said["columns"], rules)


def _plain(rule: Rule) -> dict[str, Any]:
    return {name: value for name, value in rule._asdict().items() if name != "since"}


def read_changes(
    folder: Path, rules: Sequence[Rule], check: Callable[[Rule], None]
) -> tuple[list[Listed], tuple[Rule, ...]]:
    """Read the changes of a folder in order, and apply them to the rules that a query started with; return both.

    Args:
        check: raises an error for a rule that the query would refuse.
    """
    if not folder.is_dir():
        near = [one.name for one in folder.parent.iterdir()] if folder.parent.is_dir() else []
        hint = did_you_mean(folder.name, near, "give the folder that the query watches")
        raise InputError("no-file", f"there is no folder {folder}", hint=hint)
    left = tuple(rules)
    found: list[Listed] = []
    for file in sorted(_files(folder), key=_number):
        try:
            with file.open("rb") as opened:
                data = opened.read(MAX_BYTES + 1)
            change = read_change(file_change(file.name, data))
        except OSError as wrong:
            problem = InputError("bad-file", f"{file.name} cannot be read: {wrong.strerror}")
            found.append(Listed(file.name, None, problem))
            continue
        except InputError as problem:
            found.append(Listed(file.name, None, problem))
            continue
        try:
            after = changed(left, change, len(found) + 1)
            if change.rule is not None:
                check(change.rule)
            left = after
            found.append(Listed(file.name, change))
        except TocsinError as problem:
            found.append(Listed(file.name, change, problem))
    return found, left


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.glob("[0-9]*.json") if file.is_file()]


def _number(file: Path) -> int:
    digits = file.name[: len(file.name) - len(file.name.lstrip("0123456789"))]
    return int(digits or 0)
