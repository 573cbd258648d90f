"""Where a list lives in its pool: in place, with what it was before kept beside it.

The table has one short row per list: where it starts, how many rows it has, for how many there is room, and where its
past is, which is 0 for lists that have not changed since the last query. The past of a list has two versions, base and
last, each in two parts: the rows that are still where they were, and the *rest*, which a change in place has copied
away. So a list that does not change costs 16 bytes, and a change costs what stands behind it, not the whole list. Only
the first change since all versions were the same is made in place; further ones, and those that find no room, write
the list anew elsewhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thalweg.columns.compiled import kernel, njit, part
from thalweg.protocol import Ints

Places = npt.NDArray[np.int32]

OFFSET, LENGTH, ROOM, PAST = 0, 1, 2, 3
"""Columns of the table."""
WIDTH = 4
"""Columns of the table, and of a version in the past: offset, length, and those of the rest. The first row of the past
is no list's; its first number counts the rows in use."""
NOW = 2
"""The version that is in the table itself."""
LARGEST = 2**31 - 1
"""A pool has no more rows than this."""


@part
def place(table: Places, past: Places, version: int, i: int) -> tuple[int, int, int, int]:
    """Where a version of a list is, its length, and the same of its rest."""
    row = table[i, PAST]
    if version == NOW or row == 0:
        return int(table[i, OFFSET]), int(table[i, LENGTH]), 0, 0
    c = WIDTH * version
    return int(past[row, c]), int(past[row, c + 1]), int(past[row, c + 2]), int(past[row, c + 3])


@part
def present(table: Places, i: int) -> tuple[int, int]:
    """Where the list starts and ends in its pool now."""
    start = int(table[i, OFFSET])
    return start, start + int(table[i, LENGTH])


@part
def first_from(rows: Ints, column: int, start: int, end: int, value: int) -> int:
    """The first of rows[start:end], which are in the order of the column, that has the value there or a larger one."""
    while start < end:
        mid = (start + end) >> 1
        if rows[mid, column] < value:
            start = mid + 1
        else:
            end = mid
    return start


@part
def move(target: Ints, to: int, source: Ints, at: int, count: int) -> None:
    """Copy rows from one place to another, which may not begin inside them."""
    for r in range(count):
        for c in range(source.shape[1]):
            target[to + r, c] = source[at + r, c]


@part
def remember(table: Places, past: Places, i: int, kept: int, rest: int) -> None:
    """What is now becomes the past of a list that has none: its first `kept` rows where they are, the others in the
    copy that starts at `rest`."""
    row = past[0, 0] + 1
    past[0, 0] = row
    for c in range(0, 2 * WIDTH, WIDTH):
        past[row, c] = table[i, OFFSET]
        past[row, c + 1] = kept
        past[row, c + 2] = rest
        past[row, c + 3] = table[i, LENGTH] - kept
    table[i, PAST] = row


@part
def remember_all(table: Places, past: Places, i: int) -> None:
    """Before a list is written anew elsewhere: what is now is its past, unless it has one."""
    if table[i, PAST] == 0:
        remember(table, past, i, int(table[i, LENGTH]), 0)


@part
def drop_front(table: Places, i: int, count: int) -> None:
    """Forget the first rows of the list, in all versions where these are the same, otherwise in the newest."""
    table[i, OFFSET] += count
    table[i, LENGTH] -= count
    table[i, ROOM] -= count


@part
def keep_rest(table: Places, past: Places, pool: Ints, used: int, i: int, kept: int) -> int:
    """Before a change in place: copy the rows after the first `kept` to the end of the pool, for the earlier versions;
    returns the new end."""
    start, count = int(table[i, OFFSET]) + kept, int(table[i, LENGTH]) - kept
    move(pool, used, pool, start, count)
    remember(table, past, i, kept, used)
    return used + count


@part
def _room(rows: int) -> int:
    return rows + (rows >> 1) + 2


@kernel
def needed(table: Places, ids: Ints, kept: Ints, froms: Ints, tos: Ints) -> int:
    """Pool rows that `replace` uses."""
    total = 0
    for k in range(len(ids)):
        i = ids[k]
        size = kept[k] + tos[k] - froms[k]
        if size <= table[i, ROOM] and table[i, PAST] == 0:
            total += table[i, LENGTH] - kept[k]
        else:
            total += _room(size)
    return total


@kernel
def replace(
    table: Places,
    past: Places,
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
        while expired < kept[k] and pool[table[i, OFFSET] + expired, clock] <= expiry:
            expired += 1
        in_place = kept[k] + tos[k] - froms[k] <= table[i, ROOM] and table[i, PAST] == 0
        if expired:
            drop_front(table, i, expired)
        keep = kept[k] - expired
        start, size = int(table[i, OFFSET]), keep + tos[k] - froms[k]
        if in_place:
            used = keep_rest(table, past, pool, used, i, keep)
        else:
            remember_all(table, past, i)
            move(pool, used, pool, start, keep)
            start = used
            table[i, OFFSET], table[i, ROOM] = used, _room(size)
            used += _room(size)
        move(pool, start + keep, rows, froms[k], tos[k] - froms[k])
        table[i, LENGTH] = size
    return used


@kernel
def settle(table: Places, past: Places, ids: Ints) -> None:
    """What is now becomes what was last."""
    for k in range(len(ids)):
        row = table[ids[k], PAST]
        if row:
            past[row, WIDTH], past[row, WIDTH + 1] = table[ids[k], OFFSET], table[ids[k], LENGTH]
            past[row, WIDTH + 2] = past[row, WIDTH + 3] = 0


@kernel
def follow(table: Places, ids: Ints) -> None:
    """Forget the past of the lists."""
    for k in range(len(ids)):
        table[ids[k], PAST] = 0


@kernel
def empty_lists(table: Places, past: Places, count: int) -> None:
    """Empty the first `count` lists, now and last; the base stays."""
    for i in range(count):
        if table[i, LENGTH] or table[i, PAST]:
            remember_all(table, past, i)
            row = table[i, PAST]
            past[row, WIDTH + 1] = past[row, WIDTH + 3] = 0
        table[i, LENGTH] = table[i, ROOM] = 0


@njit(cache=True)
def widened(rows: Ints, needed: int) -> Ints:
    """The table with room for so many rows."""
    if needed <= len(rows):
        return rows
    more = np.empty((max(needed, 2 * len(rows)), rows.shape[1]), np.int64)
    more[: len(rows)] = rows
    return more
