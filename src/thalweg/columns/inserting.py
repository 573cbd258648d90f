"""Inserting counted points into sorted lists of which only the newest version is read.

The lists live in slabs of a shared pool (see `slabs`) and slide through them: points come at the end or, being late,
somewhere before it, and expire at the front.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, part
from thalweg.columns.prefetch import ask
from thalweg.columns.slabs import LENGTH, OFFSET, PAST, ROOM, Places, drop_front
from thalweg.columns.sorting import compared
from thalweg.protocol import Ints

NOTHING = np.int64(-(2**63))
"""No time."""


@part
def first_not_before(pool: Ints, start: int, length: int, row: Ints) -> int:
    """How many rows of a list stand before the row."""
    keys = pool.shape[1] - 1
    lo, hi = start, start + length
    while lo < hi:
        mid = (lo + hi) >> 1
        if compared(pool[mid], row, keys) < 0:
            lo = mid + 1
        else:
            hi = mid
    return lo - start


@part
def run_before(rows: Ints, at: int, end: int, row: Ints) -> int:
    """How many of rows[at:end], in order, stand before the row: a search that widens from the front."""
    keys = rows.shape[1] - 1
    reach = 1
    while at + reach < end and compared(rows[at + reach], row, keys) < 0:
        reach *= 2
    known = reach >> 1
    return known + first_not_before(rows, at + known, min(reach, end - at) - known, row)


@part
def slab(size: int, i: int) -> int:
    """Room for a list of so many rows that slides on: for as many again, and for some lists more than for others, so
    that they do not all move at the same query."""
    return 2 * size + 4 + size * (i & 7) // 8


@part
def expired_rows(pool: Ints, start: int, length: int, clock: int, expiry: int) -> int:
    """How many rows at the front of a list are at or before the expiry."""
    count = 0
    while count < length and pool[start + count, clock] <= expiry:
        count += 1
    return count


@kernel
def net(ids: Ints, rows: Ints) -> int:
    """Sorted changes with equal keys added up; what comes to nothing is left out. Works in place; returns how many are
    left."""
    keys = rows.shape[1] - 1
    n = 0
    k = 0
    while k < len(ids):
        first = k
        count = rows[k, keys]
        k += 1
        while k < len(ids) and ids[k] == ids[first] and compared(rows[k], rows[first], keys) == 0:
            count += rows[k, keys]
            k += 1
        if count != 0:
            ids[n] = ids[first]
            for c in range(keys):
                rows[n, c] = rows[first, c]
            rows[n, keys] = count
            n += 1
    return n


# --------------------------------------------------------------------------- points

# Points are read here as numbers one after the other, four for each: time, kind, value, count.
WIDTH = 4
FEW = 8
"""Late points of a list that are put in one by one; of more, or of those that meet another, all is merged."""
FAR, NEAR = 12, 4
"""So many lists ahead memory is asked for: the ends of lists, and then what a late point will move."""
LINE = 8
"""Numbers that come from memory together."""


@part
def _before(a: Ints, i: int, b: Ints, j: int) -> bool:
    """Does the point of `a` that starts at i stand before that of `b` that starts at j?"""
    if a[i] != b[j]:
        return bool(a[i] < b[j])
    if a[i + 1] != b[j + 1]:
        return bool(a[i + 1] < b[j + 1])
    return bool(a[i + 2] < b[j + 2])


@part
def _same(a: Ints, i: int, b: Ints, j: int) -> bool:
    return bool(a[i] == b[j] and a[i + 1] == b[j + 1] and a[i + 2] == b[j + 2])


@part
def _copy(a: Ints, i: int, b: Ints, j: int) -> None:
    """All four numbers are read before one is written."""
    time, kind, value, count = b[j], b[j + 1], b[j + 2], b[j + 3]
    a[i], a[i + 1], a[i + 2], a[i + 3] = time, kind, value, count


@part
def _first_not_before(points: Ints, lo: int, hi: int, row: Ints, at: int) -> int:
    """The first of the points between lo and hi that does not stand before a point. Binary search."""
    lo //= WIDTH
    hi //= WIDTH
    while lo < hi:
        mid = (lo + hi) >> 1
        if _before(points, WIDTH * mid, row, at):
            lo = mid + 1
        else:
            hi = mid
    return WIDTH * lo


@part
def _guess(start: int, end: int, latest: int, time: int, expiry: int) -> int:
    """Where a time stands in a list from the expiry to the latest time, if these are spread evenly."""
    back = (float(latest) - time) / max(1.0, float(latest) - expiry) * ((end - start) // WIDTH)
    return max(start, end - WIDTH * (int(min(back, 2.0**31)) + 1))


@part
def _found_near(points: Ints, lo: int, hi: int, near: int, row: Ints, at: int) -> int:
    """`_first_not_before`, by a search that widens from a place: few places are looked at where it is a good guess."""
    reach = WIDTH
    if near < lo or _before(points, near, row, at):
        lo = max(lo, near + WIDTH)
        while lo + reach < hi and _before(points, lo + reach, row, at):
            lo += reach + WIDTH
            reach *= 2
        return _first_not_before(points, lo, min(hi, lo + reach), row, at)
    hi = near
    while hi - reach >= lo and not _before(points, hi - reach, row, at):
        hi -= reach
        reach *= 2
    return _first_not_before(points, max(lo, hi - reach), hi, row, at)


@part
def _repeats(points: Ints, start: int, at: int, row: Ints, r: int, following: int, expiry: int) -> bool:
    """Does a point, to stand at a place of the list that starts at `start`, say at its time nothing but what the one
    before it said at an earlier time, alone? `following` is the time of the point behind it. What has expired says
    nothing: what came after it may not have been kept."""
    last = at - WIDTH
    if last < start or following == row[r] or points[last] == row[r] or points[last] <= expiry:
        return False
    if last > start and points[last - WIDTH] == points[last]:
        return False
    return bool(points[last + 1] == row[r + 1] and points[last + 2] == row[r + 2])


@part
def _ask_ahead(
    table: Places, points: Ints, ids: Ints, rows: Ints, groups: Ints, g: int, expiry: int
) -> None:
    """Ask for the memory of the lists that come after a group."""
    if g + 2 * FAR < len(groups) - 1:
        ask(table, 4 * ids[groups[g + 2 * FAR]])
    if g + FAR < len(groups) - 1:
        i = ids[groups[g + FAR]]
        end = WIDTH * (int(table[i, OFFSET]) + int(table[i, LENGTH]))
        ask(points, end - 1)
        ask(points, end + LINE)
    if g + NEAR < len(groups) - 1:
        i, row = ids[groups[g + NEAR]], WIDTH * groups[g + NEAR]
        start, length = WIDTH * int(table[i, OFFSET]), int(table[i, LENGTH])
        end = start + WIDTH * length
        if length == 0:
            return
        latest = int(points[end - WIDTH])
        if rows[row] <= latest:
            for at in range(_guess(start, end, latest, rows[row], expiry) - WIDTH, end + LINE, LINE):
                ask(points, at)


@part
def _make_room(table: Places, fronts: Places, points: Ints, used: int, i: int, more: int, expiry: int) -> int:
    """Room for more points at the end of a list: it drops what has expired, goes back to the front of its slab, where
    `fronts` points have, or to the end of the pool. Returns where that is then; -1: the pool has no room."""
    start, length = int(table[i, OFFSET]), int(table[i, LENGTH])
    expired = 0
    while expired < length and points[WIDTH * (start + expired)] <= expiry:
        expired += 1
    drop_front(table, i, expired)
    fronts[i] += expired
    start, length = start + expired, length - expired
    target = start - int(fronts[i]) if fronts[i] >= length else start
    if length + more > table[i, ROOM] + start - target:
        size = slab(length + more, i)
        if WIDTH * (used + size) > len(points):
            return -1
        target = used
        table[i, ROOM] = size
        used += size
    else:
        table[i, ROOM] += start - target
    if target != start:
        for k in range(WIDTH * length):
            points[WIDTH * target + k] = points[WIDTH * start + k]
        table[i, OFFSET] = target
    fronts[i] = 0
    return used


@part
def _places(
    points: Ints, start: int, end: int, rows: Ints, r: int, r_end: int, expiry: int, out: Ints
) -> int:
    """Where the late ones of some points go, and the time of the point behind: pairs. Returns how many are late; 0
    where they cannot be put in one by one."""
    late, at, latest = 0, start, int(points[end - WIDTH])
    while r < r_end and not _before(points, end - WIDTH, rows, r):
        if late == FEW or rows[r + 3] <= 0:
            return 0
        near = min(_guess(start, end, latest, rows[r], expiry), end - WIDTH)
        at = _found_near(points, at, end, near, rows, r)
        if _same(points, at, rows, r):
            return 0
        out[2 * late], out[2 * late + 1] = at, points[at]
        late += 1
        r += WIDTH
    return late


@part
def _open_gaps(points: Ints, end: int, rows: Ints, r: int, late: int, places: Ints) -> None:
    """Put late points in their places: what stands behind each moves on."""
    for k in range(late - 1, -1, -1):
        to = places[2 * k]
        at = end - WIDTH
        while at >= to:
            _copy(points, at + WIDTH * (k + 1), points, at)
            at -= WIDTH
        _copy(points, to + WIDTH * k, rows, r + WIDTH * k)
        end = to


@kernel
def insert(
    table: Places,
    fronts: Places,
    points: Ints,
    used: int,
    ids: Ints,
    rows: Ints,
    groups: Ints,
    expiry: int,
    out: Ints,
    spare: Ints,
    done: tuple[int, int],
) -> tuple[int, tuple[int, int]]:
    """Add counted points to lists whose earlier versions nobody reads: only what stands behind the first change moves.
    `out` gets of each list that changed its id, where its points start and end, and the first and the last time of a
    point that came or went and does not repeat the one before it. `spare` has room for the longest list. `done` says
    how many groups are dealt with, and how many lists changed. Returns the new end of the pool and the same again:
    where the pool has no room for a group, it is not dealt with yet."""
    begin, n = done
    for g in range(begin, len(groups) - 1):
        _ask_ahead(table, points, ids, rows, groups, g, expiry)
        lo, hi = groups[g], groups[g + 1]
        i = ids[lo]
        if table[i, LENGTH] + hi - lo > table[i, ROOM]:
            found = _make_room(table, fronts, points, used, i, hi - lo, expiry)
            if found < 0:
                return used, (g, n)
            used = found
        start = WIDTH * int(table[i, OFFSET])
        end = start + WIDTH * int(table[i, LENGTH])
        r, r_end = WIDTH * lo, WIDTH * hi
        earliest = latest = int(NOTHING)
        if r < r_end and end > start and not _before(points, end - WIDTH, rows, r):
            late = _places(points, start, end, rows, r, r_end, expiry, spare)
            if late:
                _open_gaps(points, end, rows, r, late, spare)
                for k in range(late):
                    to = spare[2 * k] + WIDTH * k
                    if not _repeats(points, start, to, rows, r, spare[2 * k + 1], expiry):
                        earliest = int(rows[r]) if earliest == NOTHING else earliest
                        latest = int(rows[r])
                    r += WIDTH
                end += WIDTH * late
            else:
                to = _first_not_before(points, start, end, rows, r)
                n_spare = end - to
                for k in range(n_spare):
                    spare[k] = points[to + k]
                a = 0
                while a < n_spare:
                    if r >= r_end or _before(spare, a, rows, r):
                        _copy(points, to, spare, a)
                        to += WIDTH
                        a += WIDTH
                        continue
                    before = np.int64(0)
                    if _same(spare, a, rows, r):
                        before = spare[a + 3]
                        a += WIDTH
                    count = before + rows[r + 3]
                    if (count > 0) != (before > 0):
                        following = int(spare[a]) if a < n_spare else int(NOTHING)
                        if not _repeats(points, start, to, rows, r, following, expiry):
                            earliest = int(rows[r]) if earliest == NOTHING else earliest
                            latest = int(rows[r])
                    if count > 0:
                        _copy(points, to, rows, r)
                        points[to + 3] = count
                        to += WIDTH
                    r += WIDTH
                end = to
        while r < r_end:
            if rows[r + 3] > 0:
                if not _repeats(points, start, end, rows, r, int(NOTHING), expiry):
                    earliest = int(rows[r]) if earliest == NOTHING else earliest
                    latest = int(rows[r])
                _copy(points, end, rows, r)
                end += WIDTH
            r += WIDTH
        table[i, LENGTH], table[i, PAST] = (end - start) // WIDTH, 0
        if earliest != NOTHING:
            out[0, n], out[1, n], out[2, n], out[3, n], out[4, n] = i, start // WIDTH, end // WIDTH, earliest, latest
            n += 1
    return used, (len(groups) - 1, n)
