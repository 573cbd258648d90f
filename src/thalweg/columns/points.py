"""Leaving out points that change nothing, before they are sorted.

Most points repeat what the last one of their instance said: a vessel that reports a high speed every minute is
initiated every minute to be fast. Of points in time order only those are kept that follow a different one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from thalweg.columns.compiled import kernel
from thalweg.protocol import Ints


@njit(cache=True)
def _thin(ids: Ints, times: Ints, kinds: Ints, values: Ints, starts: Ints, marks: Ints, stamp: int, out: Ints) -> int:
    """Positions of the points that matter, in time order per id.

    The lists lie between `starts`, each in time order and of one kind; they are merged. `marks` has a row per id:
    stamp, last time, kind and value there, 1 if nothing else was there, and the position of a point that was left out
    there. Linear in the points, times the number of lists.
    """
    n = 0
    lists = len(starts) - 1
    heads = starts[:-1].copy()
    while True:
        chosen = -1
        t = np.int64(0)
        for h in range(lists):
            if heads[h] < starts[h + 1] and (chosen < 0 or times[heads[h]] < t):
                chosen = h
                t = times[heads[h]]
        if chosen < 0:
            return n
        k = heads[chosen]
        heads[chosen] += 1
        mark = marks[ids[k]]
        if mark[0] != stamp or t > mark[1]:
            if mark[0] == stamp and mark[4] == 1 and mark[2] == kinds[chosen] and mark[3] == values[k]:
                mark[1] = t
                mark[5] = k
                continue
            mark[0] = stamp
            mark[1] = t
            mark[2] = kinds[chosen]
            mark[3] = values[k]
            mark[4] = 1
            mark[5] = -1
        else:
            if mark[4] == 1 and mark[2] == kinds[chosen] and mark[3] == values[k]:
                continue
            if mark[5] >= 0:
                out[n] = mark[5]
                n += 1
                mark[5] = -1
            mark[4] = 0
        out[n] = k
        n += 1


@kernel
def _scatter(
    ids: Ints, times: Ints, values: Ints, starts: Ints, kinds: Ints, kept: Ints, ends: Ints, rows: Ints
) -> None:
    """The points at the positions `kept` (all, where none is given) as rows (time, kind, value, 1), to where `ends`
    says that the rows of their id go on."""
    part = 0
    for n in range(len(rows)):
        k = kept[n] if len(kept) else n
        while starts[part + 1] <= k:
            part += 1
        while starts[part] > k:
            part -= 1
        to = ends[ids[k]]
        ends[ids[k]] = to + 1
        rows[to, 0], rows[to, 1], rows[to, 2], rows[to, 3] = times[k], kinds[part], values[k], 1


@kernel
def _merge_runs(ends: Ints, rows: Ints, spare: Ints) -> None:
    """Put the rows of each id in the order of time, by insertion where they are few, otherwise by merging from the
    front: rows come in few ascending runs."""
    lo = 0
    for i in range(len(ends)):
        hi = ends[i]
        for k in range(lo + 1, hi):
            if rows[k, 0] >= rows[k - 1, 0]:
                continue
            # rows[lo:k] are in order; take the ascending run that starts here
            end = k + 1
            while end < hi and rows[end, 0] >= rows[end - 1, 0]:
                end += 1
            first = k
            while first > lo and rows[first - 1, 0] > rows[k, 0]:
                first -= 1
            n = k - first
            for r in range(n):
                for c in range(4):
                    spare[r, c] = rows[first + r, c]
            a, b, to = 0, k, first
            while a < n:
                if b < end and rows[b, 0] < spare[a, 0]:
                    for c in range(4):
                        rows[to, c] = rows[b, c]
                    b += 1
                else:
                    for c in range(4):
                        rows[to, c] = spare[a, c]
                    a += 1
                to += 1
        lo = hi


@kernel
def _survey(times: Ints, starts: Ints) -> tuple[bool, int, int]:
    """Is each list in the order of time? And the first and the last time of all."""
    ascends, low, high = True, times[0], times[0]
    for part in range(len(starts) - 1):
        for k in range(starts[part], starts[part + 1]):
            if k > starts[part] and times[k] < times[k - 1]:
                ascends = False
            low, high = min(low, times[k]), max(high, times[k])
    return ascends, low, high


@kernel
def _count(ids: Ints, kept: Ints, counts: Ints, seen: Ints) -> int:
    """How many points each id has; returns how many ids were seen."""
    n = 0
    for k in range(len(kept) if len(kept) else len(ids)):
        i = ids[kept[k] if len(kept) else k]
        if counts[i] == 0:
            seen[n] = i
            n += 1
        counts[i] += 1
    return n


@njit(cache=True)
def _ordered(
    ids: Ints, times: Ints, values: Ints, starts: Ints, kinds: Ints, marks: Ints, stamp: int, counts: Ints
) -> tuple[Ints, Ints, Ints, int, int]:
    """`Thinner`; `counts` has a zero for each id, before and after. Linear in the points, but for the sorting of their
    ids where these are few of many."""
    ascends, low, high = _survey(times, starts)
    kept = np.empty(len(ids) if ascends else 0, np.int64)
    if ascends:
        kept = kept[: _thin(ids, times, kinds, values, starts, marks, stamp, kept)]
    touched = np.empty(min(len(ids), len(counts)), np.int64)
    n = _count(ids, kept, counts, touched)
    touched = touched[:n]
    if 8 * n < len(counts):
        touched.sort()
    else:
        n = 0
        for i in range(len(counts)):
            if counts[i]:
                touched[n] = i
                n += 1
    begins = np.empty(n + 1, np.int64)
    total = most = 0
    for k in range(n):
        begins[k] = total
        total += counts[touched[k]]
        most = max(most, counts[touched[k]])
        counts[touched[k]] = begins[k]
    begins[n] = total
    rows = np.empty((total, 4), np.int64)
    _scatter(ids, times, values, starts, kinds, kept, counts, rows)
    if not ascends:
        _merge_runs(begins[1:], rows, np.empty((most, 4), np.int64))
    for k in range(n):
        counts[touched[k]] = 0
    return touched, begins, rows, low, high


class Thinner:
    """Leaves points out and puts the others in order; keeps its marks from call to call."""

    def __init__(self) -> None:
        self._marks = np.zeros((8, 6), np.int64)
        self._counts = np.zeros(8, np.int64)
        self._stamp = 0

    def __call__(
        self, parts: Sequence[tuple[Ints, Ints, int, Ints]], count: int
    ) -> tuple[Ints, Ints, Ints, int, int]:
        """Of lists of points (ids below `count`, times, kind, values) those that matter, by id and time: each id once,
        where its rows start and the last end, and the rows (time, kind, value, 1); and the first and the last time of
        all points. Only lists in the order of time are thinned out."""
        if count > len(self._marks):
            self._marks = np.zeros((max(count, 2 * len(self._marks)), 6), np.int64)
        if count != len(self._counts):
            self._counts = np.zeros(count, np.int64)
        self._stamp += 1
        starts, kinds = np.zeros(len(parts) + 1, np.int64), np.empty(len(parts), np.int64)
        for k, part in enumerate(parts):
            starts[k + 1] = starts[k] + len(part[0])
            kinds[k] = part[2]
        ids, times, values = (np.concatenate([part[c] for part in parts]) for c in (0, 1, 3))
        return _ordered(ids, times, values, starts, kinds, self._marks, self._stamp, self._counts)
