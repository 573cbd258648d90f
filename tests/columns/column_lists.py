"""Lists of intervals as the kernels want them, and back; strategies for lists that are maximal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.slabs import OFFSET, PAST, ROOM, Places
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


def places(lists: Sequence[Sequence[Row]], width: int) -> tuple[Places, Ints]:
    """Lists of rows as a table and a pool."""
    offsets, lengths, pool = packed(lists, width)
    return np.column_stack([offsets, lengths, lengths, np.zeros_like(lengths)]).astype(np.int32), pool


def in_two_parts(
    lists: Sequence[Sequence[Row]], width: int, cuts: Sequence[int]
) -> tuple[Places, Places, int, Ints]:
    """Lists whose rows from `cuts` on stand elsewhere, as in an earlier version: table, past, version, pool."""
    parts = [rows[:cut] for rows, cut in zip(lists, cuts, strict=True)]
    rests = [rows[cut:] for rows, cut in zip(lists, cuts, strict=True)]
    offsets, lengths, pool = packed([*parts, *rests], width)
    n = len(lists)
    table = np.zeros((n, 4), np.int32)
    table[:, PAST] = np.arange(1, n + 1)
    past = np.full((n + 1, 8), -99, np.int32)
    past[1:, 4:] = np.column_stack([offsets[:n], lengths[:n], offsets[n:], lengths[n:]])
    return table, past, int(Version.LAST), pool


def ragged(lists: Sequence[Sequence[Row]], width: int, *, roomy: bool = False) -> Ragged:
    """Lists with three equal versions; roomy ones can grow in place."""
    _, sizes, rows = packed(lists, width)
    made = Ragged.of({"rows": rows, "sizes": sizes}, clock=1)
    made.ensure(len(lists))
    if roomy:
        spare = np.full((16 * len(lists), width), -99, np.int64)
        made.pool = np.concatenate([rows, spare])
        offsets = np.concatenate([[0], np.cumsum(sizes + 16)])[:-1]
        for k in reversed(range(len(lists))):
            made.pool[offsets[k] : offsets[k] + sizes[k]] = packed([lists[k]], width)[2]
        made.places[:, OFFSET] = offsets
        made.places[:, ROOM] = sizes + 16
        made.used = len(made.pool)
    return made


def rows_of(lists: Ragged, version: Version) -> list[list[Row]]:
    """The lists of a version."""
    rows, sizes = lists.gather(np.arange(lists.count), version)
    ends = np.cumsum(sizes)
    return [[tuple(map(int, row)) for row in rows[end - n : end]] for n, end in zip(sizes, ends, strict=True)]
