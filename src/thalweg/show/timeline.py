"""The timelines of a result as a picture: `picture(result)`, a page, an SVG or a few lines for the terminal.

Lanes per entity and fluent, bars coloured by value, events as marks. A bar that still holds fades out, one that a late
or retracted row has changed is hatched, one that was withdrawn is an outline, a countdown is dotted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.show.lanes import Chart, chart

if TYPE_CHECKING:
    from thalweg.result import Result

MANY = 200_000
"""Input rows beyond this number are not read for a picture."""
ENDINGS = (".html", ".htm", ".svg", ".txt")
SUFFIXES = "known endings are .html, .svg and .txt"


@dataclass(frozen=True)
class Picture:
    """Timelines, ready to be shown; displays itself in notebooks. `why` explains bars by their index."""

    chart: Chart
    title: str
    seconds: float | None = None
    why: Mapping[int, Any] = field(default_factory=dict)

    @cached_property
    def html(self) -> str:
        """A page that needs nothing else: zoom, pan, search, filter, by mouse and by keyboard."""
        from thalweg.show.timeline_page import page

        ask = "thalweg explain RULES --input FILE --window W --step S '{}'"
        return page(self.chart, self.title, seconds=self.seconds, why=self.why, ask=ask)

    @cached_property
    def svg(self) -> str:
        """The first lanes as a drawing; light and dark."""
        from thalweg.show.timeline_svg import svg

        return svg(self.chart, title=self.title)

    def text(self, width: int = 100, lanes: int = 40) -> str:
        """The first lanes as lines of text."""
        from thalweg.show.timeline_text import lines

        return "\n".join(lines(self.chart, width=width, lanes=lanes))

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of the name says how: .html, .svg or .txt."""
        path = Path(path)
        path.write_text(self.as_text(path.suffix), encoding="utf-8")
        return path

    def as_text(self, suffix: str) -> str:
        """The text of a file with that ending."""
        match suffix.lower():
            case ".html" | ".htm":
                return self.html
            case ".svg":
                return self.svg
            case ".txt":
                return self.text(lanes=len(self.chart.lanes)) + "\n"
            case _:
                raise ValueError(
                    f"cannot draw timelines as {suffix or 'a file without an ending'}; {SUFFIXES}"
                )

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from thalweg.show.timeline_svg import svg

        return f'<div style="overflow-x:auto">{svg(self.chart, title=self.title, lanes=20)}</div>'


def picture(
    result: Result,
    *,
    only: Sequence[str] | str = (),
    title: str = "",
    explained: int = 0,
    inputs: bool = True,
) -> Picture:
    """The picture of a result. `only` keeps the lanes that match a pattern (a fluent, an entity); the first
    `explained` bars carry their explanation; without `inputs` the input is not read again for its marks."""
    summary = result.summary()
    rows = result.input_rows() if inputs and summary.rows <= MANY else []
    drawn = chart(
        result.arrow,
        inputs=rows,
        last=summary.last_query_time,
        only=(only,) if isinstance(only, str) else tuple(only),
    )
    title = title or f"{len(drawn.bars):,} intervals of {len(drawn.lanes):,} lanes"
    why = _explained(result, drawn, explained) if explained else {}
    return Picture(drawn, title, result.program.tick_seconds, why)


def _explained(result: Result, drawn: Chart, count: int) -> dict[int, Any]:
    """The explanations of the first computed bars."""
    trees: dict[int, Any] = {}
    for i in range(len(drawn.bars)):
        lane = drawn.lanes[int(drawn.bars.lane[i])]
        if lane.given or drawn.bars.flags[i] > 1:
            continue
        if len(trees) == count:
            break
        value = drawn.values[int(drawn.bars.key[i])]
        trees[i] = result.why(f"{lane.label}={value} @ {int(drawn.bars.start[i])}").outline()
    return trees
