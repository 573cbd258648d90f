"""Leaving out points that change nothing, before they are sorted.

Most points repeat what the last one of their instance said: a vessel that reports a high speed every minute is
initiated every minute to be fast. Of points in time order only those are kept that follow a different one. The first of
an instance follows what holds already: one that has been fast for hours is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.slabs import LENGTH, OFFSET, Places
from thalweg.columns.timelines import INITIATE, OPEN
from thalweg.protocol import Ints


@kernel
def _thin(
    ids: Ints,
    times: Ints,
    kinds: Ints,
    values: Ints,
    starts: Ints,
    table: Places,
    pool: Ints,
    marks: Ints,
    stamp: int,
    out: Ints,
) -> int:
    """Positions of the points that matter, in time order per id. `table` and `pool` have the timelines so far.

    The lists lie between `starts`, each in time order and of one kind; they are merged, `out` having room for where
    each stands. `marks` has a row per id: a number for the stamp, the kind, and whether nothing else was there; the
    last time, the value there, and the position of a point that was left out there. It is short, because many ids come
    in no order. Linear in the points, times the number of lists where these take turns.
    """
    n = 0
    lists = len(starts) - 1
    heads = out[len(ids) :]
    for h in range(lists):
        heads[h] = starts[h]
    while True:
        chosen = -1
        t = after = np.int64(0)  # the first time of all lists, and of the others
        others = False
        for h in range(lists):
            if heads[h] == starts[h + 1]:
                continue
            first = times[heads[h]]
            if chosen < 0 or first < t:
                others, after = chosen >= 0, t
                chosen, t = h, first
            elif not others or first < after:
                others, after = True, first
        if chosen < 0:
            return n
        k = heads[chosen]
        kind = kinds[chosen]
        while k < starts[chosen + 1] and (times[k] == t or not others or times[k] < after):
            n = _look(k, int(ids[k]), int(times[k]), int(kind), int(values[k]), table, pool, marks, stamp, out, n)
            k += 1
        heads[chosen] = k


@part
def _agrees(table: Places, pool: Ints, i: int, kind: int, value: int) -> bool:
    """Does a point say of an instance what holds already: that it has the value, or none?"""
    last = int(table[i, OFFSET]) + int(table[i, LENGTH]) - 1
    holds = table[i, LENGTH] > 0 and pool[last, 1] == OPEN
    return holds and pool[last, 2] == value if kind <= INITIATE else not holds


@part
def _look(
    k: int,
    i: int,
    t: int,
    kind: int,
    value: int,
    table: Places,
    pool: Ints,
    marks: Ints,
    stamp: int,
    out: Ints,
    n: int,
) -> int:
    """Does the k-th point matter? Returns how many do so far."""
    mark, alone = marks[i, 0], (stamp << 4) | ((kind + 2) << 1) | 1
    first = mark >> 4 != stamp
    same = _agrees(table, pool, i, kind, value) if first else mark == alone and marks[i, 2] == value
    if first or t > marks[i, 1]:
        marks[i, 0], marks[i, 1], marks[i, 2], marks[i, 3] = alone, t, value, k if same else -1
        if same:
            return n
    else:
        if same:
            return n
        if marks[i, 3] >= 0:
            out[n] = marks[i, 3]
            n += 1
            marks[i, 3] = -1
        marks[i, 0] = (mark >> 1) << 1
    out[n] = k
    return n + 1


@kernel
def _scatter(
    ids: Ints, times: Ints, values: Ints, starts: Ints, kinds: Ints, kept: Ints, ends: Ints, rows: Ints
) -> None:
    """The points at the positions `kept` (all, where none is given) as rows (time, kind, value), to where `ends` says
    that the rows of their id go on."""
    nth = 0
    for n in range(len(kept) if len(kept) else len(ids)):
        k = kept[n] if len(kept) else n
        while starts[nth + 1] <= k:
            nth += 1
        while starts[nth] > k:
            nth -= 1
        to = ends[ids[k]]
        ends[ids[k]] = to + 1
        rows[to, 0], rows[to, 1], rows[to, 2] = times[k], kinds[nth], values[k]


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
                for c in range(3):
                    spare[r, c] = rows[first + r, c]
            a, b, to = 0, k, first
            while a < n:
                if b < end and rows[b, 0] < spare[a, 0]:
                    for c in range(3):
                        rows[to, c] = rows[b, c]
                    b += 1
                else:
                    for c in range(3):
                        rows[to, c] = spare[a, c]
                    a += 1
                to += 1
        lo = hi


@kernel
def _survey(times: Ints, starts: Ints, ascends: Ints, highs: Ints) -> tuple[int, int]:
    """Which lists are in the order of time (1), and the last time of each; returns the first and the last of all. None
    is empty."""
    low = last = times[0]
    for nth in range(len(starts) - 1):
        high, falls = times[starts[nth]], 0
        for k in range(starts[nth], starts[nth + 1]):
            low, high = min(low, times[k]), max(high, times[k])
        for k in range(starts[nth] + 1, starts[nth + 1]):
            falls += int(times[k] < times[k - 1])
        ascends[nth], highs[nth] = int(falls == 0), high
        last = max(last, high)
    return int(low), int(last)


@njit(cache=True)
def _sort_list(ids: Ints, times: Ints, values: Ints, low: int, high: int) -> None:
    """Bring a list into the order of time, points of one time as they stood. Linear where times lie close together."""
    order = np.empty(len(ids), np.int64)
    if high - low < 8 * len(ids):
        ends = np.zeros(high - low + 2, np.int64)
        for k in range(len(ids)):
            ends[times[k] - low + 1] += 1
        for t in range(high - low + 1):
            ends[t + 1] += ends[t]
        for k in range(len(ids)):
            order[ends[times[k] - low]] = k
            ends[times[k] - low] += 1
    else:
        order[:] = np.argsort(times, kind="mergesort")
    ids[:], times[:], values[:] = ids[order], times[order], values[order]


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


@kernel
def _lay(ids: Ints, times: Ints, values: Ints, points: Ints, at: int) -> None:
    """Put a list of points beside those that are there up to `at`. Of values there is one for each, or one for all."""
    for k in range(len(ids)):
        points[0, at + k] = ids[k]
    for k in range(len(ids)):
        points[1, at + k] = times[k]
    if len(values) < len(ids):
        for k in range(len(ids)):
            points[2, at + k] = values[0]
    else:
        for k in range(len(ids)):
            points[2, at + k] = values[k]


def side_by_side(parts: Sequence[tuple[Ints, Ints, int, Ints]], points: Ints, lists: Ints) -> None:
    """Put lists of points (ids, times, kind, values or one value) side by side: ids, times and values of all points,
    and where each list starts and the last one ends, and the kind of each."""
    at = 0
    for nth, (ids, times, kind, values) in enumerate(parts):
        lists[0, nth], lists[1, nth] = at, kind
        _lay(ids, times, values, points, at)
        at += len(ids)
    lists[0, len(parts)] = at


@njit(cache=True)
def _ordered(
    points: Ints,
    lists: Ints,
    n_lists: int,
    table: Places,
    pool: Ints,
    marks: Ints,
    stamp: int,
    every_count: Ints,
    count: int,
    thin: bool,
    rows: Ints,
    found: Ints,
) -> tuple[int, int, int]:
    """`Thinner`, into the rows; `found` receives the ids and where their rows start, and the last end. Returns how many
    ids there are, and the first and the last time of all points. There is a zero for each id in `every_count`, before
    and after. Linear in the points, but for the sorting of their ids where these are few of many, and of times that lie
    far apart."""
    starts, kinds, ascends, highs = lists[0, : n_lists + 1], lists[1, :n_lists], lists[2], lists[3]
    total = starts[n_lists]
    ids, times, values, kept = points[0, :total], points[1, :total], points[2, :total], points[3]
    counts = every_count[:count]
    low, last = _survey(times, starts, ascends, highs)
    if thin:
        for nth in range(len(kinds)):
            if not ascends[nth]:
                lo, hi = starts[nth], starts[nth + 1]
                _sort_list(ids[lo:hi], times[lo:hi], values[lo:hi], low, highs[nth])
    kept = kept[: _thin(ids, times, kinds, values, starts, table, pool, marks, stamp, kept) if thin else 0]
    if thin and not len(kept):  # none given, below, means all
        found[1, 0] = 0
        return 0, low, last
    n = _count(ids, kept, counts, found[0])
    touched, begins = found[0, :n], found[1, : n + 1]
    if 8 * n < len(counts):
        touched.sort()
    else:
        n = 0
        for i in range(len(counts)):
            if counts[i]:
                touched[n] = i
                n += 1
    size = most = 0
    for k in range(n):
        begins[k] = size
        size += counts[touched[k]]
        most = max(most, counts[touched[k]])
        counts[touched[k]] = begins[k]
    begins[n] = size
    _scatter(ids, times, values, starts, kinds, kept, counts, rows)
    if not thin:
        _merge_runs(begins[1:], rows, np.empty((most, 3), np.int64))
    for k in range(n):
        counts[touched[k]] = 0
    return n, low, last


class Bench:
    """Arrays that `Thinner`s work on, one after the other: marks and counts by id, columns of points and rows. They
    stay from call to call, because memory that was used before costs less."""

    _LOOK = 1024

    def __init__(self) -> None:
        self.marks = np.zeros((8, 4), np.int64)
        self.counts = np.zeros(8, np.int64)
        self.points = np.empty((4, 0), np.int64)
        self.lists = np.empty((4, 16), np.int64)
        """Of the lists that the points come in: where each starts, its kind, and room for what is found out of it."""
        self.rows = np.empty((0, 3), np.int64)
        self.stamp = 0
        self._most = 0

    def reserve(self, ids: int, points: int, lists: int) -> None:
        """Room for so many ids, points and lists, under a new stamp. Room that has not been needed for long is given
        back."""
        self.stamp += 1
        points += lists
        if lists >= self.lists.shape[1]:
            self.lists = np.empty((4, 2 * lists), np.int64)
        self._most = max(self._most, points)
        if ids > len(self.counts):
            self.marks = np.zeros((max(ids, 2 * len(self.marks)), 4), np.int64)
            self.counts = np.zeros(len(self.marks), np.int64)
        if points > len(self.rows) or (self.stamp % self._LOOK == 0 and len(self.rows) > 8 * self._most + 4096):
            length = self._most + (self._most >> 2)
            self.points, self.rows = np.empty((4, length), np.int64), np.empty((length, 3), np.int64)
        if self.stamp % self._LOOK == 0:
            self._most = points


class Thinner:
    """Leaves points out and puts the others in order. Where it finds little to leave out, it does not look again for a
    while."""

    _AGAIN = 16

    def __init__(self, bench: Bench | None = None) -> None:
        self._bench = bench or Bench()
        self._rest = 0

    def __call__(
        self, parts: Sequence[tuple[Ints, Ints, int, Ints]], count: int, table: Places, pool: Ints
    ) -> tuple[Ints, Ints, Ints, int, int]:
        """Of lists of points (ids below `count`, times, kind, values or one value) those that matter, by id and time:
        each id once, where its rows start and the last end, and the rows (time, kind, value), which are valid until the
        bench is used again; and the first and the last time of all points. No list is empty. `table` and `pool` have
        the timelines so far, and all points are later than what is there."""
        bench, n_lists = self._bench, len(parts)
        total, thin = sum([len(part[0]) for part in parts]), self._rest == 0
        bench.reserve(count, total, n_lists)
        points, lists = bench.points, bench.lists
        side_by_side(parts, points, lists)
        found = np.empty((2, min(total, count) + 1), np.int64)
        by_id = bench.marks, bench.stamp, bench.counts, count
        n, low, last = _ordered(points, lists, n_lists, table, pool, *by_id, thin, bench.rows, found)
        touched, begins = found[0, :n], found[1, : n + 1]
        rows = bench.rows[: begins[n]]
        if not thin:
            self._rest -= 1
        elif 4 * len(rows) > 3 * total > 12_000:
            self._rest = self._AGAIN
        return touched, begins, rows, low, last
