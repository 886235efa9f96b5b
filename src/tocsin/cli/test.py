"""`tocsin test FILE…`: run the test cases of patterns."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from tocsin.cases.files import read_cases
from tocsin.cases.model import ENGINES, USUAL_ENGINES
from tocsin.cases.runner import Outcome, described, reasons, run_cases, summary
from tocsin.errors import InputError, TocsinError, did_you_mean

_HELP = """\
A case has a pattern, events, and the matches that must be found:

  pattern: "[Door(room=$x)];[Temp(room=$x AND temp<15)]"
  events:
    - Door @ 1s room=1
    - Temp @ 2s room=1 temp=20.5
    - Temp @ 3s room=1 temp=14
  matches:
    - [1, 3]

Events are numbered from 1. `matches: []` says that nothing is found, `error: CODE` that the pattern is
refused. A file holds one case, a list of cases, or several documents. Further keys of a case: name, language,
options, key, types, sets, note. Instead of a pattern a case can name a rule: file: FILE, or pipeline: FILE and rule: NAME.

A rule file holds its own cases below the pattern; a pipeline file stands for the rule files that it names.

examples:
  tocsin test cases.yaml
  tocsin test cases/*.yaml --engine reference,local
  tocsin test rules/*.tocsin
  tocsin test pipeline.toml
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "test",
        help="run test cases of patterns",
        description="Run test cases of patterns and compare what is found with what is expected.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="a file of cases, a rule file, or a pipeline"
    )
    parser.add_argument(
        "--engine",
        default=",".join(USUAL_ENGINES),
        metavar="NAME,…",
        help="what runs the cases: reference (the meaning in plain Python), local (the kernels in this "
        "process), spark (a table), and, only if it is named, stream (Structured Streaming, with events out of "
        "order and a restart; a minute or two for a file of a hundred cases, because they share queries)",
    )
    parser.add_argument(
        "--skip-unknown", action="store_true", help="skip cases of a kind or language that is not known"
    )


def run(options: argparse.Namespace) -> int:
    """Run every case on every engine; 1 if one failed."""
    engines = [name.strip() for name in options.engine.split(",") if name.strip()]
    for name in engines:
        if name not in ENGINES:
            raise InputError(
                "unknown-engine", f"there is no engine {name!r}", hint=did_you_mean(name, ENGINES)
            )
    if not engines:
        raise InputError("no-engine", "no engine is named", hint="one or more of " + ",".join(ENGINES))
    problems = []
    cases = []
    for path in options.files:
        try:
            cases += read_cases(path)
        except TocsinError as problem:
            problems.append(str(problem))
    if problems:
        print("\n\n".join(problems), file=sys.stderr)
        return 2
    outcomes: list[Outcome] = []
    for outcome in run_cases(cases, engines, skip_unknown=options.skip_unknown):
        outcomes.append(outcome)
        if outcome.status == "failed":
            print(described(outcome), end="\n\n", flush=True)
    for reason in reasons(outcomes):
        print(reason)
    print(summary(outcomes))
    return 1 if any(outcome.status == "failed" for outcome in outcomes) else 0
