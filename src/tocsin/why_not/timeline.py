"""An account as HTML for a notebook: a line for each partial match along the time axis, then the account as text.

No scripts, nothing loaded from elsewhere, every text escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tocsin.explain.render.page import page_of
from tocsin.why_not.account import Attempt, WhyNot, shown_time

_MOST = 30  # lines
_WIDTH, _LEFT, _ROW, _TOP = 860, 230, 26, 40
_COLOURS = {"matched": "#2f6f4f", "ended": "#b3261e", "waiting": "#1f4e79"}


def timeline_html(account: WhyNot) -> str:
    """The timeline, and the account in words."""
    text = f"<pre>{escape(account.text)}</pre>"
    drawn = f"<figure>{''.join(_drawing(account))}</figure>"
    return page_of(
        [("pattern", text), ("timeline", drawn), ("in words", f"<pre>{escape(str(account))}</pre>")]
    )


def _drawing(account: WhyNot) -> Iterator[str]:
    attempts = account.attempts[:_MOST]
    first = min((one.start for one in account.events), default=account.until)
    dues = [when for one in attempts for when in one.due.values()]
    last = max([account.until, *(one.end for one in account.events), *dues])

    def at(moment: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * (moment - first) / max(last - first, 1)

    height = _TOP + _ROW * (len(attempts) + 1)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" font-family="ui-monospace,monospace" font-size="11">'
    )
    yield f'<text x="{_LEFT}" y="14" fill="#52606d">{escape(shown_time(first))}</text>'
    yield (
        f'<text x="{_WIDTH - 20}" y="14" text-anchor="end" fill="#52606d">{escape(shown_time(last))}</text>'
    )
    yield f'<text x="4" y="{_TOP - 6}">events</text>'
    for event in account.events:
        yield _dot(at(event.end), _TOP - 10, "#52606d", str(event))
    for number, attempt in enumerate(attempts):
        yield from _lane(attempt, _TOP + _ROW * number + 14, at, account.until)
    yield "</svg>"


def _lane(one: Attempt, y: float, at: object, until: int) -> Iterator[str]:
    assert callable(at)
    colour = _COLOURS[one.outcome]
    name = one.of if len(one.of) <= 30 else one.of[:29] + "…"
    yield f'<text x="4" y="{y + 4:.0f}" fill="{colour}">{escape(name)}</text>'
    moments = [taken.event.end for taken in one.taken]
    start = at(min(moments, default=until))
    stop = at(one.at if one.at is not None else until)
    yield f'<line x1="{start:.1f}" y1="{y}" x2="{stop:.1f}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
    for taken in one.taken:
        yield _dot(at(taken.event.end), y, colour, f"takes {taken.event}")
    for passed in one.passed_over:
        yield _dot(at(passed.event.end), y, "#ffffff", f"passes over {passed.event}: {passed.why}", colour)
    if one.outcome == "ended":
        why = f"ended by {one.ended_by}: {one.reason}" if one.ended_by is not None else one.reason
        yield (
            f'<text x="{stop:.1f}" y="{y + 5:.0f}" text-anchor="middle" font-size="15" fill="{colour}">'
            f"<title>{escape(why)}</title>×</text>"
        )
    elif one.outcome == "waiting":
        for timer, when in one.due.items():
            yield (
                f'<line x1="{stop:.1f}" y1="{y}" x2="{at(when):.1f}" y2="{y}" stroke="{colour}" '
                f'stroke-dasharray="3 3"><title>{escape(timer)} runs out at {escape(shown_time(when))}</title></line>'
            )
        waits = " or ".join(one.waits_for)
        yield (
            f'<text x="{stop:.1f}" y="{y - 4:.0f}" text-anchor="end" fill="{colour}">{escape(waits)} …</text>'
        )


def _dot(x: float, y: float, fill: str, title: str, stroke: str = "none") -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{fill}" stroke="{stroke}">'
        f"<title>{escape(title)}</title></circle>"
    )
