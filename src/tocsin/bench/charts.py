"""Measurements as SVG charts: bars to compare engines, lines for a series. Both scales are logarithmic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from xml.sax.saxutils import escape

from tocsin.bench.compare import series, short
from tocsin.bench.engines import ENGINES
from tocsin.bench.measure import Measurement
from tocsin.bench.workloads import MANY

WIDTH, MARGIN, LINE = 760, 16, 20
_NAMES = 190  # pixels left of the bars
_COLOURS = ("#0b6e4f", "#08a045", "#6bbf59", "#8d99ae", "#d1495b", "#edae49", "#00798c", "#30638e")
_STYLE = (
    "text{font:12px ui-sans-serif,Helvetica,Arial,sans-serif;fill:#1f2933}.title{font-weight:bold}"
    ".number{fill:#52606d}.paper{fill:#fff}.grid{stroke:#e4e7eb}.line{fill:none;stroke-width:2}"
)


def chart(measured: Sequence[Measurement], title: str) -> str:
    """The chart that suits a run."""
    done = [one for one in measured if one.events_per_second]
    along = series(done)
    return _lines(done, title, along) if along else _bars(done, title)


def _colour(engine: str) -> str:
    return _COLOURS[list(ENGINES).index(engine) % len(_COLOURS)]


def _bars(measured: Sequence[Measurement], title: str) -> str:
    """A bar for each engine, by workload: events a second."""
    parts, y = (
        [_text(MARGIN, MARGIN + 12, f"{title}: events a second (logarithmic)", "title")],
        2 * LINE + MARGIN,
    )
    room = WIDTH - _NAMES - 2 * MARGIN - 60
    low, high = _decades([float(one.events_per_second or 1) for one in measured])
    for workload in dict.fromkeys(one.workload for one in measured):
        parts.append(_text(MARGIN, y, workload, "title"))
        for one in (one for one in measured if one.workload == workload):
            y += LINE
            speed = float(one.events_per_second or 1)
            width = max(2.0, room * (math.log10(speed) - low) / (high - low))
            parts.append(_text(MARGIN + 12, y, one.engine))
            parts.append(
                f'<rect x="{_NAMES}" y="{y - 12}" width="{width:.1f}" height="15" fill="{_colour(one.engine)}"/>'
            )
            parts.append(_text(_NAMES + width + 6, y, short(speed), "number"))
        y += LINE + LINE // 2
    return _picture(parts, y)


def _lines(measured: Sequence[Measurement], title: str, along: str) -> str:
    """A line for each engine and workload: seconds, over the variable of the series."""
    values = {"window": "window in seconds", "patterns": "patterns", "cores": "cores"}
    lines: dict[str, list[tuple[float, float]]] = {}
    engines: dict[str, str] = {}
    for one in measured:
        at = {"window": one.window_ms / 1_000, "patterns": one.patterns, "cores": one.cores}[along]
        name = one.engine if one.workload.startswith(MANY) else f"{one.workload} {one.engine}"
        lines.setdefault(name, []).append((at, one.seconds or 0.0))
        engines[name] = one.engine
    top, height, left, right = 3 * LINE, 260, 70, WIDTH - 240
    xs = [math.log10(x) for points in lines.values() for x, _ in points]
    low, high = _decades([y for points in lines.values() for _, y in points])
    spread = (max(xs) - min(xs)) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (right - left) * (math.log10(x) - min(xs)) / spread
        return across, top + height * (1 - (math.log10(y) - low) / (high - low))

    parts = [_text(MARGIN, MARGIN + 12, f"{title}: seconds, by {values[along]} (logarithmic)", "title")]
    for decade in range(low, high + 1):
        _, y = place(10 ** xs[0], 10.0**decade)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        parts.append(_text(MARGIN, y + 4, f"{short(10.0**decade)} s", "number"))
    for x in sorted({x for points in lines.values() for x, _ in points}):
        parts.append(_text(place(x, 10.0**low)[0] - 8, top + height + LINE, short(x), "number"))
    parts += _drawn(lines, engines, place, right, top)
    return _picture(parts, max(top + height + 2 * LINE, top + LINE * (len(lines) + 1)))


def _drawn(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    engines: Mapping[str, str],
    place: Callable[[float, float], tuple[float, float]],
    right: float,
    top: float,
) -> list[str]:
    """The lines and their legend; lines of one engine differ in their dash pattern."""
    parts, seen = [], dict.fromkeys(engines.values(), 0)
    for number, (name, points) in enumerate(lines.items()):
        dash = ("", "6 3", "2 3", "8 3 2 3")[seen[engines[name]] % 4]
        seen[engines[name]] += 1
        style = f'stroke="{_colour(engines[name])}" stroke-dasharray="{dash}"'
        drawn = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        parts.append(f'<polyline class="line" points="{drawn}" {style}/>')
        y = top + LINE * number
        parts.append(f'<path class="line" d="M{right + 16} {y - 4}h24" {style}/>')
        parts.append(_text(right + 46, y, name))
    return parts


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around some values."""
    low = math.floor(math.log10(min(values, default=1.0)))
    return low, max(low + 1, math.ceil(math.log10(max(values, default=1.0))))


def _text(x: float, y: float, text: str, style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{kind}>{escape(text)}</text>'


def _picture(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}">'
        f'<style>{_STYLE}</style><rect class="paper" width="100%" height="100%"/>{"".join(parts)}</svg>\n'
    )
