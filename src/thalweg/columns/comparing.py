"""What changed in timelines: intervals that went and came, and the stretches in which values differ."""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.gathering import TIME
from thalweg.columns.slabs import LENGTH, OFFSET, Places, place, present
from thalweg.columns.sorting import compared
from thalweg.columns.timelines import OPEN, live
from thalweg.protocol import Ints, Mask


@kernel
def revised(
    old_ids: Ints,
    old: Ints,
    old_ends: Ints,
    old_values: Ints,
    new_ids: Ints,
    new: Ints,
    new_ends: Ints,
    new_values: Ints,
    spoken: int,
    gone: Mask,
    came: Mask,
) -> None:
    """Of intervals that went and came, by id and time, those that are others up to the point `spoken`: an interval that
    only ends at another point after it is still the same there. Linear."""
    a = b = 0
    while a < len(old) or b < len(new):
        order = _order(old_ids, old, old_values, a, new_ids, new, new_values, b)
        same = order == 0 and old_ends[a] > spoken and new_ends[b] > spoken
        if order <= 0:
            gone[a] = not same and old[a] <= spoken
            a += 1
        if order >= 0:
            came[b] = not same and new[b] <= spoken
            b += 1


@part
def _order(
    old_ids: Ints, old: Ints, old_values: Ints, a: int, new_ids: Ints, new: Ints, new_values: Ints, b: int
) -> int:
    """Which comes first by id, time and value (where values are given): -1 the old one, 1 the new one, 0 both."""
    if a == len(old):
        return 1
    if b == len(new):
        return -1
    if old_ids[a] != new_ids[b]:
        return -1 if old_ids[a] < new_ids[b] else 1
    if old[a] != new[b]:
        return -1 if old[a] < new[b] else 1
    if len(old_values) == 0 or old_values[a] == new_values[b]:
        return 0
    return -1 if old_values[a] < new_values[b] else 1


@kernel
def differences(
    table: Places,
    past: Places,
    version: int,
    pool: Ints,
    ids: Ints,
    expiry: int,
    removed: Ints,
    added: Ints,
    dirty: Ints,
) -> tuple[int, int, int]:
    """What changed between an old and the newest version of the lists `ids`.

    `removed` and `added` receive (k, pool position) of intervals; `dirty` receives (k, from, to): the stretches where
    the value differs. Intervals that ended by the expiry are not compared. Returns how many of each.
    """
    n_removed = n_added = n_dirty = 0
    for k in range(len(ids)):
        i = ids[k]
        old, n_first, rest, more = place(table, past, version, i)
        jump = rest - old - n_first  # from the first part of the old list to its rest
        new = int(table[i, OFFSET])
        a, a_end = 0, n_first + more
        b, b_end = 0, int(table[i, LENGTH])
        if old == new:  # what stands before the rest is the same
            a = b = min(n_first, b_end)
        while a < a_end and pool[old + a + (jump if a >= n_first else 0), 1] <= expiry:
            a += 1
        while b < b_end and pool[new + b, 1] <= expiry:
            b += 1
        x, y = a, b
        while x < a_end or y < b_end:
            p = old + x + (jump if x >= n_first else 0)
            q = new + y
            order = 1 if x >= a_end else -1 if y >= b_end else compared(pool[p], pool[q], 3)
            if order == 0:
                x += 1
                y += 1
            elif order < 0:
                removed[n_removed, 0], removed[n_removed, 1] = k, p
                n_removed += 1
                x += 1
            else:
                added[n_added, 0], added[n_added, 1] = k, q
                n_added += 1
                y += 1
        # stretches where the two step functions differ
        t = np.int64(-(2**62))
        open_dirty = False
        while a < a_end or b < b_end:
            p = old + a + (jump if a >= n_first else 0)
            q = new + b
            a_on = a < a_end and pool[p, 0] <= t
            b_on = b < b_end and pool[q, 0] <= t
            nxt = OPEN
            if a < a_end:
                nxt = min(nxt, pool[p, 1] if a_on else pool[p, 0])
            if b < b_end:
                nxt = min(nxt, pool[q, 1] if b_on else pool[q, 0])
            differ = a_on != b_on or (a_on and pool[p, 2] != pool[q, 2])
            if differ:
                if not open_dirty:
                    dirty[n_dirty, 0], dirty[n_dirty, 1] = k, t
                    n_dirty += 1
                dirty[n_dirty - 1, 2] = nxt
            open_dirty = differ
            if nxt == OPEN:
                break
            t = nxt
            if a < a_end and pool[p, 1] <= t:
                a += 1
            if b < b_end and pool[q, 1] <= t:
                b += 1
    return n_removed, n_added, n_dirty


@njit(cache=True)
def changed_spans(
    table: Places, past: Places, version: int, pool: Ints, ids: Ints, causes: Ints, expiry: int, spoken: int
) -> tuple[Ints, Ints, Ints, int]:
    """What changed between an old and the newest version of lists, as columns: of intervals that went and came their
    id, start, end, value and cause, of the stretches in which values differ id, from, to and cause; and the first point
    of a stretch, where there is one. The cause is that of the list, but time for what is as it was up to the point
    `spoken`."""
    n_old = n_new = 0
    for k in range(len(ids)):
        _, first, _, more = place(table, past, version, ids[k])
        n_old += first + more
        n_new += int(table[ids[k], LENGTH])
    at_removed, at_added = np.empty((n_old, 2), np.int64), np.empty((n_new, 2), np.int64)
    at_dirty = np.empty((2 * (n_old + n_new), 3), np.int64)
    n_removed, n_added, n_dirty = differences(
        table, past, version, pool, ids, expiry, at_removed, at_added, at_dirty
    )
    removed, added = np.empty((5, n_removed), np.int64), np.empty((5, n_added), np.int64)
    dirty = np.empty((4, n_dirty), np.int64)
    told = False
    for at, n, out in ((at_removed, n_removed, removed), (at_added, n_added, added)):
        for k in range(n):
            i, p = at[k, 0], at[k, 1]
            out[0, k], out[1, k], out[2, k], out[3, k] = ids[i], pool[p, 0], pool[p, 1], pool[p, 2]
            out[4, k] = causes[i]
            told |= causes[i] != TIME
    first = int(OPEN)
    for k in range(n_dirty):
        i = at_dirty[k, 0]
        dirty[0, k], dirty[1, k], dirty[2, k], dirty[3, k] = ids[i], at_dirty[k, 1], at_dirty[k, 2], causes[i]
        first = min(first, int(at_dirty[k, 1]))
        if at_dirty[k, 1] > spoken:
            dirty[3, k] = TIME
    if told:
        gone, came = np.empty(n_removed, np.bool_), np.empty(n_added, np.bool_)
        revised(
            removed[0], removed[1], removed[2], removed[3], added[0], added[1], added[2], added[3], spoken, gone, came
        )
        for k in range(n_removed):
            if not gone[k]:
                removed[4, k] = TIME
        for k in range(n_added):
            if not came[k]:
                added[4, k] = TIME
    return removed, added, dirty, first


@kernel
def rewritten(
    table: Places,
    past: Places,
    version: int,
    pool: Ints,
    ids: Ints,
    expiry: int,
    removed: Ints,
    added: Ints,
    touched: Ints,
) -> tuple[int, int, int, int]:
    """What is different in lists that were written anew as a whole: intervals that went and came, as columns (id,
    start, end, value), the last of which need not be there for those that came; and of each list that changed (id,
    from, to), outside of which it is what it was. Last, the first time at which anything is different."""
    n_removed = n_added = n_touched = 0
    first = int(OPEN)
    for k in range(len(ids)):
        i = ids[k]
        start, count, _, _ = place(table, past, version, i)
        a_end = start + count
        a = live(pool, start, a_end, expiry)
        b, b_end = present(table, i)
        low, high = int(OPEN), -int(OPEN)
        runs_on = (  # both are open at the end, with the same value
            a < a_end
            and b < b_end
            and pool[a_end - 1, 1] == OPEN
            and pool[b_end - 1, 1] == OPEN
            and pool[a_end - 1, 2] == pool[b_end - 1, 2]
        )
        joined = max(pool[a_end - 1, 0], pool[b_end - 1, 0]) if runs_on else int(OPEN)
        while a < a_end:
            order = compared(pool[a], pool[b], 3) if b < b_end else -1
            if order == 0:
                a += 1
                b += 1
                continue
            if low == OPEN:
                low = _first_difference(pool, a, b, b_end)
            if order < 0:
                removed[0, n_removed] = i
                for c in range(3):
                    removed[1 + c, n_removed] = pool[a, c]
                n_removed += 1
                high = max(high, min(pool[a, 1], joined))
                a += 1
            else:
                added[0, n_added] = i
                for c in range(len(added) - 1):
                    added[1 + c, n_added] = pool[b, c]
                n_added += 1
                high = max(high, min(pool[b, 1], joined))
                b += 1
        if b < b_end:  # only new ones are left, which are most
            if low == OPEN:
                low = pool[b, 0]
            high = max(high, min(pool[b_end - 1, 1], joined))
            for r in range(b, b_end):
                added[0, n_added + r - b] = i
            for c in range(len(added) - 1):
                for r in range(b, b_end):
                    added[1 + c, n_added + r - b] = pool[r, c]
            n_added += b_end - b
        if low != OPEN:
            touched[0, n_touched], touched[1, n_touched], touched[2, n_touched] = i, low, high
            n_touched += 1
            first = min(first, low)
    return n_removed, n_added, n_touched, first


@part
def _first_difference(pool: Ints, a: int, b: int, b_end: int) -> int:
    """From when on two lists differ that have been the same up to the rows a, which is there, and b."""
    if b == b_end:
        return int(pool[a, 0])
    if pool[a, 0] == pool[b, 0] and pool[a, 2] == pool[b, 2]:
        return int(min(pool[a, 1], pool[b, 1]))
    return int(min(pool[a, 0], pool[b, 0]))


@kernel
def moved_edges(
    old_ids: Ints,
    old: Ints,
    old_values: Ints,
    new_ids: Ints,
    new: Ints,
    new_values: Ints,
    low: int,
    gone: Ints,
    came: Ints,
) -> tuple[int, int]:
    """Of edges of intervals that went and came, by id and time, the positions of those that are in only one of the two,
    and not before `low`; returns how many. An interval that has no end has no such edge. Without values (none are
    given) all are the same. Linear."""
    a = b = n_gone = n_came = 0
    while a < len(old) or b < len(new):
        order = _order(old_ids, old, old_values, a, new_ids, new, new_values, b)
        if order < 0 and old[a] != OPEN and old[a] >= low:
            gone[n_gone] = a
            n_gone += 1
        elif order > 0 and new[b] != OPEN and new[b] >= low:
            came[n_came] = b
            n_came += 1
        if order <= 0:
            a += 1
        if order >= 0:
            b += 1
    return n_gone, n_came
