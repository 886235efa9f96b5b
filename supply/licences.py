"""List the licence of every package in constraints.txt, and check it against licences.toml.

    python3 dev.py licences

The exit code is 1 if a package has a licence that is not on the list, or says none.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_LONGEST = 80  # characters of a name; some packages put the whole text of the licence there


@dataclass(frozen=True)
class Package:
    """A package with its licence, and what is wrong with that, if anything."""

    name: str
    version: str
    licence: str
    note: str = ""
    problem: str = ""


def main() -> int:
    """Print the list; the result is the exit code."""
    rules = tomllib.loads((HERE / "licences.toml").read_text(encoding="utf-8"))
    lines = (HERE.parent / "constraints.txt").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0] for line in lines if "==" in line.partition("#")[0]]
    packages = [examined(name, rules) for name in names]
    wide = max((len(f"{one.name} {one.version}") for one in packages), default=0)
    for one in packages:
        said = f"{one.licence}  ({one.note})" if one.note else one.licence
        print(f"{f'{one.name} {one.version}':{wide}}  {one.problem or said}")
    wrong = [one for one in packages if one.problem]
    if wrong:
        names_of = ", ".join(one.name for one in wrong)
        print(f"licences: not on the list of supply/licences.toml: {names_of}", file=sys.stderr)
    return 1 if wrong else 0


def examined(name: str, rules: Mapping[str, Any]) -> Package:
    """Return an installed package with its licence."""
    try:
        own = distribution(name)
    except PackageNotFoundError:
        return Package(name, "", "", problem="NOT INSTALLED")
    special = rules.get("packages", {}).get(name)
    if special is not None:
        found = any(
            special["words"] in path.read_text(errors="replace") for path in files(own, special["file"])
        )
        if not found:
            return Package(name, own.version, "", problem=f"{special['file']} lacks {special['words']!r}")
        return Package(name, own.version, special["licence"], special["reason"])
    expression = stated(own, rules.get("spellings", {}))
    if not expression:
        return Package(name, own.version, "", problem="SAYS NO LICENCE")
    if not allowed(expression, set(rules["allowed"])):
        return Package(name, own.version, expression, problem=f"NOT ALLOWED: {expression}")
    return Package(name, own.version, expression)


def files(own: Distribution, pattern: str) -> list[Path]:
    """Return the files of a package that match a pattern, relative to where packages are installed."""
    return [Path(str(own.locate_file(one))) for one in own.files or () if one.match(pattern)]


def stated(own: Distribution, spellings: Mapping[str, str]) -> str:
    """Return what a package says of its licence, as an SPDX expression; "" if it says nothing.

    Classifiers come before the free text, because that may be the whole licence. Several classifiers all apply.
    """
    metadata = own.metadata.json
    if "license_expression" in metadata:
        return str(metadata["license_expression"])
    classifiers = [
        one.rpartition(" :: ")[2] for one in metadata.get("classifier", ()) if one.startswith("License :: ")
    ]
    text = str(metadata.get("license", "")).strip()
    known = classifiers or ([text] if text and len(text) <= _LONGEST else [])
    return " AND ".join(spellings.get(one, one) for one in known)


def allowed(expression: str, identifiers: set[str]) -> bool:
    """Return whether an expression can be met with these licences: every part of AND, some part of OR.

    >>> allowed("EPL-2.0 OR BSD-3-Clause", {"BSD-3-Clause"}), allowed("MIT AND GPL-3.0-only", {"MIT"})
    (True, False)
    """
    plain = expression.replace("(", " ").replace(")", " ")
    if plain != expression and re.search(r"\bAND\b", plain) and re.search(r"\bOR\b", plain):
        return False  # nested: to be looked at by a person
    return any(
        all(part.strip() in identifiers for part in re.split(r"\bAND\b", choice))
        for choice in re.split(r"\bOR\b", plain)
    )


if __name__ == "__main__":
    sys.exit(main())
