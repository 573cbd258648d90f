"""Results to draw: a small one with everything in it, and large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import thalweg
from thalweg.result import Result

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(press(X), T).
terminatedAt(on(X)=true, T) :- happensAt(release(X), T).
initiatedAt(status(X)=warm, T) :- happensAt(press(X), T).
fi(status(X)=warm, status(X)=cold, 8).
"""
EVIL = "</script><img src=x onerror='window.stolen=1'>"


def small_run() -> Result:
    """Closed and open, revised and withdrawn intervals, countdowns, and a name that looks like markup."""
    rows = [
        ("press", 3, 3, "lamp"),
        ("release", 9, 9, "lamp"),
        ("press", 14, 14, EVIL),
        ("release", 6, 15, "lamp"),
        ("press", 16, 16, "lamp"),
        ("press", 8, 8, "fan"),
        ("release", 8, 18, "fan"),
    ]
    events = [dict(zip(("name", "time", "arrival", "x"), row, strict=True)) for row in rows]
    return thalweg.run(RULES, events, window=20, step=5)


def many_lanes(lanes: int, intervals: int) -> dict[str, Any]:
    """A timeline of many lanes with many intervals each."""
    random = np.random.default_rng(1)
    lengths = random.integers(1, 60, (lanes, 2 * intervals))
    points = np.cumsum(lengths, axis=1)
    start, end = points[:, ::2].ravel(), points[:, 1::2].ravel()
    fluents = np.repeat([f"state(v{i})" for i in range(lanes)], intervals)
    values = np.array(["low", "high", "stopped"])[random.integers(0, 3, lanes * intervals)]
    return {"timeline": pa.table({"fluent": fluents, "value": values, "start": start, "end": end})}
