"""Leaving out points that change nothing, before they are sorted.

Most points repeat what the last one of their instance said: a vessel that reports a high speed every minute is
initiated every minute to be fast. Of points in time order only those are kept that follow a different one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

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


def _in_order(ids: Ints, times: Ints, kind: int, values: Ints) -> tuple[Ints, Ints, int, Ints]:
    if (times[1:] >= times[:-1]).all():
        return ids, times, kind, values
    order = np.argsort(times, kind="stable")
    return ids[order], times[order], kind, values[order]


class Thinner:
    """Leaves points out; keeps its marks from call to call."""

    def __init__(self) -> None:
        self._marks = np.zeros((8, 6), np.int64)
        self._stamp = 0

    def __call__(
        self, parts: Sequence[tuple[Ints, Ints, int, Ints]], count: int
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Of lists of points (ids below `count`, times, kind, values): the ids, times, kinds and values that matter."""
        parts = [_in_order(*part) for part in parts]
        if count > len(self._marks):
            self._marks = np.zeros((max(count, 2 * len(self._marks)), 6), np.int64)
        self._stamp += 1
        starts = np.cumsum([0, *(len(p[0]) for p in parts)])
        ids, times, values = (np.concatenate([p[c] for p in parts]) for c in (0, 1, 3))
        kinds = np.array([p[2] for p in parts], np.int64)
        out = np.empty(len(ids), np.int64)
        kept = out[: _thin(ids, times, kinds, values, starts, self._marks, self._stamp, out)]
        return ids[kept], times[kept], np.repeat(kinds, np.diff(starts))[kept], values[kept]
