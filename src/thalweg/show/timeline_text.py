"""A chart as lines of text: a lane a line, a letter per stretch of time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thalweg.io.dates import is_dated, written
from thalweg.io.times import Clock
from thalweg.language.wording import breadth, counted, padded, visible
from thalweg.protocol import OPEN_END
from thalweg.show.lanes import WITHDRAWN, Chart

LONGEST = 36
FULL, DOT, MARK = "\N{FULL BLOCK}", "\N{MIDDLE DOT}", "\N{BOX DRAWINGS LIGHT VERTICAL}"
SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lines(
    chart: Chart, *, width: int = 100, lanes: int = 40, seconds: float | None = None
) -> Iterator[str]:
    """The first lanes, an axis above and what the letters mean below. A block is a fluent that is true, a letter a
    value, a stroke an event, a dot a countdown; `>` at the end: it still holds."""
    shown = chart.lanes[:lanes]
    gutter = min(LONGEST, max((breadth(lane.label) for lane in shown), default=0))
    room = max(10, width - gutter - 2)
    signs = _signs(chart, len(shown))
    first, last = chart.span
    clock = Clock.of_seconds(seconds) if is_dated(seconds, first) else None
    left, right = (str(time) if clock is None else written(time, clock) for time in (first, last))
    if not shown:
        yield "nothing holds, and nothing happens"
        return
    if len(left) + len(right) < room:
        yield " " * (gutter + 1) + f"{left}{right.rjust(room - len(left))}"
    else:
        yield from (" " * (gutter + 1) + left, " " * (gutter + 1) + right.rjust(room))
    entity = ""
    for i, lane in enumerate(shown):
        if lane.entity and lane.entity != entity:
            yield _cut(visible(lane.entity), width)
        entity = lane.entity
        yield f"{padded(_cut(visible(lane.label), gutter), gutter)} {_line(chart, i, room, signs)}".rstrip()
    if len(chart.lanes) > lanes:
        yield f"... {counted(len(chart.lanes) - lanes, 'more lane')}"
    if signs:
        yield "  ".join(f"{sign} {visible(chart.keys[key])}" for key, sign in signs.items())


def _cut(label: str, columns: int) -> str:
    """A label that fits into so many columns of a terminal."""
    if breadth(label) <= columns:
        return label
    while breadth(label) >= columns:
        label = label[:-1]
    return label + "\N{HORIZONTAL ELLIPSIS}"


def _signs(chart: Chart, lanes: int) -> dict[int, str]:
    """A letter for each value but `true`: its first one where that is free."""
    used = np.unique(chart.bars.key[chart.bars.lane < lanes]).tolist()
    signs: dict[int, str] = {}
    for key in used:
        if chart.values[key] == "true":
            continue
        name = chart.keys[key]
        free = [sign for sign in (*name[:1].lower(), *name[:1].upper(), *SIGNS) if sign in SIGNS]
        signs[key] = next((sign for sign in free if sign not in signs.values()), "*")
    return signs


def _line(chart: Chart, lane: int, room: int, signs: dict[int, str]) -> str:
    first, last = chart.span
    cells = [" "] * room

    def cell(time: int) -> int:
        return min(room - 1, (time - first) * room // max(1, last - first))

    for pending in (p for p in chart.pending if p.lane == lane):
        cells[cell(pending.since) : cell(pending.due) + 1] = DOT * (
            cell(pending.due) + 1 - cell(pending.since)
        )
    bars, marks = chart.bars, chart.marks
    for i in range(*np.searchsorted(bars.lane, (lane, lane + 1)).tolist()):
        if bars.flags[i] & WITHDRAWN:
            continue
        is_open = bars.end[i] == OPEN_END
        begin = cell(int(bars.start[i]))
        end = room if is_open else max(begin + 1, cell(int(bars.end[i])))
        cells[begin:end] = signs.get(int(bars.key[i]), FULL) * (end - begin)
        if is_open:
            cells[-1] = ">"
    for i in range(*np.searchsorted(marks.lane, (lane, lane + 1)).tolist()):
        cells[cell(int(marks.time[i]))] = MARK
    return "".join(cells)
