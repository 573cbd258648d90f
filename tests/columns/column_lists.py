"""Lists of intervals as the kernels want them, and back; strategies for lists that are maximal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints
from thalweg.reference.intervals import Intervals, maximal

Batch = tuple[Ints, Ints, Ints]
Row = tuple[int, ...]

LATEST = 24


def ints(values: Sequence[int]) -> Ints:
    return np.array(values, np.int64)


def table(rows: Sequence[Row], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(len(rows), width)


def batch(lists: Sequence[Intervals]) -> Batch:
    """Lists as offsets, lengths and pool; a pool row that belongs to no list stands before each."""
    rows: list[Row] = []
    offsets, lengths = [], []
    for intervals in lists:
        rows.append((-99, -98))
        offsets.append(len(rows))
        lengths.append(len(intervals))
        rows += [(start, int(OPEN) if end is None else end) for start, end in intervals]
    return ints(offsets), ints(lengths), table(rows, 2)


def lists_of(offsets: Ints, lengths: Ints, pool: Ints) -> list[Intervals]:
    """The lists of a batch."""
    return [
        [(int(s), None if e == OPEN else int(e)) for s, e in pool[o : o + n, :2]]
        for o, n in zip(offsets, lengths, strict=True)
    ]


@st.composite
def interval_lists(draw: st.DrawFn) -> Intervals:
    """Maximal lists between 0 and 25, the last interval sometimes open."""
    points = draw(st.sets(st.integers(0, LATEST)))
    intervals: Intervals = maximal((point, point + 1) for point in points)
    if draw(st.booleans()):
        intervals = maximal([*intervals, (draw(st.integers(0, LATEST)), None)])
    return intervals


@st.composite
def valued_lists(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """Timelines (start, end, value) between 0 and 25: one value at a time, maximal per value."""
    held = draw(st.lists(st.sampled_from([None, None, 0, 1, 2]), max_size=LATEST))
    rows: list[tuple[int, int, int]] = []
    for at, value in enumerate(held):
        if value is None:
            continue
        if rows and rows[-1][1] == at and rows[-1][2] == value:
            rows[-1] = (rows[-1][0], at + 1, value)
        else:
            rows.append((at, at + 1, value))
    if rows and draw(st.booleans()):
        rows[-1] = (rows[-1][0], int(OPEN), rows[-1][2])
    return rows


def packed(lists: Sequence[Sequence[Row]], width: int) -> Batch:
    """Lists of rows as offsets, lengths and pool."""
    lengths = [len(rows) for rows in lists]
    offsets = [sum(lengths[:at]) for at in range(len(lists))]
    return ints(offsets), ints(lengths), table([row for rows in lists for row in rows], width)


def three_versions(offsets: Ints, lengths: Ints, pool: Ints, room: int) -> tuple[Ints, Ints, Ints, Ints, int]:
    """Tables with three equal versions of the lists and `room` more rows at the end of the pool."""
    used = len(pool)
    wide = np.concatenate([pool, np.full((room, pool.shape[1]), -77, np.int64)])
    return np.tile(offsets, (3, 1)), np.tile(lengths, (3, 1)), lengths.copy(), wide, used
