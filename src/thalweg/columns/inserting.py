"""Inserting counted points into sorted lists of which only the newest version is read.

The lists live in slabs of a shared pool (see `slabs`) and slide through them: points come at the end or, being late,
somewhere before it, and expire at the front.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.slabs import LENGTH, OFFSET, PAST, ROOM, Places, drop_front, move
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
def overflow(
    table: Places,
    fronts: Places,
    pool: Ints,
    ids: Ints,
    groups: Ints,
    clock: int,
    expiry: int,
) -> int:
    """Pool rows that `insert` needs for lists that find no room where they are. Looks at the ends of the lists on the
    way: memory answers many questions that do not wait for each other sooner than `insert` asks them one by one."""
    total = 0
    seen = np.int64(0)
    for g in range(len(groups) - 1):
        i = ids[groups[g]]
        more = groups[g + 1] - groups[g]
        end = int(table[i, OFFSET] + table[i, LENGTH])
        if table[i, LENGTH]:
            seen ^= pool[end - 1, 0]
        if table[i, LENGTH] + more <= table[i, ROOM]:
            seen ^= pool[end + more - 1, 0]
            continue
        expired = expired_rows(pool, int(table[i, OFFSET]), int(table[i, LENGTH]), clock, expiry)
        length = int(table[i, LENGTH]) - expired
        size = length + more
        front = int(fronts[i]) + expired
        if size > table[i, ROOM] - expired + (front if front >= length else 0):
            total += slab(size, i)
    return total + int(seen == NOTHING)


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


@part
def _repeats(pool: Ints, start: int, at: int, row: Ints, following: int, clock: int, expiry: int) -> bool:
    """Does a row, to stand at a position of the list that starts at `start`, say at its time nothing but what the row
    before it said at an earlier time, alone? `following` is the time of the row behind it. What has expired says
    nothing: what came after it may not have been kept."""
    keys = pool.shape[1] - 1
    if at == start or following == row[0] or pool[at - 1, 0] == row[0] or pool[at - 1, clock] <= expiry:
        return False
    if at - 1 > start and pool[at - 2, 0] == pool[at - 1, 0]:
        return False
    for c in range(1, keys):
        if pool[at - 1, c] != row[c]:
            return False
    return True


@njit(cache=True)
def insert(
    table: Places,
    fronts: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    rows: Ints,
    groups: Ints,
    clock: int,
    expiry: int,
    first: Ints,
    last: Ints,
) -> int:
    """Add counted rows to lists whose earlier versions nobody reads: only what stands behind the first change moves. A
    list that has reached the end of its slab drops what has expired and goes back to the front, where `fronts` rows
    have. Of each group, the first and the last time of a row that came or went and does not repeat the one before
    it."""
    width = pool.shape[1]
    keys = width - 1
    tail = np.empty((64, width), np.int64)
    for g in range(len(groups) - 1):
        lo, hi = groups[g], groups[g + 1]
        i = ids[lo]
        first[g], last[g] = NOTHING, NOTHING
        start, length = int(table[i, OFFSET]), int(table[i, LENGTH])
        if length + hi - lo > table[i, ROOM]:
            expired = expired_rows(pool, start, length, clock, expiry)
            drop_front(table, i, expired)
            fronts[i] += expired
            start, length = start + expired, length - expired
            if fronts[i] >= length:
                move(pool, start - int(fronts[i]), pool, start, length)
                start -= int(fronts[i])
                table[i, ROOM] += fronts[i]
            if length + hi - lo > table[i, ROOM]:
                move(pool, used, pool, start, length)
                start = used
                table[i, ROOM] = slab(length + hi - lo, i)
                used += slab(length + hi - lo, i)
            fronts[i] = 0
        to = start + length
        if length > 0 and compared(pool[to - 1], rows[lo], keys) >= 0:
            to = start + first_not_before(pool, start, length, rows[lo])
        n_tail = start + length - to
        if n_tail > len(tail):
            tail = np.empty((2 * n_tail, width), np.int64)
        move(tail, 0, pool, to, n_tail)
        a = 0
        r = lo
        while a < n_tail or r < hi:
            if r >= hi:
                order = -1
            elif a >= n_tail:
                order = 1
            else:
                order = compared(tail[a], rows[r], keys)
            if order < 0:
                run = n_tail - a if r >= hi else run_before(tail, a, n_tail, rows[r])
                move(pool, to, tail, a, run)
                to += run
                a += run
                continue
            before = np.int64(0)
            if order == 0:
                before = tail[a, keys]
                a += 1
            count = before + rows[r, keys]
            if (count > 0) != (before > 0):
                following = int(tail[a, 0]) if a < n_tail else int(NOTHING)
                if not _repeats(pool, start, to, rows[r], following, clock, expiry):
                    if first[g] == NOTHING:
                        first[g] = rows[r, 0]
                    last[g] = rows[r, 0]
            if count > 0:
                for c in range(keys):
                    pool[to, c] = rows[r, c]
                pool[to, keys] = count
                to += 1
            r += 1
        table[i, OFFSET], table[i, LENGTH], table[i, PAST] = start, to - start, 0
    return used
