"""A Sphinx extension for this repository: the sidebar, the entries of public names, and links to files that are not pages."""

from __future__ import annotations

import base64
import html
import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from pygments.lexers.data import JsonLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util import logging

import tocsin
from tocsin.cli import main
from tocsin.languages.core.colours import CoreLexer
from tocsin.languages.ecl.colours import EclLexer
from tocsin.languages.ksu.colours import KsuLexer
from tocsin.languages.pretty.colours import PrettyLexer

API = "docs/reference/api"
FILES = "files"  # where pages of files lie in the site
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)\)")
_LEXERS = {
    ".cad": "tocsin-ksu",
    ".cor": "tocsin-ksu",
    ".ecl": "tocsin-ecl",
    ".idl": "tocsin-ksu",
    ".json": "json",
    ".py": "python",
    ".tocsin": "tocsin",
    ".toml": "toml",
    ".yaml": "yaml",
}
_OWN_LEXERS = {
    "csv": TextLexer,
    "jsonl": JsonLexer,
    # Named here, so that the site does not depend on how Tocsin is installed.
    "tocsin": CoreLexer,
    "tocsin-ecl": EclLexer,
    "tocsin-ksu": KsuLexer,
    "tocsin-pretty": PrettyLexer,
}
_MOST_BYTES = 200_000
_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect everything below to Sphinx."""
    app.add_config_value("sidebar", {}, "env")
    for name, lexer in _OWN_LEXERS.items():
        app.add_lexer(name, lexer)
    app.connect("source-read", add_sidebar)
    app.connect("source-read", add_public_names)
    app.connect("source-read", mark_links_to_files)
    app.connect(
        "autodoc-process-docstring", keep_results_whole, priority=100
    )  # before Napoleon reads the sections
    app.connect("doctree-resolved", point_to_pages_of_files)
    app.connect("html-collect-pages", pages_of_files)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": False, "parallel_write_safe": False}


def add_sidebar(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append the sidebar to the first page."""
    if docname != app.config.root_doc:
        return
    for caption, pages in app.config.sidebar.items():
        lines = "\n".join(f"/{page}" for page in pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n{lines}\n```\n"


def add_public_names(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append to the page of the Python interface an entry for each public name, from its docstring."""
    if docname != API:
        return
    values = {name: getattr(tocsin, name) for name in tocsin.__all__ if not name.startswith("__")}
    classes = {name: value for name, value in values.items() if isinstance(value, type)}
    errors = {name for name, value in classes.items() if issubclass(value, Exception)}
    kinds = {
        "Functions": ("autofunction", sorted(values.keys() - classes.keys())),
        "Classes": ("autoclass", sorted(classes.keys() - errors)),
        "Errors": ("autoexception", sorted(errors)),
    }
    for title, (directive, names) in kinds.items():
        source[0] += f"\n\n## {title}\n"
        for name in names:
            source[0] += f"\n### {name}\n\n```{{eval-rst}}\n.. {directive}:: tocsin.{name}\n```\n"


def keep_results_whole(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Keep a sentence under `Returns:` whole: types are in the annotations, so what stands before a colon is no type."""
    for place, line in enumerate(lines[:-1]):
        if line.strip() == "Returns:":
            indent = len(lines[place + 1]) - len(lines[place + 1].lstrip())
            lines[place + 1] = f"{' ' * indent}: {lines[place + 1].lstrip()}"


# Links to files that are no pages


def mark_links_to_files(app: Sphinx, docname: str, source: list[str]) -> None:
    """Give links to files and folders that are no pages the scheme `repository:`, followed by their path."""
    root = Path(app.srcdir)
    folder = (root / docname).parent

    def marked(link: re.Match[str]) -> str:
        target = link["target"]
        if "://" in target or target.startswith("#"):
            return link[0]
        path = (folder / target.partition("#")[0]).resolve()
        if not path.exists():
            _log.warning("%s links to %s, which does not exist", docname, target, type="tocsin")
            return link[0]
        relative = path.relative_to(root)
        if str(relative.with_suffix("")) in app.env.found_docs and path.suffix == ".md":
            return link[0]
        return f"[{link['text']}](repository:{relative.as_posix()})"

    text = source[0]
    parts = []
    last = 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(marked, text[last : fence.start()]), fence[0]]
        last = fence.end()
    source[0] = "".join([*parts, _LINK.sub(marked, text[last:])])


def point_to_pages_of_files(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn links with the scheme `repository:` into links to pages of files, and remember which are wanted."""
    wanted = app.env.__dict__.setdefault("tocsin_files", set())
    for link in doctree.findall(nodes.reference):
        path = str(link.get("refuri", ""))
        if path.startswith("repository:"):
            path = path.removeprefix("repository:")
            wanted.add(path)
            link["refuri"] = app.builder.get_relative_uri(docname, f"{FILES}/{path}")


def pages_of_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each file that is linked, with its text in colours, and for each folder, with its files."""
    root = Path(app.srcdir)
    todo = sorted(app.env.__dict__.get("tocsin_files", set()))
    done = set()
    while todo:
        path = PurePosixPath(todo.pop())
        if path in done:
            continue
        done.add(path)
        place = root / path
        if place.is_dir():
            inside = sorted(one for one in place.iterdir() if one.is_dir() or one.suffix in _LEXERS)
            inside = [one for one in inside if one.name[0] not in "._" and one.name not in ("data", "out")]
            todo += [one.relative_to(root).as_posix() for one in inside]
            items = "".join(
                f'<li><a href="{path.name}/{one.name}.html">{html.escape(one.name)}</a></li>'
                for one in inside
            )
            body = f"<ul>{items}</ul>"
        else:
            if place.stat().st_size > _MOST_BYTES:
                _log.warning("%s is linked, and too large for a page", path, type="tocsin")
            text = place.read_text(encoding="utf-8")
            body = app.builder.highlighter.highlight_block(text, _LEXERS.get(place.suffix, "text"))
            body += picture(place)
        yield (
            f"{FILES}/{path}",
            {"title": str(path), "body": f"<h1>{html.escape(str(path))}</h1>{body}"},
            "page.html",
        )


def picture(place: Path) -> str:
    """The automata of a file of the core language, drawn as `tocsin explain --svg` draws them; empty for other files."""
    if place.suffix != ".tocsin":
        return ""
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        target = Path(folder, "picture.svg")
        if main(["explain", f"@{place}", "--svg", str(target)]) != 0:
            _log.warning("%s cannot be drawn", place, type="tocsin")
            return ""
        drawn = base64.b64encode(target.read_bytes()).decode()
    return f'<h2>Its automaton</h2><img src="data:image/svg+xml;base64,{drawn}" alt="the automaton of the pattern">'


def write_index(app: Sphinx, problem: Exception | None) -> None:
    """Make the first page also the one that a browser shows for the folder."""
    if problem is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir) / f"{app.config.root_doc}.html", Path(app.outdir) / "index.html")
