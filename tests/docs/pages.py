"""Runs the examples of a Markdown page: what is shown is run.

Fenced blocks, by the first word behind the fence:

- `python`: a block with `>>>` is a doctest, any other is executed; all blocks of a page share their names.
- `console`: lines that begin with `$ tocsin` are run, and must print what is shown below them. `…` stands for anything.
- `tocsin`: a pattern of the core language that must be readable.
- with `file=NAME` behind the first word: the block is written to that file first, where the page's commands run.

Other blocks are not examples.
"""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    file: str | None
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    for match in _FENCE.finditer(page):
        file = re.search(r"file=(\S+)", match[2])
        found.append(
            Block(match[1], file[1] if file else None, match[3], page[: match.start()].count("\n") + 2)
        )
    return found


def run_page(page: str, folder: Path, command: Callable[[list[str]], str], names: dict[str, Any]) -> int:
    """Run every example of a page; returns how many there were. `command` runs a command and returns what it printed."""
    count = 0
    for block in blocks(page):
        if block.file:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        if block.language == "python":
            _run_python(block, names)
        elif block.language == "console":
            _run_console(block, command)
        elif block.language == "tocsin":
            _read_pattern(block)
        elif not block.file:
            continue
        count += 1
    return count


def _run_python(block: Block, names: dict[str, Any]) -> None:
    if ">>>" not in block.text:
        exec(compile(block.text, f"<block at line {block.line}>", "exec"), names)  # noqa: S102  our own pages
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, "page", None, block.line)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=output.append, clear_globs=False)
    names.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def _run_console(block: Block, command: Callable[[list[str]], str]) -> None:
    parts = re.split(r"^\$ (.*(?:\\\n.*)*)\n", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"line {block.line}: a console block begins with '$ '"
    for line, expected in zip(parts[1::2], parts[2::2], strict=True):
        words = shlex.split(line.replace("\\\n", " "))
        assert words[0] == "tocsin", f"line {block.line}: only tocsin commands are run, not {words[0]}"
        printed = command(words[1:])
        assert fits(expected, printed), f"line {block.line}: $ {line}\nexpected:\n{expected}\ngot:\n{printed}"


def fits(expected: str, printed: str) -> bool:
    """Whether a text is what was shown, with `…` for anything; white space at line ends does not count."""

    def lines(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = ".*".join(re.escape(part) for part in lines(expected).split("…"))
    return re.fullmatch(pattern, lines(printed), re.DOTALL) is not None


def _read_pattern(block: Block) -> None:
    from tocsin.languages.registry import parse

    parse(block.text)
