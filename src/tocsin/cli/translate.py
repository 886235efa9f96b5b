"""`tocsin translate TEXT --from LANGUAGE --to LANGUAGE`: a profile of the event algebra in another of its languages."""

from __future__ import annotations

import argparse
import json
from typing import Any

from tocsin.cli.texts import chosen, given_text, located
from tocsin.translate import best_first, translate

_HELP = """\
It prints the profiles to install, how their notifications relate to those of the original (equivalent, positive: more,
negative: fewer, transferring: the same after a post-filter), what is lost, and the rules with table and row. With several
targets the one that loses least comes first.

examples:
  tocsin translate '(* (E1 ; E2))' --from samos --to compas
  tocsin translate @alarm.profile --from meta-ens --to snoop --to samos --exact
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "translate",
        help="say a profile in another language",
        description="Translate a profile of the event algebra into another of its languages.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("text", metavar="TEXT", help="the text of a profile, or @FILE to read it from a file")
    parser.add_argument(
        "--from", dest="source", required=True, metavar="LANGUAGE", help="what it is written in"
    )
    parser.add_argument(
        "--to",
        dest="targets",
        required=True,
        action="append",
        metavar="LANGUAGE",
        help="may be given several times",
    )
    parser.add_argument(
        "--exact", action="store_true", help="leave to a post-filter what the target cannot say exactly"
    )
    parser.add_argument(
        "--operators-only", action="store_true", help="leave duplicates and consumption aside, as groups do"
    )
    parser.add_argument(
        "--timeframe",
        type=int,
        metavar="N",
        help="for rules that need one where the profile has none; else infinite",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="how the language is read"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per target")


def run(options: argparse.Namespace) -> int:
    """Print the translations."""
    text, file = given_text(options.text)
    with located(file):
        found = best_first(
            translate(
                text,
                options.source,
                target,
                exact=options.exact,
                parameters=not options.operators_only,
                timeframe=options.timeframe,
                options=chosen(options.option),
            )
            for target in options.targets
        )
    for number, one in enumerate(found):
        if options.json:
            print(json.dumps(one.to_dict(), ensure_ascii=False))
        else:
            heading = f"{one.target.title}:\n" if len(found) > 1 else ""
            print(("\n" if number else "") + heading + str(one))
    return 0
