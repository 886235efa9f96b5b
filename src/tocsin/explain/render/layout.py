"""Plain text: headings, trees, columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable


def titled(title: str, text: str) -> str:
    """A text under a heading.

    >>> print(titled("tree", "[A]"))
    tree
      [A]
    """
    return f"{title}\n{textwrap.indent(text, '  ')}"


def branching(head: str, below: Iterable[str]) -> str:
    """A line with trees under it.

    >>> print(branching("both", ["a", branching("one of", ["b", "c"])]))
    both
    ├─ a
    └─ one of
       ├─ b
       └─ c
    """
    lines, each = [head], list(below)
    for number, child in enumerate(each):
        last = number == len(each) - 1
        first, *rest = child.splitlines()
        lines.append(("└─ " if last else "├─ ") + first)
        lines += [("   " if last else "│  ") + line for line in rest]
    return "\n".join(lines)


def columns(rows: Iterable[tuple[str, str]], width: int = 0) -> str:
    """Two columns; the first is as wide as it needs to be, and at least `width`.

    >>> print(columns([("a", "1"), ("long", "2")]))
    a     1
    long  2
    """
    listed = list(rows)
    width = max([width, *(len(left) for left, _ in listed)])
    return "\n".join(f"{left:<{width}}  {right}".rstrip() for left, right in listed)
