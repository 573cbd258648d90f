"""The timelines of a result as a picture: `picture(result)`, a page, an SVG or a few lines for the terminal.

Lanes per entity and fluent, bars coloured by value, events as marks. A bar that still holds fades out, one that a late
or retracted row has changed is hatched, one that was withdrawn is an outline, a countdown is dotted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError
from thalweg.language.rules import Kind
from thalweg.language.wording import counted
from thalweg.show.explained import Explanations, command, explained
from thalweg.show.lanes import Chart, chart

if TYPE_CHECKING:
    from thalweg.result import Result

MANY = 200_000
"""Input rows beyond this number are not read for a picture."""
EXPLAINED = 2_000
"""How many intervals of a page carry their explanation, unless told otherwise."""
ENDINGS = (".html", ".htm", ".svg", ".png", ".txt")
SUFFIXES = "known endings are .html, .svg, .png and .txt"


@dataclass(frozen=True, repr=False)
class Picture:
    """Timelines, ready to be shown; displays itself in notebooks. `why` gives the explanations that a page carries,
    `ask` the command that gives others."""

    chart: Chart
    title: str
    seconds: float | None = None
    why: Callable[[], Explanations] = Explanations
    ask: str = ""
    heading: str = ""
    """What stands above a page, where that is not the title."""

    @cached_property
    def html(self) -> str:
        """A page that needs nothing else: zoom, pan, search, filter, by mouse and by keyboard."""
        from thalweg.show.timeline_page import page

        return page(self.chart, self.heading or self.title, seconds=self.seconds, why=self.why(), ask=self.ask)

    @cached_property
    def svg(self) -> str:
        """The first lanes as a drawing; light and dark."""
        from thalweg.show.timeline_svg import svg

        return svg(self.chart, title=self.title, seconds=self.seconds)

    def png(self, *, scale: float = 2.0, dark: bool = False) -> bytes:
        """The drawing as pixels, `scale` of them for each of its units. Needs the extra ``thalweg[png]``."""
        from thalweg.show.timeline_png import png

        return png(self.chart, title=self.title, seconds=self.seconds, scale=scale, dark=dark)

    def text(self, width: int = 100, lanes: int = 40) -> str:
        """The first lanes as lines of text."""
        from thalweg.show.timeline_text import lines

        return "\n".join(lines(self.chart, width=width, lanes=lanes, seconds=self.seconds))

    def save(self, path: str | Path) -> Path:
        """Write the picture; the ending of the name says how: .html, .svg, .png or .txt."""
        path = Path(path)
        if path.suffix.lower() == ".png":
            path.write_bytes(self.png())
            return path
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

    def __repr__(self) -> str:
        return f"<picture of {counted(len(self.chart.bars), 'interval')} in {counted(len(self.chart.lanes), 'lane')}>"

    def _repr_html_(self) -> str:
        from thalweg.show.timeline_svg import svg

        return f'<div style="overflow-x:auto">{svg(self.chart, title=self.title, lanes=20, seconds=self.seconds)}</div>'


def picture(
    result: Result,
    *,
    only: Sequence[str] | str = (),
    title: str = "",
    explained: int = EXPLAINED,
    inputs: bool = True,
) -> Picture:
    """The picture of a result. `only` keeps the lanes that match a pattern (a fluent, an entity); in a page the first
    `explained` bars carry their explanation; without `inputs` the input is not read again for its marks."""
    from thalweg.plans import spacing_of

    if result.program.kind is not Kind.EVENTS:
        raise InputError("picture", f"there are no timelines to draw for a program of kind {result.program.kind}")
    summary = result.summary()
    rows = result.input_rows() if inputs and summary.rows <= MANY else []
    drawn = chart(
        result.arrow,
        inputs=rows,
        last=summary.last_query_time,
        only=(only,) if isinstance(only, str) else tuple(only),
        tick=1 if result.origin is None else spacing_of(result.program, result.origin.options.tick),
    )
    heading = title or _files_of(result)
    title = title or f"{counted(len(drawn.bars), 'interval')} of {counted(len(drawn.lanes), 'lane')}"
    explainer = _explainer(result, drawn, explained)
    return Picture(drawn, title, result.program.tick_seconds, explainer, command(result), heading)


def _files_of(result: Result) -> str:
    """The rules and the events by their names, ``door.ec over door.csv``; nothing where one of them has none."""
    rules, events = next(iter(result.program.sources), ""), result.summary().sources
    if not Path(rules).suffix or not events or not Path(events[0]).suffix:
        return ""
    return f"{Path(rules).name} over {events[0]}{' ...' if len(events) > 1 else ''}"


def _explainer(result: Result, drawn: Chart, most: int) -> Callable[[], Explanations]:
    """Explains when asked to; nothing where the input cannot be read again."""
    if not most or result.origin is None or result.input_is_spent():
        return Explanations
    return lambda: explained(result, drawn, most)
