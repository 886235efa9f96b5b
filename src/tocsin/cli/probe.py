"""`tocsin probe -- COMMAND`: which parameters of the event algebra explain a detector that cannot be looked into."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tocsin.analysis.pairs import Command, probe, probing_profiles
from tocsin.errors import InputError
from tocsin.languages.registry import language

_HELP = """\
The command gets lines such as
  {"profile": "a ; b", "events": [{"id": "a1", "type": "a", "time": 1}, {"id": "b1", "type": "b", "time": 2}]}
on its standard input, and answers each with a line {"matches": [["a1", "b1"]]}, or {"error": "why"} for a profile it does not
know. Profiles are over events a and b: those given with --profile, or every operator that --language can write.

examples:
  tocsin probe --profile sequence='a ; b' --profile conjunction='a & b' -- ./detector --quiet
  tocsin probe --language LANGUAGE --json -- python3 detector.py
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "probe",
        help="find the parameters of a detector",
        description="Find what a detector does with duplicates, used events, timeframes and equal times.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("detector", nargs="+", metavar="COMMAND", help="the command, after --")
    parser.add_argument(
        "--profile",
        action="append",
        default=[],
        metavar="OPERATOR=TEXT",
        help="sequence, conjunction, disjunction …",
    )
    parser.add_argument("--language", metavar="NAME", help="the language that profiles are written in")
    parser.add_argument(
        "--timeout", type=float, default=10.0, metavar="S", help="how long an answer may take"
    )
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")


def run(options: argparse.Namespace) -> int:
    """Print what was found."""
    profiles = {} if options.language is None else probing_profiles(language(options.language))
    for given in options.profile:
        operator, equals, text = given.partition("=")
        if not equals:
            raise InputError(
                "bad-option", f"--profile {given} has no text", hint="write --profile OPERATOR=TEXT"
            )
        profiles[operator.strip()] = text.strip()
    if not profiles and options.language is None:
        raise InputError("bad-option", "there is nothing to ask", hint="give --profile or --language")
    with Command(options.detector, options.timeout) as detector:
        found = probe(detector, profiles)
    print(json.dumps(found.to_dict(), indent=2) if options.json else found)
    return 0
