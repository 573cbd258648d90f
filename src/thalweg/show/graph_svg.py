"""A dependency graph as a picture: SVG, and a page around it. Everything that comes from the program is escaped."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from html import escape

from thalweg.language.wording import counted
from thalweg.show.graph import Arrow, Box, Graph
from thalweg.show.graph_layout import Layout, layout
from thalweg.show.graph_text import layer_title

CHARACTER = 7.25
SMALL = 6.1
PADDING = 10.0
MARGIN = 24.0
HEADER = 34.0
LEGEND = 44.0
LONGEST = 34
GAP = 56.0

STYLE = """
.ID{--bg:#ffffff;--band:#f5f6f8;--ink:#1c2430;--soft:#677083;--line:#8d96a7;--box:#ffffff;--input:#eef1f6;
--not:#b3261e;--cycle:#b36b00;--cyclefill:#fff1dc;--hull:#f6c98055}
@media (prefers-color-scheme: dark){.ID{--bg:#14181f;--band:#1b212a;--ink:#e6eaf1;--soft:#98a2b3;--line:#6f7a8c;
--box:#232b36;--input:#1f2731;--not:#ff8a80;--cycle:#ffb74d;--cyclefill:#3a2c16;--hull:#ffb74d22}}
.ID text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;
fill:var(--ink)}
.ID .bg{fill:var(--bg)}.ID .band{fill:var(--band)}.ID .head{fill:var(--soft);font-size:11px}
.ID .small{font-size:10px;fill:var(--soft)}
.ID .box rect{fill:var(--box);stroke:var(--soft);stroke-width:1.2}
.ID .input rect{fill:var(--input);stroke-dasharray:1 0;stroke:var(--line)}
.ID .determined rect{stroke-width:2.4}
.ID .cyclic rect{fill:var(--cyclefill);stroke:var(--cycle)}
.ID .hull{fill:var(--hull);stroke:var(--cycle);stroke-dasharray:2 3}
.ID .arrow{fill:none;stroke:var(--line);stroke-width:1.2}
.ID .arrow.not{stroke:var(--not)}.ID .arrow.delayed{stroke-dasharray:5 4}
.ID .arrow.within{stroke:var(--cycle)}.ID .arrow.within.not{stroke:var(--not)}
.ID .tip{fill:var(--line)}.ID .tipwithin{fill:var(--cycle)}.ID .tipnot{stroke:var(--not);stroke-width:2;fill:none}
.ID .tipboth{fill:var(--not)}
.ID .faded{opacity:.12}
"""

SCRIPT = """
for (const svg of document.querySelectorAll('svg.thalweg')) {
  const boxes = svg.querySelectorAll('.box'), arrows = svg.querySelectorAll('.arrow');
  const show = key => {
    const near = new Set([key]);
    for (const a of arrows) {
      const on = key === null || a.dataset.from === key || a.dataset.to === key;
      a.classList.toggle('faded', !on);
      if (on) { near.add(a.dataset.from); near.add(a.dataset.to); }
    }
    for (const b of boxes) b.classList.toggle('faded', key !== null && !near.has(b.dataset.key));
  };
  for (const b of boxes) {
    b.addEventListener('mouseenter', () => show(b.dataset.key));
    b.addEventListener('mouseleave', () => show(null));
  }
}
"""


def _short(title: str) -> str:
    return title if len(title) <= LONGEST else title[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _width(box: Box) -> float:
    return max(len(_short(box.title)) * CHARACTER, len(_short(box.detail)) * SMALL, 30.0) + 2 * PADDING


def _height(box: Box) -> float:
    return 38.0 if box.detail else 26.0


class _Picture:
    """Coordinates and marks of one picture."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        key = "\n".join([*(b.about for b in graph.boxes), *(f"{a.source} {a.target}" for a in graph.arrows)])
        self.id = "g" + hashlib.sha256(key.encode()).hexdigest()[:8]
        straight = [i for i, a in enumerate(graph.arrows) if not self.within(a)]
        self.placed: Layout = layout(
            [box.layer for box in graph.boxes],
            [_height(box) for box in graph.boxes],
            [box.group for box in graph.boxes],
            [(graph.arrows[i].source, graph.arrows[i].target) for i in straight],
        )
        self.routes = dict(zip(straight, self.placed.routes, strict=True))
        self.left, self.widths = self.columns()
        bottom = max((item.y + item.height / 2 for item in self.placed.items), default=0.0)
        self.height = bottom + HEADER + 2 * MARGIN + LEGEND
        self.width = max(self.left[-1] + self.widths[-1] + GAP + MARGIN if self.left else 0.0, 620.0)

    def within(self, arrow: Arrow) -> bool:
        """True for arrows inside one column: loops and cycles."""
        return self.graph.boxes[arrow.source].layer == self.graph.boxes[arrow.target].layer

    def columns(self) -> tuple[list[float], list[float]]:
        boxes = self.graph.boxes
        widths = []
        for members in self.placed.columns:
            own = [_width(boxes[b]) for i in members if (b := self.placed.items[i].box) is not None]
            widths.append(max(own, default=40.0))
        inner: dict[int, int] = defaultdict(int)
        crossing: dict[int, int] = defaultdict(int)
        for index, arrow in enumerate(self.graph.arrows):
            column = self.placed.items[arrow.source].column
            if self.within(arrow):
                inner[column] = max(inner[column], 1 + (arrow.source != arrow.target))
            else:
                for item in self.routes[index][:-1]:
                    crossing[self.placed.items[item].column] += 1
        left, x = [], MARGIN
        for column, width in enumerate(widths):
            left.append(x)
            x += width + GAP + 26.0 * inner[column] + min(crossing[column], 60) * 1.6
        return left, widths

    def y(self, item: int) -> float:
        return self.placed.items[item].y + HEADER + MARGIN

    def x(self, item: int, *, right: bool) -> float:
        """The side of an item where an arrow leaves (right) or arrives (left)."""
        placed = self.placed.items[item]
        start = self.left[placed.column]
        if placed.box is None:
            return start + (self.widths[placed.column] if right else 0.0)
        return start + (_width(self.graph.boxes[placed.box]) if right else 0.0)

    # ----------------------------------------------------------------- marks

    def bands(self) -> list[str]:
        marks = []
        for column, members in enumerate(self.placed.columns):
            boxes = [b for i in members if (b := self.placed.items[i].box) is not None]
            title = layer_title(self.graph.boxes[boxes[0]].layer)
            x, width = self.left[column] - 10, self.widths[column] + 20
            height = self.height - LEGEND - MARGIN / 2
            marks.append(
                f'<rect class="band" x="{x:.1f}" y="8" width="{width:.1f}" height="{height:.1f}" rx="8"/>'
            )
            marks.append(f'<text class="head" x="{x + 10:.1f}" y="27">{escape(title)}</text>')
        return marks

    def hulls(self) -> list[str]:
        groups: dict[int, list[int]] = defaultdict(list)
        for index, box in enumerate(self.graph.boxes):
            if box.group:
                groups[box.group].append(index)
        marks = []
        for members in groups.values():
            if len(members) < 2:
                continue
            top = min(self.y(i) - self.placed.items[i].height / 2 for i in members) - 14
            bottom = max(self.y(i) + self.placed.items[i].height / 2 for i in members) + 6
            column = self.placed.items[members[0]].column
            width = max(_width(self.graph.boxes[i]) for i in members) + 12
            marks.append(
                f'<rect class="hull" x="{self.left[column] - 6:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{bottom - top:.1f}" rx="9"/>'
            )
        return marks

    def boxes(self) -> list[str]:
        return [self.box(index, box) for index, box in enumerate(self.graph.boxes)]

    def box(self, index: int, box: Box) -> str:
        classes = ["box"]
        if box.is_input:
            classes.append("input")
        if box.part.value.startswith("determined"):
            classes.append("determined")
        if box.group:
            classes.append("cyclic")
        x, width, height = self.x(index, right=False), _width(box), _height(box)
        y = self.y(index) - height / 2
        radius = height / 2 if box.is_event else 4
        lines = [
            f'<g class="{" ".join(classes)}" data-key="{index}"><title>{escape(box.about)}</title>',
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}"/>',
            f'<text x="{x + PADDING:.1f}" y="{y + 17:.1f}">{escape(_short(box.title))}</text>',
        ]
        if box.detail:
            detail = escape(_short(box.detail))
            lines.append(f'<text class="small" x="{x + PADDING:.1f}" y="{y + 31:.1f}">{detail}</text>')
        return "".join([*lines, "</g>"])

    def arrows(self) -> list[str]:
        marks = []
        for index, arrow in sorted(enumerate(self.graph.arrows), key=lambda item: item[1].negated):
            path = self.loop(arrow) if self.within(arrow) else self.curve(self.routes[index])
            classes = ["arrow"]
            if self.within(arrow):
                classes.append("within")
            if arrow.negated:
                classes.append("not")
            if arrow.delayed:
                classes.append("delayed")
            tip = "not" if arrow.negated and not arrow.positive else "both" if arrow.negated else "tip"
            if tip == "tip" and self.within(arrow):
                tip = "within"
            boxes = self.graph.boxes
            about = f"{boxes[arrow.target].title} reads {boxes[arrow.source].title}: {arrow.about}"
            marks.append(
                f'<path class="{" ".join(classes)}" d="{path}" marker-end="url(#{self.id}{tip})" '
                f'data-from="{arrow.source}" data-to="{arrow.target}"><title>{escape(about)}</title></path>'
            )
        return marks

    def curve(self, route: list[int]) -> str:
        """A smooth line over the bends: flat through a column, bent between columns."""
        x, y = self.x(route[0], right=True), self.y(route[0])
        path = [f"M{x:.1f},{y:.1f}"]
        for item in route[1:]:
            nx, ny = self.x(item, right=False), self.y(item)
            if item == route[-1]:
                nx -= 2
            half = (nx - x) / 2
            path.append(f"C{x + half:.1f},{y:.1f} {nx - half:.1f},{ny:.1f} {nx:.1f},{ny:.1f}")
            x, y = nx, ny
            if item != route[-1]:
                x = self.x(item, right=True)
                path.append(f"L{x:.1f},{y:.1f}")
        return " ".join(path)

    def loop(self, arrow: Arrow) -> str:
        """An arc on the right side of the column, from a box back to itself or to another of its cycle."""
        x1, y1 = self.x(arrow.source, right=True), self.y(arrow.source)
        x2, y2 = self.x(arrow.target, right=True) + 2, self.y(arrow.target)
        if arrow.source == arrow.target:
            top = y1 - self.placed.items[arrow.source].height / 2
            above = f"{top - 15:.1f}"
            return f"M{x1 - 26:.1f},{top:.1f} C{x1 - 28:.1f},{above} {x1 - 6:.1f},{above} {x1 - 8:.1f},{top - 1:.1f}"
        if y1 < y2:
            y1, y2 = y1 + 3, y2 - 3
        else:
            y1, y2 = y1 - 3, y2 + 3
        reach = max(x1, x2) + 18 + min(abs(y2 - y1) / 5, 34)
        return f"M{x1:.1f},{y1:.1f} C{reach:.1f},{y1:.1f} {reach:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"

    def markers(self) -> str:
        size = 'markerWidth="9" markerHeight="9" orient="auto" markerUnits="userSpaceOnUse"'
        view = f'viewBox="0 0 10 10" refX="8" refY="5" {size}'
        head = "M0,1 L9,5 L0,9 z"
        return "".join(
            [
                f'<marker id="{self.id}tip" {view}><path class="tip" d="{head}"/></marker>',
                f'<marker id="{self.id}within" {view}><path class="tipwithin" d="{head}"/></marker>',
                f'<marker id="{self.id}both" {view}><path class="tipboth" d="{head}"/></marker>',
                f'<marker id="{self.id}not" {view}><path class="tipnot" d="M8,0 L8,10"/></marker>',
            ]
        )

    def legend(self) -> list[str]:
        y = self.height - LEGEND / 2
        x = MARGIN
        marks = []
        entries = [
            ("box input", "", "input"),
            ("box", "", "simple"),
            ("box determined", "", "determined"),
            ("box cyclic", "", "cycle"),
            ("arrow", "tip", "reads"),
            ("arrow not", "not", "reads its absence"),
            ("arrow delayed within", "within", "delayed"),
        ]
        for classes, tip, words in entries:
            if tip:
                marks.append(
                    f'<path class="{classes}" d="M{x:.0f},{y:.0f} L{x + 26:.0f},{y:.0f}" '
                    f'marker-end="url(#{self.id}{tip})"/>'
                )
            else:
                marks.append(
                    f'<g class="{classes}"><rect x="{x:.0f}" y="{y - 7:.0f}" width="22" height="14" rx="3"/></g>'
                )
            marks.append(f'<text class="small" x="{x + 32:.0f}" y="{y + 4:.0f}">{words}</text>')
            x += 32 + len(words) * SMALL + 18
        return marks


def svg(graph: Graph) -> str:
    """The picture of a graph."""
    picture = _Picture(graph)
    size = f'width="{picture.width:.0f}" height="{picture.height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="thalweg {picture.id}" {size} '
        f'viewBox="0 0 {picture.width:.0f} {picture.height:.0f}" role="img">',
        "<title>Dependency graph</title>",
        f"<style>{STYLE.replace('.ID', '.' + picture.id)}</style>",
        f"<defs>{picture.markers()}</defs>",
        f'<rect class="bg" {size}/>',
        *picture.bands(),
        *picture.hulls(),
        *picture.arrows(),
        *picture.boxes(),
        *picture.legend(),
        "</svg>",
    ]
    return "\n".join(parts)


def page(graph: Graph) -> str:
    """A page around the picture."""
    counts = f"{counted(len(graph.boxes), 'box', 'boxes')}, {counted(len(graph.arrows), 'arrow')}"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8"><title>Dependency graph</title>',
            '<meta name="viewport" content="width=device-width"><style>',
            "body{margin:0;font:14px system-ui,sans-serif;background:#fff;color:#1c2430}",
            "header{padding:10px 24px}main{overflow:auto}",
            "@media (prefers-color-scheme: dark){body{background:#14181f;color:#e6eaf1}}",
            f"</style></head><body><header>{counts}: point at a box to see what it reads and what reads it.",
            f"</header><main>{svg(graph)}</main><script>{SCRIPT}</script></body></html>",
            "",
        ]
    )
