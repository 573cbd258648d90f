"""Time windows as intervals of ticks.

An atom at point u is inside the window (past, future, hop) exactly at the ticks of one interval: for hop 1 it is
[u - future, u + past]. So a window never has to be scanned: each atom brings the ticks at which it counts.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.language.rules import Window
from thalweg.protocol import Ints

NONE, INSIDE, AT_POINT = range(3)
"""What a clip does: nothing; keep the ticks whose window holds the point; keep the tick that is the point."""


@njit(cache=True)
def clip(window: Ints, code: int, s: int, e: int) -> tuple[int, int]:
    """[s, e] cut to the ticks at which a point (a number code) counts; `window` is (what, column, past, future,
    hop)."""
    u = int(np.int64(code).view(np.float64))
    if window[0] == AT_POINT:
        return max(s, u), min(e, u)
    hop = window[4]
    if hop == 1:
        return max(s, u - window[3]), min(e, u + window[2])
    first = -((window[3] - u) // hop) * hop
    last = (u + window[2]) // hop * hop + hop - 1
    return max(s, first), min(e, last)


def inside(window: Window, column: int) -> Ints:
    """The clip of a time window over atoms whose point stands in that column."""
    return np.array([INSIDE, column, window.past, window.future, window.hop], np.int64)


def first_seeing(window: Window, start: int) -> int:
    """The first tick whose window has a point: before the first hop a time window may lie before the timeline."""
    if window.kind != "time" or window.hop == 1:
        return start
    return max(start, -((window.future - start) // window.hop) * window.hop)


def at_point(column: int) -> Ints:
    """The clip that keeps an atom at its own point only."""
    return np.array([AT_POINT, column, 0, 0, 1], np.int64)


NO_CLIP: Ints = np.array([NONE, 0, 0, 0, 1], np.int64)
