"""A chart as an SVG drawing, for documents and notebooks. Everything that comes from data is escaped."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterator

import numpy as np

from thalweg.io.dates import is_dated, written
from thalweg.io.times import Clock
from thalweg.language.wording import breadth, counted, visible
from thalweg.protocol import OPEN_END
from thalweg.show.lanes import REVISED, WITHDRAWN, Chart
from thalweg.show.palette import colour

WIDTH = 1000.0
LANE = 24.0
HEADING = 22.0
AXIS = 26.0
LEGEND = 24.0
CHARACTER = 6.7
LONGEST = 34
FADE = 44.0
SEAM = 0.5
"""So far a bar reaches below the piece of it that fades: between the two nothing shines through."""
ROUND = 'rx="2"'
DAY = 86_400_000_000
"""In microseconds."""
CUSTOMARY = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400),
    *(2 * 86400, 7 * 86400, 14 * 86400, 28 * 86400),
)
"""Distances of marks on an axis of dates, in seconds."""

LIGHT = {"bg": "#ffffff", "ink": "#1c2430", "soft": "#667085", "line": "#e3e6ec"}
DARK = {"bg": "#14181f", "ink": "#e6eaf1", "soft": "#98a2b3", "line": "#2a323d"}
STYLE = """
.ID text{font:12px system-ui,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.ID .soft{fill:var(--soft);font-size:11px}.ID .head{font-weight:650}.ID .in{fill:#fff;font-size:11px}
.ID .bg{fill:var(--bg)}.ID line{stroke:var(--line)}.ID .ink{stroke:var(--ink)}
"""


def _style(name: str, theme: str) -> str:
    """The colours: those of the reader's choice, or of one theme alone, for programs that know no variables."""
    if theme:
        text = STYLE
        for word, shade in (DARK if theme == "dark" else LIGHT).items():
            text = text.replace(f"var(--{word})", shade)
        return text.replace("ID", name)
    light, dark = (";".join(f"--{word}:{shade}" for word, shade in of.items()) for of in (LIGHT, DARK))
    chosen = f".ID{{{light}}}\n@media (prefers-color-scheme: dark){{.ID{{{dark}}}}}"
    return (chosen + STYLE).replace("ID", name)


def svg(
    chart: Chart,
    *,
    title: str = "",
    lanes: int = 200,
    seconds: float | None = None,
    theme: str = "",
) -> str:
    """The drawing. No more than `lanes` lanes are drawn, and bars that share a pixel are drawn as one. Light or dark as
    the reader has it, or by `theme`; time-points of a known length are dates."""
    return _Drawing(chart, title, lanes, seconds, theme).text()


class _Drawing:
    """Coordinates and marks of one drawing."""

    def __init__(
        self, chart: Chart, title: str, lanes: int, seconds: float | None, theme: str
    ) -> None:
        self.chart = chart
        self.theme = theme
        self.clock = Clock.of_seconds(seconds) if is_dated(seconds, chart.span[0]) else None
        self.title = title
        self.shown = min(lanes, len(chart.lanes))
        labels = [len(_short(lane.label)) for lane in chart.lanes[: self.shown]]
        self.left = 22.0 + CHARACTER * max(labels, default=8)
        self.first, self.last = chart.span
        self.now = self.last if chart.last is None else chart.last
        self.scale = (WIDTH - self.left - 40.0) / max(1, self.last - self.first)
        self.name = "t" + hashlib.sha256(repr((title, chart.lanes, chart.keys)).encode()).hexdigest()[:8]
        self.ys: dict[int, float] = {}

    def x(self, time: int) -> float:
        return self.left + (time - self.first) * self.scale

    def text(self) -> str:
        rows = list(self._rows())
        more = len(self.chart.lanes) - self.shown
        legend = list(self._legend(AXIS + self._height + 8))
        height = AXIS + self._height + 8 + LEGEND * self._legend_rows + (20 if more else 0)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{self.name}" width="{WIDTH:g}" '
            f'height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}" role="img">',
            f"<title>{_escape(self.title)}</title><style>{_style(self.name, self.theme)}</style>",
            self._hatch(),
            f'<rect class="bg" width="{WIDTH:g}" height="{height:g}"/>',
            *self._axis(),
            *rows,
            *self._bars(),
            *self._marks(),
            *self._pending(),
            *legend,
        ]
        if more:
            left = counted(more, "more lane")
            parts.append(f'<text class="soft" x="8" y="{height - 6:g}">and {left}</text>')
        return "".join([*parts, "</svg>"])

    def _hatch(self) -> str:
        return (
            f'<defs><pattern id="{self.name}h" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="2.5" height="6" fill="#fff" fill-opacity=".6"/></pattern>'
            f'<linearGradient id="{self.name}f"><stop offset="0" stop-color="#fff"/>'
            '<stop offset="1" stop-color="#fff" stop-opacity="0"/></linearGradient>'
            f'<mask id="{self.name}m" maskContentUnits="objectBoundingBox"><rect width="1" height="1" '
            f'fill="url(#{self.name}f)"/></mask></defs>'
        )

    def _rows(self) -> Iterator[str]:
        y, entity = AXIS, ""
        for i, lane in enumerate(self.chart.lanes[: self.shown]):
            if lane.entity and lane.entity != entity:
                yield f'<text class="head" x="8" y="{y + 15:g}">{_escape(_short(lane.entity))}</text>'
                y += HEADING
            entity = lane.entity
            self.ys[i] = y
            soft = ' class="soft"' if lane.given else ""
            yield (
                f'<text{soft} x="{16 if entity else 8}" y="{y + 16:g}">{_escape(_short(lane.label))}'
                f"<title>{_escape(lane.label)}</title></text>"
                f'<line x1="0" x2="{WIDTH:g}" y1="{y + LANE:g}" y2="{y + LANE:g}"/>'
            )
            y += LANE
        self._height = y - AXIS

    def _axis(self) -> Iterator[str]:
        step = _step((self.last - self.first) / 8, None if self.clock is None else self.clock.micros)
        free = 0.0  # how far the labels before reach
        for time in range(self.first + -self.first % step, self.last + 1, step):
            x = self.x(time)
            yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{AXIS - 6:g}" y2="{AXIS + self._height:g}"/>'
            label = self._label(time, step)
            end = x + 3 + CHARACTER * len(label)
            if free <= x and end <= WIDTH:
                free = end
                yield f'<text class="soft" x="{x + 3:.1f}" y="14">{label}</text>'

    def _label(self, time: int, step: int) -> str:
        """A time on the axis: a date where days count, the hour where they do not."""
        if self.clock is None:
            return str(time)
        day, _, hour = written(time, self.clock).rstrip("Z").partition("T")
        return day if step * self.clock.micros >= DAY else f"{day[5:]} {hour}"

    def _when(self, time: int) -> str:
        return str(time) if self.clock is None else written(time, self.clock)

    def _bars(self) -> Iterator[str]:
        bars = self.chart.bars
        reached = dict.fromkeys(range(self.shown), -1.0)
        for i in range(int(np.searchsorted(bars.lane, self.shown))):
            lane, is_open = int(bars.lane[i]), bars.end[i] == OPEN_END
            x0 = self.x(int(bars.start[i]))
            x1 = max(x0, self.x(self.now)) + 30.0 if is_open else self.x(int(bars.end[i]))
            if x1 <= reached[lane] + 0.5 and not bars.flags[i]:
                continue
            reached[lane] = max(x1, reached[lane])
            yield self._bar(i, x0, max(1.0, x1 - x0), self.ys[lane] + 3, is_open)

    def _bar(self, i: int, x: float, width: float, y: float, is_open: bool) -> str:
        bars, chart = self.chart.bars, self.chart
        key, flags = int(bars.key[i]), int(bars.flags[i])
        end = "still holds" if is_open else f"to {self._when(int(bars.end[i]))}"
        about = (
            f"{chart.lanes[int(bars.lane[i])].label} = {chart.values[key]} "
            f"from {self._when(int(bars.start[i]))} {end}"
        )
        box = f'x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{LANE - 6:g}"'
        if flags & WITHDRAWN:
            return (
                f'<rect {box} fill="none" stroke="{colour(key)}" stroke-dasharray="3 3">'
                f"<title>{_escape(about)}, withdrawn</title></rect>"
            )
        shape = f'y="{y:g}" height="{LANE - 6:g}" fill="{colour(key)}"'
        tail = min(width, FADE) if is_open else 0.0
        parts = [f"<g><title>{_escape(about)}</title>"]
        parts.append(f'<rect x="{x:.1f}" width="{width - tail + SEAM * is_open:.1f}" {shape} {"" if tail else ROUND}/>')
        if tail:
            parts.append(
                f'<rect x="{x + width - tail:.1f}" width="{tail:.1f}" {shape} mask="url(#{self.name}m)"/>'
            )
        parts.append("</g>")
        if flags & REVISED:
            parts.append(f'<rect {box} fill="url(#{self.name}h)" pointer-events="none"/>')
        label = _fitting(chart.keys[key], width - 7 - tail * 0.5)
        if label:
            parts.append(f'<text class="in" x="{x + 5:.1f}" y="{y + 13:g}">{_escape(label)}</text>')
        return "".join(parts)

    def _marks(self) -> Iterator[str]:
        marks = self.chart.marks
        last = (-1, -1)
        for i in range(int(np.searchsorted(marks.lane, self.shown))):
            lane, x = int(marks.lane[i]), self.x(int(marks.time[i]))
            if (lane, int(x)) == last:
                continue
            last = (lane, int(x))
            yield (
                f'<rect x="{x - 1:.1f}" y="{self.ys[lane] + 4:g}" width="2.5" height="{LANE - 8:g}" '
                f'fill="{colour(int(marks.key[i]))}"><title>{_escape(marks.text[i])} '
                f"at {self._when(int(marks.time[i]))}</title></rect>"
            )

    def _pending(self) -> Iterator[str]:
        for p in self.chart.pending:
            if p.lane >= self.shown:
                continue
            y = self.ys[p.lane] + LANE - 5
            shade = 'class="ink"' if p.key < 0 else f'stroke="{colour(p.key)}"'
            yield (
                f'<g {shade} fill="none"><title>{_escape(p.about)}</title>'
                f'<path d="M{self.x(p.since):.1f} {y:g}H{self.x(p.due):.1f}" stroke-width="2" '
                f'stroke-dasharray="2 4"/><circle cx="{self.x(p.due):.1f}" cy="{y:g}" r="4"/></g>'
            )

    def _legend(self, y: float) -> Iterator[str]:
        x, rows = 8.0, 1
        used = {*self.chart.bars.key.tolist(), *self.chart.marks.key.tolist()}
        for key in sorted(used)[:40]:
            name = _short(self.chart.keys[key])
            room = 32 + _length(name)
            if x + room > WIDTH:
                x, rows = 8.0, rows + 1
            top = y + (rows - 1) * LEGEND
            yield f'<rect x="{x:.1f}" y="{top + 4:g}" width="11" height="11" rx="2" fill="{colour(key)}"/>'
            yield f'<text class="soft" x="{x + 16:.1f}" y="{top + 14:g}">{_escape(name)}</text>'
            x += room
        self._legend_rows = rows


def _escape(text: str) -> str:
    return html.escape(visible(text))


def _length(text: str) -> float:
    """About how long a text of 11 pixels is, in the broadest of the usual fonts.

    >>> _length("lilt") < _length("null") < _length("moved") < _length("MOVED")
    True
    """
    return 11 * sum(_LENGTHS.get(sign, 0.62 if breadth(sign) == 1 else 1.0) for sign in text)


_LENGTHS = {
    **dict.fromkeys("ijlI|'.,:; ", 0.33),
    **dict.fromkeys("frt()[]-/", 0.41),
    **dict.fromkeys("mMwW%@\N{HORIZONTAL ELLIPSIS}", 1.0),
    **dict.fromkeys("ABCDEGHKNOPQRSTUVXYZ", 0.76),
}
"""Of letters that are no letters of middling length, in parts of the size of the font."""


def _fitting(text: str, room: float) -> str:
    """The text, or as much of it as there is room for; nothing where less than two letters would be left."""
    if _length(text) <= room:
        return text
    kept = next((n for n in range(len(text) - 1, 1, -1) if _length(_short(text, n + 1)) <= room), 0)
    return _short(text, kept + 1) if kept else ""


def _short(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: max(0, longest - 1)] + "\N{HORIZONTAL ELLIPSIS}"


def _step(least: float, micros: int | None = None) -> int:
    """The first of 1, 2, 5, 10, 20, ... that is at least this; of dates, of the customary seconds, minutes, hours."""
    for seconds in CUSTOMARY if micros is not None else ():
        points = seconds * 1_000_000 // (micros or 1)
        if points >= max(1, least):
            return points
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= least:
                return factor * power
        power *= 10
