"""A chart as a page: one file that needs nothing else and talks to nobody.

Everything that comes from data stands in one block of JSON in which no sign can end the block; the script writes it to
the page as text only; and the page's own policy allows exactly that one script (by its hash) and no connection.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.io.dates import is_dated
from thalweg.protocol import OPEN_END
from thalweg.show.explained import Explanations
from thalweg.show.lanes import Chart, Ints
from thalweg.show.palette import PALETTE


def page(
    chart: Chart,
    title: str,
    *,
    seconds: float | None = None,
    why: Explanations | None = None,
    ask: str = "",
) -> str:
    """The HTML text. `why` explains bars, `ask` is the command that explains others, with ``{}`` for what is asked."""
    data = embedded(_data(chart, seconds, why or Explanations(), ask))
    notes = "".join(f"<p>{escape(note)}</p>" for note in chart.notes)
    script, style = _file("timeline.js"), _file("timeline.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data: blob:"
    )
    return _PAGE.format(
        policy=policy, title=escape(title), style=style, notes=notes, data=data, script=script, keys=_KEYS
    )


def embedded(data: Any) -> str:
    """JSON that may stand inside a script element, whatever it says.

    >>> embedded("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _file(name: str) -> str:
    return files("thalweg.show").joinpath(name).read_text(encoding="utf-8")


def _data(chart: Chart, seconds: float | None, why: Explanations, ask: str) -> dict[str, Any]:
    """What the script reads. Times are distances from `base`, so that they are exact as floating-point numbers."""
    first, last = chart.span
    count = len(chart.lanes)
    texts = sorted(set(chart.marks.text))
    places = {text: i for i, text in enumerate(texts)}
    bars, marks = chart.bars, chart.marks
    end = np.where(bars.end == OPEN_END, np.inf, (bars.end - first).astype(np.float64))
    dated = is_dated(seconds, first)
    return {
        "lanes": [{"label": lane.label, "entity": lane.entity, "given": lane.given} for lane in chart.lanes],
        "keys": chart.keys,
        "values": chart.values,
        "palette": PALETTE,
        "base": str(first),
        "until": last - first,
        "last": None if chart.last is None else chart.last - first,
        "seconds": seconds if dated else None,
        "bars": {
            "start": _packed((bars.start - first).astype(np.float64)),
            "end": _packed(end),
            "key": _packed(bars.key.astype(np.int32)),
            "flags": _packed(bars.flags.astype(np.int32)),
            "from": _packed(_offsets(bars.lane, count)),
        },
        "nested": _nested(chart),
        "marks": {
            "time": _packed((marks.time - first).astype(np.float64)),
            "key": _packed(marks.key.astype(np.int32)),
            "text": _packed(np.array([places[text] for text in marks.text], np.int32)),
            "from": _packed(_offsets(marks.lane, count)),
        },
        "events": texts,
        "pending": [
            {"lane": p.lane, "key": p.key, "since": p.since - first, "due": p.due - first, "about": p.about}
            for p in chart.pending
        ],
        "why": why.as_data(),
        "ask": [ask],
    }


def _packed(column: npt.NDArray[Any]) -> str:
    return base64.b64encode(column.astype(column.dtype.newbyteorder("<")).tobytes()).decode()


def _offsets(lane: Ints, count: int) -> npt.NDArray[np.int32]:
    """Where each lane begins in a column that is sorted by lane, and where the last one ends."""
    return np.searchsorted(lane, np.arange(count + 1)).astype(np.int32)


def _nested(chart: Chart) -> list[int]:
    """Which lanes have bars that overlap (withdrawn ones, input that overlaps): there ends are not ascending."""
    bars = chart.bars
    if len(bars) < 2:
        return [0] * len(chart.lanes)
    disordered = (bars.lane[1:] == bars.lane[:-1]) & (bars.end[1:] < bars.end[:-1])
    found = set(bars.lane[1:][disordered].tolist())
    return [int(lane in found) for lane in range(len(chart.lanes))]


_KEYS = "".join(
    f"<tr><td><kbd>{escape(key)}</kbd></td><td>{escape(text)}</td></tr>"
    for key, text in (
        ("\N{LEFTWARDS ARROW} \N{RIGHTWARDS ARROW}", "earlier, later"),
        ("\N{UPWARDS ARROW} \N{DOWNWARDS ARROW}", "lane above, below"),
        ("n p", "next, previous interval of the lane"),
        ("+ -", "zoom"),
        ("0", "everything"),
        ("Enter", "zoom to the chosen interval"),
        ("/", "search"),
        ("Esc", "close, clear"),
        ("Ctrl wheel", "zoom at the pointer; drag moves; Shift wheel moves in time"),
    )
)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<input id="search" type="search" placeholder="Search lanes and values (/)" aria-label="Search lanes and values">
<button id="fit" type="button">Everything</button>
<button id="theme" type="button">Light / dark</button>
<button id="png" type="button">PNG</button>
<button id="keys" type="button" aria-label="Keys">?</button>
<span id="count" role="status"></span>
</header>
<div id="legend" role="group" aria-label="Values: press to hide or show"></div>
<div id="notes">{notes}</div>
<main>
<canvas id="canvas" tabindex="0" role="application" aria-label="Timelines: arrows move, plus and minus zoom"></canvas>
<div id="tip" hidden></div>
</main>
<section id="detail" hidden aria-label="The chosen interval"></section>
<div id="live" class="sr" aria-live="polite"></div>
<dialog id="help"><table>{keys}</table><form method="dialog"><button>Close</button></form></dialog>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""
