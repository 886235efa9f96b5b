"""`tocsin init FOLDER`: make a small pipeline to start from."""

from __future__ import annotations

import argparse
import shlex
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from tocsin.errors import InputError

STARTER = "starter"  # the folder beside this file that is copied
_HELP = """\
The folder gets events of a morning, two rules with their test cases, and a pipeline that runs the rules over the events.
All of it are text files to change as you like.

example:
  tocsin init alerts
  tocsin run alerts/pipeline.toml
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "init",
        help="make a small pipeline to start from",
        description="Make a folder with a small pipeline: events, rules, and test cases for the rules.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="the folder to write to; created if it does not exist"
    )


def run(options: argparse.Namespace) -> int:
    """Write the files, and show what to type next."""
    made = write_starter(options.folder)
    print(f"made in {options.folder}:")
    for name in made:
        print(f"  {name}")
    print("\nnext:")
    for words in (("run", "pipeline.toml"), ("test", "pipeline.toml")):
        print(f"  tocsin {words[0]} {shlex.quote(str(options.folder / words[1]))}")
    return 0


def write_starter(folder: Path) -> list[str]:
    """Copy the files of the starter into a folder that is new or empty; returns their names."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise InputError("output-exists", f"{folder} {what}", hint="name a folder that does not exist yet")
    with as_file(files("tocsin.cli") / STARTER) as starter:
        sources = sorted(path for path in starter.rglob("*") if path.is_file())
        try:
            for source in sources:
                target = folder / source.relative_to(starter)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
        except OSError as problem:
            reason = f"{problem.filename} cannot be written: {problem.strerror}"
            raise InputError("unwritable", reason, hint="name a folder where you may write") from None
        return [source.relative_to(starter).as_posix() for source in sources]
