"""Where a list lives in its pool: in place, with what it was before kept beside it.

The tables `offsets` and `lengths` have six rows. Rows 0 to 2 are the versions base, last and now of every list. A
change keeps the rows before it where they are; the rest of the *earlier* versions is copied away, and rows 3 to 5 say
where it is (of the newest version there never is such a rest). So a change costs what stands behind it, not the whole
list. Only the first change since all versions were the same is made in place; further ones, and those that find no
room, write the list anew elsewhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from thalweg.protocol import Ints

REST = 3
"""Row of a version's rest is the version's own plus this."""


@njit(cache=True)
def move(target: Ints, to: int, source: Ints, at: int, count: int) -> None:
    """Copy rows from one place to another, which may not begin inside them."""
    width = source.shape[1]
    new, old = target.reshape(-1), source.reshape(-1)
    a, b = at * width, to * width
    for j in range(count * width):
        new[b + j] = old[a + j]


@njit(cache=True)
def same(offsets: Ints, lengths: Ints, i: int) -> bool:
    """Are all versions of the list the same?"""
    for v in range(2):
        if offsets[v, i] != offsets[2, i] or lengths[v, i] != lengths[2, i] or lengths[v + REST, i] != 0:
            return False
    return True


@njit(cache=True)
def drop_front(offsets: Ints, lengths: Ints, rooms: Ints, i: int, count: int) -> None:
    """Forget the first rows of the list: in all versions where these are the same, otherwise in the newest."""
    first = 0 if same(offsets, lengths, i) else 2
    for v in range(first, 3):
        offsets[v, i] += count
        lengths[v, i] -= count
    rooms[i] -= count


@njit(cache=True)
def keep_rest(offsets: Ints, lengths: Ints, pool: Ints, used: int, i: int, kept: int) -> int:
    """Copy the rows after the first `kept` to the end of the pool, for the earlier versions; returns the new end."""
    start, count = int(offsets[2, i]) + kept, int(lengths[2, i]) - kept
    move(pool, used, pool, start, count)
    for v in range(2):
        lengths[v, i] = kept
        offsets[v + REST, i] = used
        lengths[v + REST, i] = count
    return used + count


@njit(cache=True)
def _room(rows: int) -> int:
    return rows + (rows >> 1) + 2


@njit(cache=True)
def needed(offsets: Ints, lengths: Ints, rooms: Ints, ids: Ints, kept: Ints, froms: Ints, tos: Ints) -> int:
    """Pool rows that `replace` uses."""
    total = 0
    for k in range(len(ids)):
        i = ids[k]
        size = kept[k] + tos[k] - froms[k]
        if size <= rooms[i] and same(offsets, lengths, i):
            total += lengths[2, i] - kept[k]
        else:
            total += _room(size)
    return total


@njit(cache=True)
def replace(
    offsets: Ints,
    lengths: Ints,
    rooms: Ints,
    pool: Ints,
    used: int,
    ids: Ints,
    kept: Ints,
    froms: Ints,
    tos: Ints,
    rows: Ints,
    clock: int,
    expiry: int,
) -> int:
    """List ids[k] keeps its first kept[k] rows and goes on with rows[froms[k]:tos[k]]. Of the rows that are kept, those
    whose time is at or before the expiry are dropped. Returns the new end of the pool."""
    for k in range(len(ids)):
        i = ids[k]
        expired = 0
        while expired < kept[k] and pool[offsets[2, i] + expired, clock] <= expiry:
            expired += 1
        in_place = kept[k] + tos[k] - froms[k] <= rooms[i] and same(offsets, lengths, i)
        if expired:
            drop_front(offsets, lengths, rooms, i, expired)
        keep = kept[k] - expired
        start, size = offsets[2, i], keep + tos[k] - froms[k]
        if in_place:
            used = keep_rest(offsets, lengths, pool, used, i, keep)
        else:
            move(pool, used, pool, start, keep)
            start = used
            offsets[2, i], rooms[i] = used, _room(size)
            used += rooms[i]
        move(pool, start + keep, rows, froms[k], tos[k] - froms[k])
        lengths[2, i] = size
    return used


@njit(cache=True)
def widened(rows: Ints, needed: int) -> Ints:
    """The table with room for so many rows."""
    if needed <= len(rows):
        return rows
    more = np.empty((max(needed, 2 * len(rows)), rows.shape[1]), np.int64)
    more[: len(rows)] = rows
    return more
