"""`tocsin languages [NAME]`: the languages there are, how they are classified, and what one of them has."""

from __future__ import annotations

import argparse
from typing import Any

from tocsin.languages.language import Language
from tocsin.languages.profiles.page import columns, page, table
from tocsin.languages.registry import language, languages

_HELP = """\
Without a name: every language, and the table of the surveyed ones: their group, operators, timeframe, consumption and
duplicates. With one: its page.

examples:
  tocsin languages
  tocsin languages NAME
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "languages",
        help="list the languages, or show one",
        description="List the languages that patterns and profiles are written in, or show one of them.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a language")


def run(options: argparse.Namespace) -> int:
    """Print the table, or a page."""
    if options.name is None:
        described = [one for one in languages() if "description" in one.parts]
        others = [one for one in languages() if "description" not in one.parts]
        print(columns([("language", "family", ""), *((one.name, one.family, one.title) for one in others)]))
        print(f"\n{table(one.part('description')() for one in described)}")
        return 0
    own = language(options.name)
    print(page(own.part("description")()) if "description" in own.parts else _plain(own))
    return 0


def _plain(own: Language) -> str:
    """What is known of a language without a description."""
    facts = [("name", ", ".join((own.name, *own.aliases))), ("family", own.family)]
    if own.endings:
        facts.append(("files", ", ".join(own.endings)))
    facts.append(("options", ", ".join(own.option_names) or "-"))
    return f"{own.title}\n{columns(facts)}"
