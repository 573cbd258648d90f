"""Kernels that change the labels of many tuples at once; each writes the difference it made as (id, from, to)."""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import njit
from thalweg.lars.labels import COUNT, HI, LO, NEXT, add, gather, subtract, take, write
from thalweg.lars.tuples import Links, hash_row, link, slot_from, slot_of
from thalweg.lars.windows import clip
from thalweg.protocol import Ints

_NEAR = 16384
"""Tables with more slots than this leave the cache that is nearest to the processor."""


@njit(cache=True)
def absorb(
    keys: Ints,
    lab: Ints,
    nodes: Ints,
    table: Links,
    meta: Ints,
    chain: Links,
    heads: Links,
    wanted: Ints,
    source: Ints,
    pieces: Ints,
    columns: Ints,
    window: Ints,
    horizon: int,
    out: Ints,
) -> int:
    """Unite tuples taken from columns of `source` with pieces (row of source, from, to); new parts go to `out`.

    This is `enter` and `add`, written out: calls that pass many arrays cost more than they do. In a large table, where
    the rows stand is looked up for all of them before any is used (and forgotten: it is about to change), because a
    processor waits as long for many places in memory as for one.
    """
    n = 0
    width = len(columns)
    row = np.empty(width, np.int64)
    mask = len(table) - 1
    before = meta[COUNT]
    far = len(table) > _NEAR
    slots = np.empty(len(pieces) if far else 0, np.int64)
    for k in range(len(slots)):
        for c in range(width):
            row[c] = source[pieces[k, 0], columns[c]]
        slots[k] = hash_row(row) & mask
        out[k, 0] = table[slots[k]]
    for k in range(len(pieces)):
        i = pieces[k, 0]
        s = pieces[k, 1]
        e = pieces[k, 2]
        if window[0] != 0:
            s, e = clip(window, source[i, window[1]], s, e)
        if s > e or e < horizon:
            continue
        for c in range(width):
            row[c] = source[i, columns[c]]
        at = slot_from(keys, table, row, slots[k] if far else hash_row(row) & mask)
        t = table[at] - 1
        if t < 0:
            t = meta[COUNT]
            meta[COUNT] = t + 1
            table[at] = t + 1
            for c in range(width):
                keys[t, c] = row[c]
            lab[t, NEXT] = -1
        elif lab[t, LO] <= lab[t, HI]:
            if lab[t, LO] <= s and e <= lab[t, HI]:
                continue
            n = add(lab, nodes, meta, t, s, e, horizon, out, n)
            continue
        lab[t, LO] = s
        lab[t, HI] = e
        out[n, 0] = t
        out[n, 1] = s
        out[n, 2] = e
        n += 1
    link(keys, chain, heads, wanted, before, meta[COUNT])
    return n


@njit(cache=True)
def strike(
    keys: Ints,
    lab: Ints,
    nodes: Ints,
    table: Links,
    meta: Ints,
    ghosts: Ints,
    source: Ints,
    pieces: Ints,
    columns: Ints,
    window: Ints,
    out: Ints,
) -> int:
    """Take pieces (row of source, from, to) out of the labels of their tuples; what was in goes to `out`."""
    n = 0
    width = len(columns)
    row = np.empty(width, np.int64)
    for k in range(len(pieces)):
        i = pieces[k, 0]
        s = pieces[k, 1]
        e = pieces[k, 2]
        if window[0] != 0:
            s, e = clip(window, source[i, window[1]], s, e)
        if s > e:
            continue
        for c in range(width):
            row[c] = source[i, columns[c]]
        t = table[slot_of(keys, table, row)] - 1
        if t < 0:
            continue
        before = n
        n = take(lab, nodes, meta, t, s, e, out, n)
        for q in range(before, n):
            ghosts[t, 0] = min(ghosts[t, 0], out[q, 1])
            ghosts[t, 1] = max(ghosts[t, 1], out[q, 2])
    return n


@njit(cache=True)
def replace(
    lab: Ints, nodes: Ints, meta: Ints, ids: Ints, rows: Ints, horizon: int, came: Ints, gone: Ints
) -> tuple[int, int]:
    """Give each tuple of `ids` the label in `rows` (position in ids, from, to; sorted, maximal), from the horizon on.

    What is new goes to `came`, what is no more to `gone`.
    """
    a = 0
    b = 0
    at = 0
    for k in range(len(ids)):
        t = ids[k]
        old = gather(lab, nodes, t)
        end = at
        while end < len(rows) and rows[end, 0] == k:
            end += 1
        kept = np.empty((len(old) + end - at + 1, 2), np.int64)
        m = 0
        for q in range(len(old)):
            if old[q, 0] < horizon:
                kept[m, 0] = old[q, 0]
                kept[m, 1] = min(old[q, 1], horizon - 1)
                m += 1
        for q in range(at, end):
            s = max(rows[q, 1], horizon)
            if s > rows[q, 2]:
                continue
            if m > 0 and kept[m - 1, 1] + 1 >= s:
                kept[m - 1, 1] = rows[q, 2]
            else:
                kept[m, 0] = s
                kept[m, 1] = rows[q, 2]
                m += 1
        a = _difference(t, kept[:m], old, came, a)
        b = _difference(t, old, kept[:m], gone, b)
        write(lab, nodes, meta, t, kept, m)
        at = end
    return a, b


@njit(cache=True)
def _difference(t: int, left: Ints, right: Ints, out: Ints, n: int) -> int:
    """The parts of the sorted intervals `left` that `right` does not cover, appended to `out` as (t, from, to)."""
    q = 0
    for k in range(len(left)):
        s = left[k, 0]
        e = left[k, 1]
        while q < len(right) and right[q, 1] < s:
            q += 1
        p = q
        while p < len(right) and right[p, 0] <= e:
            if right[p, 0] > s:
                out[n, 0] = t
                out[n, 1] = s
                out[n, 2] = right[p, 0] - 1
                n += 1
            s = max(s, right[p, 1] + 1)
            p += 1
        if s <= e:
            out[n, 0] = t
            out[n, 1] = s
            out[n, 2] = e
            n += 1
    return n


@njit(cache=True)
def settle(lab: Ints, nodes: Ints, came: Ints, gone: Ints, plus: Ints, minus: Ints) -> tuple[int, int]:
    """Net change of a round: what came and had not gone before, and what had gone and is not in again.

    `came` and `gone` are sorted by tuple.
    """
    a = 0
    b = 0
    size = len(gone) + 1
    pieces = np.empty((size + len(came) + 8, 2), np.int64)
    at = 0
    for k in range(len(came)):
        t = came[k, 0]
        while at < len(gone) and gone[at, 0] < t:
            at += 1
        pieces[0, 0] = came[k, 1]
        pieces[0, 1] = came[k, 2]
        m = 1
        q = at
        while q < len(gone) and gone[q, 0] == t:
            m = subtract(pieces, m, gone[q, 1], gone[q, 2])
            q += 1
        for p in range(m):
            plus[a, 0] = t
            plus[a, 1] = pieces[p, 0]
            plus[a, 2] = pieces[p, 1]
            a += 1
    for k in range(len(gone)):
        t = gone[k, 0]
        rows = gather(lab, nodes, t)
        left = np.empty((1, 2), np.int64)
        left[0, 0] = gone[k, 1]
        left[0, 1] = gone[k, 2]
        b = _difference(t, left, rows, minus, b)
    return a, b


@njit(cache=True)
def united(rows: Ints, out: Ints) -> int:
    """Rows (id, from, to), sorted, with overlapping and touching ones made one."""
    n = 0
    for k in range(len(rows)):
        if n > 0 and out[n - 1, 0] == rows[k, 0] and rows[k, 1] <= out[n - 1, 2] + 1:
            out[n - 1, 2] = max(out[n - 1, 2], rows[k, 2])
        else:
            out[n] = rows[k]
            n += 1
    return n


@njit(cache=True)
def live(lab: Ints, nodes: Ints, meta: Ints, horizon: int, out: Ints) -> int:
    n = 0
    for i in range(meta[COUNT]):
        lo = lab[i, LO]
        hi = lab[i, HI]
        at = lab[i, NEXT]
        while True:
            if lo <= hi and hi >= horizon:
                out[n, 0] = i
                out[n, 1] = lo
                out[n, 2] = hi
                n += 1
            if at < 0:
                break
            lo = nodes[at, 0]
            hi = nodes[at, 1]
            at = nodes[at, 2]
    return n
