"""`tocsin check FILE…`: static analysis of patterns, subscriptions, machines and correlations."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tocsin.algebra.system.model import System
from tocsin.cli.arguments.pattern import BESIDE, add_files_beside, takers_of, together
from tocsin.cli.texts import chosen
from tocsin.errors import InputError, TocsinError, did_you_mean
from tocsin.explain import CheckReport
from tocsin.explain.check_report import Comparison
from tocsin.explain.check_texts import link_texts, parse_to_check, report_on
from tocsin.explain.compare_named import ask
from tocsin.explain.parsed_text import ParsedText
from tocsin.explain.system_report import report_on_system
from tocsin.languages.attached import Attached
from tocsin.languages.builtin import LANGUAGES
from tocsin.languages.language import Language
from tocsin.languages.registry import language, language_of_file, option_of_file
from tocsin.languages.rule_file import read_rule

_HELP = """\
The ending of a file says its language. .tocsin files hold a pattern, .ecl files ECL subscriptions or a machine written
by hand, .cor files KSU correlations; a .cad file with instances is a system of components. Every answer comes with the shortest
trace of events that shows it.

examples:
  tocsin check cold_room.tocsin
  tocsin check fuel.ecl
  tocsin check fuel.ecl by_hand.ecl --equal Low Hand
  tocsin check system.cad --slice display.mode
  tocsin check *.cor --types avionics.idl --assembly avionics.cad --strict
"""
_OF_SYSTEMS = ("slice", "states")
_MOST_STATES = 10_000_000
_Given = TypeVar("_Given")
_Found = TypeVar("_Found")


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "check",
        help="find out what patterns and subscriptions can and cannot do",
        description="Answer questions about patterns, ECL subscriptions and machines, and KSU correlations.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    endings = ", ".join(ending for one in LANGUAGES for ending in one.endings)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=f"a file of patterns: {endings}")
    parser.add_argument("--language", metavar="NAME", help="of files whose ending does not say it")
    for option, what in {
        "--equal": "only ask whether A and B do the same",
        "--contains": "only ask whether A accepts all that B accepts",
    }.items():
        parser.add_argument(option, nargs=2, action="append", default=[], metavar=("A", "B"), help=what)
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how the languages that have this option are read, as in unless_tie=failure or loop_ends=success",
    )
    add_files_beside(parser)
    _add_system_arguments(parser)
    parser.add_argument("--strict", action="store_true", help="exit with 1 if there are warnings")
    parser.add_argument("--json", action="store_true", help="give the answers as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the results; 1 if there are warnings and --strict is given, 2 if a file has mistakes."""
    problems: list[str] = []
    systems = list(_each(_system_of, options.files, problems))
    if problems:
        print("\n\n".join(problems), file=sys.stderr)
        return 2
    if any(systems):
        if not all(systems):
            raise InputError(
                "bad-file", "a system is checked by itself", hint="it includes what it is made of"
            )
        return _run_systems(options.files, [one for one in systems if one is not None], options)
    _refuse_system_options(options)
    files = list(_each(lambda path: (path, _language(path, options)), options.files, problems))
    read = _options([own for _, own in files], options, every_file_known=not problems)
    texts = list(_each(lambda file: _parsed(*file, read[file[1].name]), files, problems))
    if problems:
        print("\n\n".join(problems), file=sys.stderr)
        return 2
    linked, reports_of_files = link_texts(texts)
    if options.equal or options.contains:
        answers = [ask("equal", tuple(pair), linked) for pair in options.equal]
        answers += [ask("contains", tuple(pair), linked) for pair in options.contains]
        _print_answers(answers, options.json)
        warned = not all(answer.holds for answer in answers)
    else:
        reports = [*map(report_on, linked), *reports_of_files]
        _print_reports(reports, options.json)
        warned = any(report.findings for report in reports)
    return 1 if warned and options.strict else 0


def _each(
    function: Callable[[_Given], _Found], given: Iterable[_Given], problems: list[str]
) -> Iterator[_Found]:
    """The results of a function; errors are collected in `problems`, so that all mistakes are shown."""
    for one in given:
        try:
            yield function(one)
        except TocsinError as problem:
            problems.append(str(problem))


def _language(path: Path, options: argparse.Namespace) -> Language:
    """The language of a file, by its ending or from the command line."""
    found = language_of_file(path)
    if found is not None:
        return found
    if options.language is not None:
        return language(options.language)
    attached = option_of_file(path)
    if attached is not None:
        own, option = attached
        hint = f"name a {own.endings[0]} file, and --{option} {path}" if own.endings else f"--{option} {path}"
        raise InputError("bad-file", f"{path} says nothing by itself", hint=hint)
    known = ", ".join(f"{one.title} is in {ending} files" for one in LANGUAGES for ending in one.endings)
    hint = f"{known}; say --language for others"
    raise InputError("bad-file", f"it is not clear what is in {path}", hint=hint)


def _options(
    owns: Sequence[Language], options: argparse.Namespace, *, every_file_known: bool
) -> Mapping[str, Any]:
    """The options of each language, by its name; an option goes to the languages that have it, and must go to one."""
    beside = {name: path for name in BESIDE if (path := getattr(options, name)) is not None}
    asked = together(chosen(options.option), {name: Attached.of(path) for name, path in beside.items()})
    distinct = {own.name: own for own in owns}
    for name in asked if every_file_known else ():
        if any(name in own.option_names for own in distinct.values()):
            continue
        if name in beside:
            raise InputError("bad-option", f"no file here takes --{name}", hint=takers_of(name))
        names = [known for own in distinct.values() for known in own.option_names]
        titles = " and ".join(own.title for own in distinct.values())
        hint = did_you_mean(name, names, f"there are {', '.join(names)}")
        raise InputError("unknown-option", f"there is no option {name!r} of {titles}", hint=hint)
    if options.language is not None and every_file_known and all(map(language_of_file, options.files)):
        message = "--language is for files whose ending does not say it, and there is none"
        raise InputError("bad-option", message, hint="leave it out, or rename the file")
    return {
        name: own.options_of({key: value for key, value in asked.items() if key in own.option_names})
        for name, own in distinct.items()
    }


def _parsed(path: Path, own: Language, options: Any) -> ParsedText:
    rule = read_rule(path)
    return parse_to_check(rule.padded, own, options, name=rule.name or path.stem, file=str(path))


def _print_reports(reports: Sequence[CheckReport], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"files": [one.to_dict() for one in reports]}, indent=2, ensure_ascii=False))
        return
    for one in reports:
        if len(reports) > 1:
            print(f"{one.file}\n")
        print(f"{one}\n")


def _print_answers(answers: Sequence[Comparison], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"answers": [one.to_dict() for one in answers]}, indent=2, ensure_ascii=False))
        return
    for one in answers:
        print(one)


# Systems of components


def _add_system_arguments(parser: argparse.ArgumentParser) -> None:
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


def _system_of(path: Path) -> System | None:
    """The system that a file describes; None if it describes none."""
    own, _ = option_of_file(path) or (None, None)
    if own is None or not {"is-system", "system"} <= own.parts.keys():
        return None
    given = Attached.of(path)
    read: Callable[[Attached], System] = own.part("system")
    return read(given) if own.part("is-system")(given.text) else None


def _refuse_system_options(options: argparse.Namespace) -> None:
    """Refuse the options of systems where there is none."""
    for name in _OF_SYSTEMS:
        if getattr(options, name) is not None:
            raise InputError(
                "bad-option", f"no file here takes --{name}", hint="it is for systems of components"
            )


def _run_systems(paths: Sequence[Path], systems: Sequence[System], options: argparse.Namespace) -> int:
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
