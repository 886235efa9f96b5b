"""Explanations and reports as HTML for a notebook: no scripts, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from tocsin.explain.contents import (
    Diagram,
    Finding,
    Findings,
    Job,
    Part,
    Placement,
    Text,
    Tree,
)
from tocsin.explain.drawing import draw, too_large
from tocsin.explain.render.rows import Row, rows_of
from tocsin.explain.render.terminal import text_of

if TYPE_CHECKING:
    from tocsin.explain.check_report import CheckReport
    from tocsin.explain.explanation import Explanation

_STYLE = """\
.tocsin{font:14px/1.45 system-ui,sans-serif;color:#1f2933;background:#fff;padding:4px 12px;max-width:100%}
.tocsin h4{margin:14px 0 4px;font-size:14px}.tocsin pre,.tocsin code,.tocsin td,.tocsin li{
font:12px/1.5 ui-monospace,Menlo,Consolas,monospace}
.tocsin pre{margin:0;padding:6px 10px;background:#f3f5f7;border-radius:4px;overflow-x:auto;white-space:pre-wrap}
.tocsin table{border-collapse:collapse;margin:0}
.tocsin td{text-align:left;vertical-align:top;padding:2px 18px 2px 0;border:0;white-space:pre-wrap}
.tocsin td:first-child{color:#52606d;white-space:pre}
.tocsin ul{margin:0;padding-left:20px;list-style:none}.tocsin>section>ul{padding-left:0}
.tocsin li{border-left:1px solid #cbd2d9;padding-left:10px;margin:1px 0}
.tocsin figure{margin:0;overflow-x:auto}.tocsin .finding{border-left:3px solid #b3261e;margin:4px 0;padding-left:10px}
.tocsin .finding pre{background:none;padding:0}.tocsin .good{color:#2f6f4f}"""


def explanation_html(explanation: Explanation) -> str:
    """An explanation: the pattern, its trees, its diagrams drawn, its cost, warnings."""
    return page_of((section.title, part_html(section.part)) for section in explanation.sections)


def report_html(report: CheckReport) -> str:
    """A report: a table for each subscription, comparisons, findings."""
    sections = [(title, _table(rows)) for title, rows in report.tables()]
    return page_of([*sections, ("warnings", _findings(report.findings))])


def page_of(sections: Iterable[tuple[str, str]]) -> str:
    """Sections of HTML, each under its title, with the style that all pages share."""
    body = "\n".join(f"<section><h4>{escape(title)}</h4>\n{content}</section>" for title, content in sections)
    return f'<div class="tocsin">\n<style>{_STYLE}</style>\n{body}\n</div>\n'


def part_html(part: Part) -> str:
    """A part as HTML, without a heading."""
    match part:
        case Tree():
            return f"<ul>{_tree(part)}</ul>"
        case Diagram():
            return _diagram(part)
        case Findings(findings):
            return _findings(findings)
        case Text() | Job():
            return f"<pre>{escape(text_of(part))}</pre>"
        case Placement(unknown=str()):
            return f"<p>{escape(text_of(part))}</p>"
        case _:
            return _table(rows_of(part))


def _tree(tree: Tree) -> str:
    below = f"<ul>{''.join(map(_tree, tree.operands))}</ul>" if tree.operands else ""
    return f"<li>{escape(tree.words)}{below}</li>"


def _diagram(diagram: Diagram) -> str:
    if (refused := too_large(diagram)) is not None:
        return f"<p>{escape(refused)}</p>"
    return f"<figure>{draw([('', diagram)])}</figure>"


def _table(rows: Iterable[Row]) -> str:
    lines = [f"<tr><td>{escape(left)}</td><td>{escape(right)}</td></tr>" for left, right in rows]
    return f"<table>{''.join(lines)}</table>" if lines else "<p>none</p>"


def _findings(findings: Iterable[Finding]) -> str:
    shown = [f'<div class="finding"><pre>{escape(str(one))}</pre></div>' for one in findings]
    return "".join(shown) or '<p class="good">none</p>'
