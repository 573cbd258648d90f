"""Kernels of the interval algebra: union, intersection, difference, Allen relations.

A *batch* of lists is (offsets, lengths, pool): list k is pool[offsets[k] : offsets[k] + lengths[k]], rows (start,
end, ...), sorted, disjoint, never touching. Every operation takes batches of equal size and is linear in their
rows (Allen: in their product per list).
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.columns.slabs import Places, first_from, present, widened
from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints

Batch = tuple[Ints, Ints, Ints]

UNION, INTERSECTION, DIFFERENCE = 0, 1, 2
BEFORE, MEETS, OVERLAPS, STARTS, FINISHES, DURING, EQUAL = range(7)
RELATIONS = ("before", "meets", "overlaps", "starts", "finishes", "during", "equal")


@njit(cache=True)
def combine(
    op: int, a_off: Ints, a_len: Ints, a: Ints, b_off: Ints, b_len: Ints, b: Ints
) -> tuple[Ints, Ints, Ints]:
    """List by list: a or b, a and b, a but not b. One pass over the borders of both."""
    n = len(a_off)
    total = 0
    for k in range(n):
        total += a_len[k] + b_len[k] + 1
    out = np.empty((total, 2), np.int64)
    offsets = np.empty(n, np.int64)
    lengths = np.empty(n, np.int64)
    used = 0
    for k in range(n):
        offsets[k] = used
        i, i_end = a_off[k], a_off[k] + a_len[k]
        j, j_end = b_off[k], b_off[k] + b_len[k]
        in_a = in_b = on = False
        while i < i_end or j < j_end:
            ta = OPEN
            if i < i_end:
                ta = a[i, 1] if in_a else a[i, 0]
            tb = OPEN
            if j < j_end:
                tb = b[j, 1] if in_b else b[j, 0]
            t = min(ta, tb)
            if t == OPEN:
                break
            if i < i_end and ta == t:
                if in_a:
                    i += 1
                in_a = not in_a
            if j < j_end and tb == t:
                if in_b:
                    j += 1
                in_b = not in_b
            if op == UNION:
                now = in_a or in_b
            elif op == INTERSECTION:
                now = in_a and in_b
            else:
                now = in_a and not in_b
            if now and not on:
                out[used, 0] = t
                out[used, 1] = OPEN
                on = True
            elif on and not now:
                out[used, 1] = t
                used += 1
                on = False
        if on:
            used += 1
        lengths[k] = used - offsets[k]
    return offsets, lengths, out


@njit(cache=True)
def with_value(
    table: Places,
    pool: Ints,
    ids: Ints,
    values: Ints,
    lows: Ints,
    highs: Ints,
    whole: bool,
) -> tuple[Ints, Ints, Ints]:
    """The intervals of list ids[k] that have values[k], cut to [lows[k], highs[k]), or `whole`: all that meet or touch
    it. Nothing where the id is -1. Logarithmic in the lists, linear in what is found."""
    n = len(ids)
    firsts = np.empty(n, np.int64)
    total = 0
    for k in range(n):
        if ids[k] >= 0:
            start, end = present(table, ids[k])
            firsts[k] = r = first_from(pool, 1, start, end, lows[k])
            while r < end and pool[r, 0] <= highs[k]:
                r += 1
            total += r - firsts[k]
    out = np.empty((total, 2), np.int64)
    o = np.empty(n, np.int64)
    m = np.empty(n, np.int64)
    used = 0
    for k in range(n):
        o[k] = used
        if ids[k] >= 0:
            r, end = firsts[k], present(table, ids[k])[1]
            while r < end and pool[r, 0] <= highs[k]:
                if pool[r, 2] == values[k]:
                    s, e = pool[r, 0], pool[r, 1]
                    if not whole:
                        s, e = max(s, lows[k]), min(e, highs[k])
                    if s < e:
                        out[used, 0], out[used, 1] = s, e
                        used += 1
                r += 1
        m[k] = used - o[k]
    return o, m, out


@njit(cache=True)
def reach(
    table: Places, pool: Ints, ids: Ints, values: Ints, lows: Ints, highs: Ints
) -> None:
    """Widen [lows[k], highs[k]) to the ends of the intervals of list ids[k], of value values[k], that it meets or
    touches."""
    for k in range(len(ids)):
        if ids[k] < 0:
            continue
        start, end = present(table, ids[k])
        r = first_from(pool, 1, start, end, lows[k])
        low, high = lows[k], highs[k]
        while r < end and pool[r, 0] <= highs[k]:
            if pool[r, 2] == values[k]:
                low, high = min(low, pool[r, 0]), max(high, pool[r, 1])
            r += 1
        lows[k], highs[k] = low, high


@njit(cache=True)
def given_in(
    table: Places,
    pool: Ints,
    ids: Ints,
    longest: Ints,
    lows: Ints,
    highs: Ints,
    horizon: int,
) -> tuple[Ints, Ints, Ints]:
    """The intervals (of any kind, sorted by start, none longer than `longest`) of list ids[k] that meet
    [lows[k], highs[k]), united and cut to it. One that ends after the horizon counts as open."""
    n = len(ids)
    o = np.empty(n, np.int64)
    m = np.empty(n, np.int64)
    out = np.empty((2 * n + 16, 2), np.int64)
    used = 0
    for k in range(n):
        o[k] = used
        start, end = present(table, ids[k])
        r = first_from(pool, 0, start, end, lows[k] - longest[ids[k]])
        while r < end and pool[r, 0] < highs[k]:
            e = OPEN if pool[r, 1] > horizon else pool[r, 1]
            s, e = max(pool[r, 0], lows[k]), min(e, highs[k])
            r += 1
            if s >= e:
                continue
            if used > o[k] and s <= out[used - 1, 1]:
                out[used - 1, 1] = max(out[used - 1, 1], e)
            else:
                out = widened(out, used + 1)
                out[used, 0], out[used, 1] = s, e
                used += 1
        m[k] = used - o[k]
    return o, m, out


@njit(cache=True)
def _related(relation: int, s1: int, e1: int, s2: int, e2: int, tick: int) -> bool:
    last = e1 if e1 == OPEN else e1 - tick
    if last < s2:
        return relation == BEFORE
    if s1 == s2:
        if e1 == e2:
            return relation == EQUAL
        return e1 < e2 and relation == STARTS
    if s1 > s2:
        if e1 == e2:
            return relation == FINISHES
        return e1 < e2 and relation == DURING
    if e1 < e2:
        return relation == (MEETS if last == s2 else OVERLAPS)
    return False


@njit(cache=True)
def allen(
    relation: int,
    pick: int,
    a_off: Ints,
    a_len: Ints,
    a: Ints,
    b_off: Ints,
    b_len: Ints,
    b: Ints,
    tick: int,
) -> tuple[Ints, Ints, Ints]:
    """The intervals of a (pick 0) or of b (pick 1) that stand in the relation, a to b, with one of the other list."""
    n = len(a_off)
    total = 0
    for k in range(n):
        total += a_len[k] if pick == 0 else b_len[k]
    out = np.empty((total, 2), np.int64)
    o = np.empty(n, np.int64)
    m = np.empty(n, np.int64)
    used = 0
    for k in range(n):
        o[k] = used
        x_off, x_len, x = (a_off[k], a_len[k], a) if pick == 0 else (b_off[k], b_len[k], b)
        y_off, y_len, y = (b_off[k], b_len[k], b) if pick == 0 else (a_off[k], a_len[k], a)
        for i in range(x_off, x_off + x_len):
            for j in range(y_off, y_off + y_len):
                if pick == 0:
                    hit = _related(relation, x[i, 0], x[i, 1], y[j, 0], y[j, 1], tick)
                else:
                    hit = _related(relation, y[j, 0], y[j, 1], x[i, 0], x[i, 1], tick)
                if hit:
                    out[used, 0], out[used, 1] = x[i, 0], x[i, 1]
                    used += 1
                    break
        m[k] = used - o[k]
    return o, m, out


@njit(cache=True)
def unite_groups(starts: Ints, offsets: Ints, lengths: Ints, pool: Ints) -> tuple[Ints, Ints, Ints]:
    """The union of the lists starts[g] .. starts[g+1]-1 of each group. Groups are small: repeated merging."""
    groups = len(starts) - 1
    total = 0
    for k in range(len(offsets)):
        total += lengths[k]
    out = np.empty((total, 2), np.int64)
    o = np.empty(groups, np.int64)
    m = np.empty(groups, np.int64)
    used = 0
    for g in range(groups):
        o[g] = used
        first, last = starts[g], starts[g + 1]
        heads = offsets[first:last].copy()
        while True:
            best = -1
            for k in range(last - first):
                if heads[k] < offsets[first + k] + lengths[first + k]:
                    if best < 0 or pool[heads[k], 0] < pool[heads[best], 0]:
                        best = k
            if best < 0:
                break
            s, e = pool[heads[best], 0], pool[heads[best], 1]
            heads[best] += 1
            if used > o[g] and s <= out[used - 1, 1]:
                out[used - 1, 1] = max(out[used - 1, 1], e)
            else:
                out[used, 0], out[used, 1] = s, e
                used += 1
        m[g] = used - o[g]
    return o, m, out


@njit(cache=True)
def unite_sorted(starts: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The union of the intervals rows[starts[g]:starts[g+1]] of each group, given sorted by start."""
    groups = len(starts) - 1
    out = np.empty((len(rows), 2), np.int64)
    o = np.empty(groups, np.int64)
    m = np.empty(groups, np.int64)
    used = 0
    for g in range(groups):
        o[g] = used
        for r in range(starts[g], starts[g + 1]):
            if used > o[g] and rows[r, 0] <= out[used - 1, 1]:
                out[used - 1, 1] = max(out[used - 1, 1], rows[r, 1])
            else:
                out[used, 0], out[used, 1] = rows[r, 0], rows[r, 1]
                used += 1
        m[g] = used - o[g]
    return o, m, out


@njit(cache=True)
def splice(
    table: Places,
    pool: Ints,
    ids: Ints,
    lows: Ints,
    highs: Ints,
    n_off: Ints,
    n_len: Ints,
    new: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:
    """What becomes of the lists `ids` when what lies in [lows[k], highs[k]) is replaced by that part of the new lists:
    how many intervals stay, and the others (for `Ragged.replace`). Linear in the new lists and in what stands behind
    lows[k]."""
    kept = np.empty(len(ids), np.int64)
    froms = np.empty(len(ids), np.int64)
    tos = np.empty(len(ids), np.int64)
    out = np.empty((len(new) + 2 * len(ids) + 16, 3), np.int64)
    n = 0
    for k in range(len(ids)):
        start, end = present(table, ids[k])
        low, high = lows[k], highs[k]
        r = first_from(pool, 1, start, end, low)
        first = n
        keep = r - start
        out = widened(out, n + end - r + n_len[k] + 2)
        if r < end and pool[r, 0] < low:
            out[n, 0], out[n, 1], out[n, 2] = pool[r, 0], low, 0
            n += 1
        for a in range(n_off[k], n_off[k] + n_len[k]):
            s, e = max(new[a, 0], low), min(new[a, 1], high)
            if s >= e:
                continue
            if n > first and out[n - 1, 1] == s:
                out[n - 1, 1] = e
            else:
                out[n, 0], out[n, 1], out[n, 2] = s, e, 0
                n += 1
        while r < end:
            s, e = max(pool[r, 0], high), pool[r, 1]
            r += 1
            if s >= e:
                continue
            if n > first and out[n - 1, 1] == s:
                out[n - 1, 1] = e
            else:
                out[n, 0], out[n, 1], out[n, 2] = s, e, 0
                n += 1
        r = start + keep
        while r < end and first < n and out[first, 0] == pool[r, 0] and out[first, 1] == pool[r, 1]:
            first += 1
            r += 1
        kept[k], froms[k], tos[k] = r - start, first, n
    return kept, froms, tos, out
