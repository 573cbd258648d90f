"""Kernels over labels: for each tuple of a store, the sorted, disjoint, never touching intervals of ticks at which
it is in. Both ends are included; an end of `FOREVER` says "until further input".

A store keeps the first interval of every tuple inline (`lab`) and further ones as a linked list in `nodes`, because
almost every label is one interval. `meta` holds the number of tuples, of nodes used, and the head of the list
of free nodes. Callers make room for one more node per piece before they call.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.protocol import Ints

FOREVER = 2**62
"""The end of a label that lasts until further input."""

LO, HI, NEXT = range(3)
"""Columns of `lab`."""
COUNT, USED, FREE = range(3)
"""Cells of `meta`."""


@njit(cache=True)
def new_node(nodes: Ints, meta: Ints, lo: int, hi: int, following: int) -> int:
    """A node for the interval, from the free list where there is one."""
    at: int = meta[FREE]
    if at >= 0:
        meta[FREE] = nodes[at, 2]
    else:
        at = meta[USED]
        meta[USED] += 1
    nodes[at, 0] = lo
    nodes[at, 1] = hi
    nodes[at, 2] = following
    return at


@njit(cache=True)
def gather(lab: Ints, nodes: Ints, i: int) -> Ints:
    """The intervals of tuple i as rows; none where the label is empty."""
    n = 0 if lab[i, LO] > lab[i, HI] else 1
    at = lab[i, NEXT]
    while at >= 0:
        n += 1
        at = nodes[at, 2]
    out = np.empty((n, 2), np.int64)
    if n > 0:
        out[0, 0] = lab[i, LO]
        out[0, 1] = lab[i, HI]
    at = lab[i, NEXT]
    for k in range(1, n):
        out[k, 0] = nodes[at, 0]
        out[k, 1] = nodes[at, 1]
        at = nodes[at, 2]
    return out


@njit(cache=True)
def write(lab: Ints, nodes: Ints, meta: Ints, i: int, rows: Ints, n: int) -> None:
    """Give tuple i these n intervals."""
    at = lab[i, NEXT]
    while at >= 0:
        following = nodes[at, 2]
        nodes[at, 2] = meta[FREE]
        meta[FREE] = at
        at = following
    following = -1
    for k in range(n - 1, 0, -1):
        following = new_node(nodes, meta, rows[k, 0], rows[k, 1], following)
    lab[i, NEXT] = following
    lab[i, LO] = rows[0, 0] if n > 0 else 1
    lab[i, HI] = rows[0, 1] if n > 0 else 0


@njit(cache=True)
def add(lab: Ints, nodes: Ints, meta: Ints, i: int, s: int, e: int, horizon: int, out: Ints, n: int) -> int:
    """Unite the label of tuple i with [s, e]; the parts that are new are appended to `out` as (i, from, to).

    Intervals that ended before the horizon are forgotten on the way. Returns the new length of `out`.
    """
    lo = lab[i, LO]
    hi = lab[i, HI]
    if lo > hi or (lab[i, NEXT] < 0 and hi < horizon - 1 and s > hi + 1):
        lab[i, LO] = s
        lab[i, HI] = e
        out[n, 0] = i
        out[n, 1] = s
        out[n, 2] = e
        return n + 1
    if lab[i, NEXT] < 0 and s <= hi + 1 and e >= lo - 1:
        if s < lo:
            out[n, 0] = i
            out[n, 1] = s
            out[n, 2] = lo - 1
            n += 1
            lab[i, LO] = s
        if e > hi:
            out[n, 0] = i
            out[n, 1] = hi + 1
            out[n, 2] = e
            n += 1
            lab[i, HI] = e
        return n
    rows = gather(lab, nodes, i)
    merged = np.empty((len(rows) + 1, 2), np.int64)
    m = 0
    start = s
    end = e
    uncovered = s
    placed = False
    for k in range(len(rows)):
        lo = rows[k, 0]
        hi = rows[k, 1]
        if hi < start - 1:
            if hi >= horizon - 1:
                merged[m, 0] = lo
                merged[m, 1] = hi
                m += 1
        elif lo > end + 1:
            if not placed:
                merged[m, 0] = start
                merged[m, 1] = end
                m += 1
                placed = True
            merged[m, 0] = lo
            merged[m, 1] = hi
            m += 1
        else:
            if uncovered < lo and uncovered <= e:
                out[n, 0] = i
                out[n, 1] = uncovered
                out[n, 2] = min(lo - 1, e)
                n += 1
            uncovered = max(uncovered, hi + 1)
            start = min(start, lo)
            end = max(end, hi)
    if uncovered <= e:
        out[n, 0] = i
        out[n, 1] = uncovered
        out[n, 2] = e
        n += 1
    if not placed:
        merged[m, 0] = start
        merged[m, 1] = end
        m += 1
    write(lab, nodes, meta, i, merged, m)
    return n


@njit(cache=True)
def take(lab: Ints, nodes: Ints, meta: Ints, i: int, s: int, e: int, out: Ints, n: int) -> int:
    """Take [s, e] out of the label of tuple i; the parts that were in are appended to `out` as (i, from, to)."""
    rows = gather(lab, nodes, i)
    left = np.empty((len(rows) + 1, 2), np.int64)
    m = 0
    for k in range(len(rows)):
        lo = rows[k, 0]
        hi = rows[k, 1]
        if hi < s or lo > e:
            left[m, 0] = lo
            left[m, 1] = hi
            m += 1
            continue
        if lo < s:
            left[m, 0] = lo
            left[m, 1] = s - 1
            m += 1
        if hi > e:
            left[m, 0] = e + 1
            left[m, 1] = hi
            m += 1
        out[n, 0] = i
        out[n, 1] = max(lo, s)
        out[n, 2] = min(hi, e)
        n += 1
    write(lab, nodes, meta, i, left, m)
    return n


@njit(cache=True)
def subtract(pieces: Ints, m: int, lo: int, hi: int) -> int:
    """Take [lo, hi] out of the first m rows (from, to) of `pieces`; returns how many rows are left.

    `pieces` must have room for one more row.
    """
    kept = 0
    split = False
    rest = 0
    rest_end = 0
    for k in range(m):
        s = pieces[k, 0]
        e = pieces[k, 1]
        inside = False
        if hi < s or lo > e:
            inside = True
        elif lo > s:
            if hi < e:
                split = True
                rest = hi + 1
                rest_end = e
            e = lo - 1
            inside = True
        elif hi < e:
            s = hi + 1
            inside = True
        if inside:
            pieces[kept, 0] = s
            pieces[kept, 1] = e
            kept += 1
    if split:
        pieces[kept, 0] = rest
        pieces[kept, 1] = rest_end
        kept += 1
    return kept
