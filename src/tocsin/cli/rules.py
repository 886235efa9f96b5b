"""`tocsin rules`: change the rules of a running stream, through the folder that it watches."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

from tocsin.cli.arguments.pattern import add_pattern, given_pattern
from tocsin.compile.family import KnownEvents, NamedText
from tocsin.compile.plan_texts import family_of
from tocsin.errors import InputError, TocsinError
from tocsin.events import parse_duration
from tocsin.explain.render.layout import columns
from tocsin.languages.registry import DEFAULT, language, selection_of
from tocsin.languages.rule_file import read_rule
from tocsin.runtime.stream.rule_book import Change, Decision, Rule, changed
from tocsin.spark.rules.folder import Query, check_language, read_changes, read_query, write_change

_HELP = """\
FOLDER is the folder that the query watches: tocsin.detect(…, tocsin.Rules(FOLDER)). A change is checked against the columns
and the language of that query, and against the rules in the folder, before it is written. The query checks it once
more; --checkpoint shows what it said.

examples:
  tocsin rules add rules Fire '[Smoke];[Heat(temp > 60)]'
  tocsin rules replace rules Fire @fire.txt --language pretty
  tocsin rules remove rules Fire
  tocsin rules list rules --checkpoint out/checkpoint
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "rules",
        help="change the rules of a stream that runs",
        description="Add, replace, remove and list the rules of a stream that watches a folder for them.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    for action, what in (
        ("add", "add a rule"),
        ("replace", "put another rule in place of one; it starts from scratch"),
        ("remove", "remove a rule"),
    ):
        own = actions.add_parser(action, help=what, description=f"{what[0].upper()}{what[1:]}.")
        own.add_argument("folder", metavar="FOLDER", type=Path, help="the folder that the stream watches")
        own.add_argument("name", metavar="NAME", help="the name of the rule")
        if action != "remove":
            add_pattern(own)
    own = actions.add_parser(
        "list", help="show the changes, and the rules they leave", description="Show them."
    )
    own.add_argument("folder", metavar="FOLDER", type=Path, help="the folder that the stream watches")
    own.add_argument("--checkpoint", metavar="DIR", help="show what the stream did, from its checkpoint")
    own.add_argument("--json", action="store_true", help="one object a line, for programs")


def run(options: argparse.Namespace) -> int:
    """Write a change, or show the current rules."""
    if options.action == "list":
        return _from_checkpoint(options) if options.checkpoint else _from_folder(options)
    query = read_query(options.folder)
    there: tuple[Rule, ...] = () if query is None else query.rules
    if options.folder.is_dir():
        _, there = read_changes(options.folder, there, partial(_check, query))
    said: dict[str, Any] = {"action": options.action, "name": options.name}
    rule = None
    if options.action != "remove":
        given = given_pattern(options)
        chosen = tuple(sorted((name, str(value)) for name, value in given.options.items()))
        rule = Rule(
            options.name, given.text.strip("\n"), given.language, chosen, options.matches, options.take
        )
        with given.located():
            _check(query, rule._replace(text=given.text))  # at its place in its file
        said |= {name: value for name, value in rule._asdict().items() if name not in ("name", "since")}
        said["options"] = dict(rule.options)
        if given.file is not None:
            said |= _metadata(Path(given.file))
    if query is not None or options.action == "add":
        # Without a query the initial rules are unknown.
        changed(there, Change(None, options.action, options.name, rule), 1)
    file = write_change(options.folder, said)
    known = "" if query is not None else "; no query has watched this folder yet, so columns were not checked"
    print(f"{options.action} {options.name}: {file}{known}")
    return 0


def _metadata(path: Path) -> dict[str, Any]:
    """Return the metadata of a rule file's rule."""
    rule = read_rule(path)
    for key in ("key", "attributes"):
        if key in rule.settings:
            message = f"{path} says the {key} of its rule, but all rules of a stream share those of the query"
            raise InputError("bad-option", message, hint=f"leave {key} out")
    known = rule.metadata
    quiet = parse_duration(rule.settings.get("quiet", ""))
    return {
        "description": known.description,
        "severity": known.severity,
        "tags": list(known.tags),
        "quiet": quiet / 1_000_000 if quiet else None,
    }


def _check(query: Query | None, rule: Rule) -> None:
    """Refuse what a query would refuse, as far as that can be checked without it."""
    if query is not None:
        check_language(query.language, rule)
    own = language(rule.language or (DEFAULT if query is None else query.language))
    selection = selection_of(own, rule.matches, rule.take)
    text = NamedText(own, rule.name, rule.text, dict(rule.options), selection)
    kinds = None if query is None else query.columns
    family_of(own).check(text, KnownEvents(kinds))


def _from_folder(options: argparse.Namespace) -> int:
    query = read_query(options.folder)
    found, left = read_changes(options.folder, () if query is None else query.rules, partial(_check, query))
    if options.json:
        for one in found:
            print(json.dumps({"file": one.file, **_change_data(one.change), **_problem(one.problem)}))
        return 0
    rows = []
    for one in found:
        what = one.file if one.change is None else f"{one.file}  {one.change.action} {one.change.name}"
        text = one.change.rule.text if one.change is not None and one.change.rule is not None else ""
        rows.append((what, f"{one.problem.code}: {one.problem.message}" if one.problem else text))
    print(columns(rows) or "no changes")
    print(f"then in force: {', '.join(rule.name for rule in left) or 'no rule'}")
    return 0


def _from_checkpoint(options: argparse.Namespace) -> int:
    # Imported here, because they load Spark.
    from tocsin.spark.session.session import local_session
    from tocsin.spark.stream.inspect import read_rules

    spark = local_session("tocsin rules")
    try:
        book = read_rules(spark, options.checkpoint)
    finally:
        spark.stop()
    if options.json:
        for one in book.history:
            print(json.dumps(one._asdict()))
        return 0
    print(columns([(_what(one), _when(one)) for one in book.history]) or "no changes")
    print("in force:")
    print(columns([(f"  {rule.name}", rule.text) for rule in book.rules]) or "  no rule")
    return 0


def _what(one: Decision) -> str:
    number = "the program" if one.number is None else f"{one.number:06d}"
    return "  ".join(part for part in (number, one.action, one.name) if part)


def _when(one: Decision) -> str:
    if one.code is not None:
        return f"refused: {one.code}: {one.message}" + (f" ({one.hint})" if one.hint else "")
    return f"micro-batch {one.batch}, for what ends after {one.until or 'the beginning'}"


def _change_data(change: Change | None) -> dict[str, Any]:
    if change is None:
        return {}
    data: dict[str, Any] = {"number": change.number, "action": change.action, "name": change.name}
    if change.rule is not None:
        data |= {"text": change.rule.text, "language": change.rule.language}
    return data


def _problem(problem: TocsinError | None) -> dict[str, Any]:
    return {} if problem is None else {"code": problem.code, "message": problem.message, "hint": problem.hint}
