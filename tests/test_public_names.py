"""`dir(tocsin)` and `help(tocsin)` show the public names, and nothing else."""

from __future__ import annotations

import io
import pydoc
from contextlib import redirect_stdout

import tocsin


def test_dir_has_the_public_names() -> None:
    assert dir(tocsin) == sorted(tocsin.__all__)
    assert all(hasattr(tocsin, name) for name in dir(tocsin))


def test_help_shows_them() -> None:
    printed = io.StringIO()
    with redirect_stdout(printed):
        pydoc.doc(tocsin, output=printed)
    text = printed.getvalue()
    for name in ("detect(", "why(", "replay(", "class Columns", "class Catalog"):
        assert name in text, name
    assert "`explain`, `check`, `parse`" in text
