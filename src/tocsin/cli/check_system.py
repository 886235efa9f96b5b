"""The part of `tocsin check` that is about systems of components."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from tocsin.algebra.system.model import System
from tocsin.errors import InputError
from tocsin.explain.system_report import report_on_system
from tocsin.languages.attached import Attached
from tocsin.languages.registry import option_of_file

_OWN = ("slice", "states")
_MOST_STATES = 10_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that only systems have."""
    parser.add_argument(
        "--slice", action="append", metavar="PORT", help="of a system: list what can influence this port"
    )
    parser.add_argument(
        "--states",
        type=int,
        metavar="N",
        help="of a system: how many states are looked at at most (1,000,000)",
    )


def system_of(path: Path) -> System | None:
    """The system that a file describes; None if it describes none."""
    own, _ = option_of_file(path) or (None, None)
    if own is None or not {"is-system", "system"} <= own.parts.keys():
        return None
    given = Attached.of(path)
    read: Callable[[Attached], System] = own.part("system")
    return read(given) if own.part("is-system")(given.text) else None


def refuse_own(options: argparse.Namespace) -> None:
    """Refuse the options of systems where there is none."""
    for name in _OWN:
        if getattr(options, name) is not None:
            raise InputError(
                "bad-option", f"no file here takes --{name}", hint="it is for systems of components"
            )


def run(paths: Sequence[Path], systems: Sequence[System], options: argparse.Namespace) -> int:
    """Print what is known of systems; 1 if there is a warning or something fails, and --strict is given."""
    for name in ("equal", "contains", "option"):
        if getattr(options, name):
            raise InputError("bad-option", f"--{name} does not apply to systems", hint="leave it out")
    most = 1_000_000 if options.states is None else options.states
    if not 1 <= most <= _MOST_STATES:
        raise InputError("bad-option", f"--states is a number from 1 to {_MOST_STATES:,}")
    reports = [
        report_on_system(system, path.name, slices=tuple(options.slice or ()), most=most)
        for path, system in zip(paths, systems, strict=True)
    ]
    if options.json:
        print(json.dumps({"systems": [one.to_dict() for one in reports]}, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(map(str, reports)), end="\n\n")
    return 1 if options.strict and not all(one.well for one in reports) else 0
