"""Merging counted rows into sorted lists, all versions of which are kept."""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.inserting import FAR, LINE, NEAR, expired_rows, first_not_before, run_before
from thalweg.columns.prefetch import ask
from thalweg.columns.slabs import (
    LENGTH,
    OFFSET,
    PAST,
    ROOM,
    WIDTH,
    Places,
    drop_front,
    keep_rest,
    move,
    remember,
    remember_all,
)
from thalweg.columns.sorting import compared
from thalweg.protocol import Ints


@part
def _larger(rows: int) -> int:
    """Room for a list that is written elsewhere."""
    return 2 * rows + 4


@part
def _ask_ahead(table: Places, pool: Ints, ids: Ints, rows: Ints, groups: Ints, g: int) -> None:
    """Ask for the memory of the lists that come after a group: their places, their ends, and of lists into which a
    late row goes the half of it in which it is looked for next."""
    width = pool.shape[1]
    if g + 2 * FAR < len(groups) - 1:
        ask(table, WIDTH * ids[groups[g + 2 * FAR]])
    if g + FAR < len(groups) - 1:
        i = ids[groups[g + FAR]]
        end = width * (int(table[i, OFFSET]) + int(table[i, LENGTH]))
        ask(pool, end - width)
        ask(pool, end + LINE - 1)
    if g + NEAR < len(groups) - 1:
        i, row = ids[groups[g + NEAR]], groups[g + NEAR]
        start, length = int(table[i, OFFSET]), int(table[i, LENGTH])
        if length and rows[row, 0] <= pool[start + length - 1, 0]:
            for at in range(width * (start + length // 2), width * (start + length), LINE):
                ask(pool, at)


@part
def _only_more(rows: Ints, lo: int, hi: int) -> bool:
    """Do all the rows add something?"""
    for r in range(lo, hi):
        if rows[r, rows.shape[1] - 1] <= 0:
            return False
    return True


@part
def _in_one_place(pool: Ints, start: int, length: int, kept: int, rows: Ints, lo: int, hi: int) -> int:
    """How many of the rows go between two rows of the list, where the others go behind its end and all add something;
    0 where that is not so."""
    keys = rows.shape[1] - 1
    split = lo
    while split < hi and kept < length and compared(rows[split], pool[start + kept], keys) < 0:
        split += 1
    if split == lo or not _only_more(rows, lo, hi):
        return 0
    if split < hi and compared(rows[split], pool[start + length - 1], keys) <= 0:
        return 0
    return split - lo


@part
def _write(
    pool: Ints, first: int, rows: Ints, lo: int, hi: int, assign: bool, came: Ints, n_came: int
) -> tuple[int, int]:
    """Write rows from `first` on, equal ones once; returns where they end, and how many rows have come."""
    keys = rows.shape[1] - 1
    at = first
    for r in range(lo, hi):
        if at > first and compared(pool[at - 1], rows[r], keys) == 0:
            if not assign:
                pool[at - 1, keys] += rows[r, keys]
            continue
        for c in range(keys + 1):
            pool[at, c] = rows[r, c]
        came[n_came] = r
        n_came += 1
        at += 1
    return at, n_came


@part
def _different(rows: Ints, lo: int, hi: int) -> int:
    """How many of the rows, equal ones of which are adjacent, are different."""
    n = 1
    for r in range(lo + 1, hi):
        n += int(compared(rows[r], rows[r - 1], rows.shape[1] - 1) != 0)
    return n


@kernel
def merge(
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    rows: Ints,
    groups: Ints,
    clock: int,
    expiry: int,
    gone: Ints,
    came: Ints,
    assign: bool,
    done: tuple[int, int, int],
) -> tuple[int, tuple[int, int, int]]:
    """Merge sorted (id, row) changes into the lists; the last column is a count that adds up, zero removes. With
    `assign` it is the count that shall be.

    `gone` and `came` receive the positions of rows that ceased or began to be there. Rows of equal key within a
    group must be adjacent. Linear in the changes and in what stands behind them. `done` says how many groups, rows that
    ceased and rows that began are dealt with. Returns the new end of the pool and the same again: where the pool has no
    room for a group, it is not dealt with yet.
    """
    width = pool.shape[1]
    keys = width - 1
    begin, n_gone, n_came = done
    for g in range(begin, len(groups) - 1):
        _ask_ahead(table, pool, ids, rows, groups, g)
        lo, hi = groups[g], groups[g + 1]
        i = ids[lo]
        start, length = int(table[i, OFFSET]), int(table[i, LENGTH])
        if length + hi - lo > table[i, ROOM]:
            drop_front(table, i, expired_rows(pool, start, length, clock, expiry))
            start, length = int(table[i, OFFSET]), int(table[i, LENGTH])
        fits = length + hi - lo <= table[i, ROOM]
        if (length == 0 or compared(pool[start + length - 1], rows[lo], keys) < 0) and _only_more(rows, lo, hi):
            if not fits and used + _larger(length + hi - lo) > len(pool):
                return used, (g, n_gone, n_came)
            remember_all(table, past, i)
            if not fits:
                move(pool, used, pool, start, length)
                start = used
                table[i, ROOM] = _larger(length + hi - lo)
                used += _larger(length + hi - lo)
            end, n_came = _write(pool, start + length, rows, lo, hi, assign, came, n_came)
            table[i, OFFSET], table[i, LENGTH] = start, end - start
            continue
        kept = first_not_before(pool, start, length, rows[lo])
        fits = fits and table[i, PAST] == 0
        late = _in_one_place(pool, start, length, kept, rows, lo, hi) if fits else 0
        if late:  # the earlier versions are what stands before and behind the new rows
            more = _different(rows, lo, lo + late)
            remember(table, past, i, kept, start + kept + more)
            for r in range(start + length - 1, start + kept - 1, -1):
                for c in range(width):
                    pool[r + more, c] = pool[r, c]
            _, n_came = _write(pool, start + kept, rows, lo, lo + late, assign, came, n_came)
            end, n_came = _write(pool, start + length + more, rows, lo + late, hi, assign, came, n_came)
            table[i, LENGTH] = end - start
            continue
        if used + (length - kept if fits else _larger(length + hi - lo)) > len(pool):
            return used, (g, n_gone, n_came)
        if fits:
            a, end = used, used + length - kept
            used = keep_rest(table, past, pool, used, i, kept)
            target = start
        else:
            remember_all(table, past, i)
            target = used
            move(pool, target, pool, start, kept)
            a, end = start + kept, start + length
            table[i, ROOM] = _larger(length + hi - lo)
            used += _larger(length + hi - lo)
        n = kept
        r = lo
        while a < end or r < hi:
            if r >= hi:
                order = -1
            elif a >= end:
                order = 1
            else:
                order = compared(pool[a], rows[r], keys)
            if order < 0:
                run = end - a if r >= hi else run_before(pool, a, end, rows[r])
                move(pool, target + n, pool, a, run)
                n += run
                a += run
                continue
            before = np.int64(0)
            if order == 0:
                before = pool[a, keys]
                a += 1
            first = r
            count = before
            while r < hi and compared(rows[r], rows[first], keys) == 0:
                count = rows[r, keys] if assign else count + rows[r, keys]
                r += 1
            if count > 0:
                for c in range(keys):
                    pool[target + n, c] = rows[first, c]
                pool[target + n, keys] = count
                n += 1
                if before <= 0:
                    came[n_came] = first
                    n_came += 1
            elif before > 0:
                gone[n_gone] = first
                n_gone += 1
        table[i, OFFSET], table[i, LENGTH] = target, n
    return used, (len(groups) - 1, n_gone, n_came)


@njit(cache=True)
def causes_at(ids: Ints, rows: Ints, causes: Ints, at: Ints) -> Ints:
    """The largest cause of each row at these positions and of those equal to it, which follow it."""
    keys = rows.shape[1] - 1
    out = np.empty(len(at), np.int64)
    for k in range(len(at)):
        p = at[k]
        best = causes[p]
        q = p + 1
        while q < len(ids) and ids[q] == ids[p] and compared(rows[q], rows[p], keys) == 0:
            best = max(best, causes[q])
            q += 1
        out[k] = best
    return out


@kernel
def count(
    table: Places, pool: Ints, ids: Ints, clock: int, expiry: int, counts: Places, touched: Ints
) -> tuple[int, int]:
    """How many rows each list gets; forgets the expired rows of those that get some. Returns how many these are (they
    are `touched`), and the rows that they will have."""
    n = total = 0
    for k in range(len(ids)):
        i = ids[k]
        if counts[i] == 0:
            touched[n] = i
            n += 1
        counts[i] += 1
    for k in range(n):
        i = touched[k]
        end = int(table[i, OFFSET] + table[i, LENGTH])
        live = end
        while live > table[i, OFFSET] and pool[live - 1, clock] > expiry:
            live -= 1
        drop_front(table, i, live - int(table[i, OFFSET]))
        total += end - live + counts[i]
    return n, total


@kernel
def append(
    table: Places, past: Places, pool: Ints, used: int, ids: Ints, rows: Ints, counts: Places, touched: Ints
) -> int:
    """Rows in the order of time, later than all that is there, to the end of their lists, which are written anew. Rows
    of one time are put in order. Returns the new end of the pool."""
    for k in range(len(touched)):
        i = touched[k]
        remember_all(table, past, i)
        move(pool, used, pool, int(table[i, OFFSET]), int(table[i, LENGTH]))
        table[i, OFFSET], table[i, ROOM] = used, table[i, LENGTH] + counts[i]
        used += table[i, ROOM]
    keys = pool.shape[1] - 1
    for k in range(len(ids)):
        i = ids[k]
        at = int(table[i, OFFSET] + table[i, LENGTH])
        while at > table[i, OFFSET] and pool[at - 1, 0] == rows[k, 0] and compared(pool[at - 1], rows[k], keys) > 0:
            move(pool, at, pool, at - 1, 1)
            at -= 1
        for c in range(keys + 1):
            pool[at, c] = rows[k, c]
        table[i, LENGTH] += 1
    return used
