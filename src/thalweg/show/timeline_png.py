"""A chart as a PNG picture: the SVG drawing, rendered by resvg (the extra ``thalweg[png]``)."""

from __future__ import annotations

from thalweg.io.errors import InputError
from thalweg.show.lanes import Chart
from thalweg.show.timeline_svg import svg

LARGEST = 16_384
"""No side of a picture is longer than this many pixels."""


def png(
    chart: Chart, *, title: str = "", seconds: float | None = None, scale: float = 2.0, dark: bool = False
) -> bytes:
    """The pixels. No more lanes are drawn than fit."""
    try:
        import resvg_py
    except ImportError:
        raise InputError("png", "PNG pictures need the package resvg-py", "pip install 'thalweg[png]'") from None
    lanes = int(LARGEST / scale / 48)
    drawing = svg(chart, title=title, seconds=seconds, lanes=min(200, lanes), theme="dark" if dark else "light")
    made = resvg_py.svg_to_bytes(
        svg_string=drawing, zoom=scale, font_family="DejaVu Sans", sans_serif_family="DejaVu Sans"
    )
    return bytes(made)
