"""`tocsin check FILE…`: what can be known of subscriptions, machines and correlations before they run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tocsin.algebra.completion.expression import Reading
from tocsin.algebra.correlation.types import Types
from tocsin.cli.check_ecl import Asked, EclFile, ask_contains, ask_equal, check_ecl, read_ecl
from tocsin.cli.check_ecl_shown import ecl_data, show_ecl, trace_data
from tocsin.cli.check_ksu import (
    Filter,
    KsuFile,
    ask_alike,
    check_ksu,
    ksu_data,
    read_assembly,
    read_ksu,
    read_types,
    show_ksu,
)
from tocsin.cli.texts import chosen, in_file, read_text, section
from tocsin.errors import InputError, PipelineError, TocsinError, did_you_mean

_HELP = """\
.ecl files hold ECL subscriptions, or a machine written by hand; .cor files hold KSU correlations.
Every answer comes with the shortest trace of events that shows it.

examples:
  tocsin check fuel.ecl
  tocsin check fuel.ecl by_hand.ecl --equal Low Hand
  tocsin check *.cor --types avionics.idl --assembly avionics.cad --strict
"""

File = EclFile | KsuFile


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "check",
        help="find out what subscriptions can and cannot do",
        description="Answer questions about ECL subscriptions and machines, and about KSU correlations.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a .ecl or .cor file")
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
        help="how ECL is read, as in unless_tie=failure or loop_ends=success",
    )
    parser.add_argument(
        "--types", type=Path, metavar="FILE", help="the event types of .cor files, an .idl file"
    )
    parser.add_argument(
        "--assembly", type=Path, metavar="FILE", help="the connections of .cor files, a .cad file"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 if there are warnings")
    parser.add_argument("--json", action="store_true", help="give the answers as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the answers; 1 if there are warnings and --strict is given, 2 if a file has mistakes."""
    reading = Reading.of(chosen(options.option))
    types = read_types(options.types)
    files, problems = list[File](), list[str]()
    for path in options.files:
        try:
            files.append(_read(path, reading, types))
        except TocsinError as problem:
            problems.append(str(problem))
    if problems:
        print("\n\n".join(problems), file=sys.stderr)
        return 2
    libraries = [given for given in files if isinstance(given, KsuFile)]
    if not libraries and (options.types or options.assembly):
        raise InputError("bad-option", "--types and --assembly are about .cor files, and there is none")
    assembly = read_assembly(options.assembly, libraries, types)
    files = [replace(given, assembly=assembly) if isinstance(given, KsuFile) else given for given in files]
    questions = [("equal", *pair) for pair in options.equal] + [
        ("contains", *pair) for pair in options.contains
    ]
    if questions:
        warned = _answer(questions, files, options.json)
    else:
        checked = [_checked(given) for given in files]
        if assembly is not None:
            checked.append(_Checked(str(options.assembly), in_file(assembly.warnings, str(options.assembly))))
        _print(checked, options.json)
        warned = any(one.warnings for one in checked)
    return 1 if warned and options.strict else 0


def _read(path: Path, reading: Reading, types: Types | None) -> File:
    match path.suffix:
        case ".ecl":
            return read_ecl(read_text(path), str(path), path.stem, reading)
        case ".cor":
            return read_ksu(read_text(path), str(path), types)
        case ".idl" | ".cad":
            option = "--types" if path.suffix == ".idl" else "--assembly"
            hint = f"name a .cor file, and {option} {path}"
            raise InputError("bad-file", f"{path} says nothing by itself", hint=hint)
        case _:
            hint = "ECL is in .ecl files, KSU in .cor files"
            raise InputError("bad-file", f"it is not clear what is in {path}", hint=hint)


# --- everything about each file ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Checked:
    """What there is to say of a file: warnings, headings with texts for people, and data for programs."""

    file: str
    warnings: list[PipelineError]
    shown: Sequence[tuple[str, str]] = ()
    data: dict[str, Any] | None = None


def _checked(given: File) -> _Checked:
    if isinstance(given, EclFile):
        of_ecl = check_ecl(given)
        warnings = in_file(of_ecl.warnings, given.file)
        return _Checked(given.file, warnings, list(show_ecl(of_ecl)), ecl_data(of_ecl))
    of_ksu = check_ksu(given)
    warnings = in_file(given.library.warnings, given.file)
    return _Checked(given.file, warnings, list(show_ksu(of_ksu)), ksu_data(of_ksu))


def _print(checked: Sequence[_Checked], as_json: bool) -> None:
    if as_json:
        files = [
            {"file": one.file, **(one.data or {}), "warnings": [_warning_data(w) for w in one.warnings]}
            for one in checked
        ]
        print(json.dumps({"files": files}, indent=2, ensure_ascii=False))
        return
    for one in checked:
        if len(checked) > 1:
            print(f"{one.file}\n")
        for title, text in one.shown:
            section(title, text)
        section("warnings", "\n\n".join(map(str, one.warnings)) or "none")


def _warning_data(warning: PipelineError) -> dict[str, Any]:
    line, column = (None, None) if warning.span is None else warning.span.line_column
    return {
        "code": warning.code,
        "message": warning.message,
        "file": warning.file,
        "line": line,
        "column": column,
        "hint": warning.hint,
    }


# --- questions about two ----------------------------------------------------------------------------


def _answer(questions: Sequence[tuple[str, str, str]], files: Sequence[File], as_json: bool) -> bool:
    """Answer questions about two; whether one was answered with no, which counts as a warning."""
    answers = []
    for question, left, right in questions:
        holds, witness, words = _ask(question, _find(left, files), _find(right, files))
        answers.append({"question": question, "of": [left, right], "holds": holds, "witness": witness})
        if not as_json:
            print(f"{'yes' if holds else 'no'}: {words}")
    if as_json:
        print(json.dumps({"answers": answers}, indent=2, ensure_ascii=False))
    return not all(answer["holds"] for answer in answers)


_Found = tuple[File, Asked | Filter]


def _find(name: str, files: Sequence[File]) -> _Found:
    """What a name stands for in one of the files."""
    known: list[_Found] = [(given, one) for given in files for one in given.asked]
    found = [(given, one) for given, one in known if one.name == name]
    if len(found) > 1:
        places = " and ".join(given.file for given, _ in found)
        raise InputError("duplicate-name", f"there is more than one {name}, in {places}", hint="rename one")
    if not found:
        hint = did_you_mean(name, [one.name for _, one in known])
        raise InputError("unknown-name", f"there is no {name} in these files", hint=hint)
    return found[0]


def _ask(question: str, left: _Found, right: _Found) -> tuple[bool, Any, str]:
    """Whether it holds, the trace that shows that it does not, and the answer in words."""
    match left, right:
        case (EclFile() as given, Asked() as one), (_, Asked() as other):
            ask = ask_equal if question == "equal" else ask_contains
            answer, words = ask(one, other, given.reading)
            return answer.holds, trace_data(answer.witness), words
        case (_, Filter() as one), (_, Filter() as other) if question == "equal":
            trace, words = ask_alike(one, other)
            return trace is None, trace, words
        case (_, one), (_, other):
            hint = "--equal is for two of one language, --contains for ECL"
            message = f"--{question} cannot be asked of {one.name} and {other.name}"
            raise InputError("bad-question", message, hint=hint)
