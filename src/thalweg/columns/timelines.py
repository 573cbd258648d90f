"""Kernels over timelines: lists of (start, end, value) per instance, sorted, disjoint, maximal.

A timeline is built from points (time, kind, value, count) of one instance; see SEMANTICS 1.1. Ends are exclusive;
`OPEN` stands for no end. All kernels are linear in the lists they touch.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from thalweg.protocol import Ints

OPEN = np.int64(2**63 - 1)
GREET = -1
"""Initiation by ``initially``: like any other, but no rule sees it as an effect."""
INITIATE = 0
TERMINATE = 1
TERMINATE_ALL = 2


@njit(cache=True)
def next_value(pool: Ints, lo: int, hi: int, held: bool, value: int) -> tuple[bool, int]:
    """Value after the points pool[lo:hi] of one time-point: (holds, value). Columns 1, 2: kind, value."""
    others = False  # an initiation of another value than `value`
    ended = False
    n_values = 0  # distinct initiated values, counted up to two
    chosen = 0
    all_ended = False
    for k in range(lo, hi):
        kind, v = pool[k, 1], pool[k, 2]
        if kind <= INITIATE:
            if n_values == 0:
                n_values = 1
                chosen = v
            elif v != chosen:
                n_values = 2
            if v != value:
                others = True
        elif kind == TERMINATE:
            if v == value:
                ended = True
        else:
            all_ended = True
    if held and not (ended or others or all_ended):
        return True, value
    if n_values != 1 or all_ended:
        return False, 0
    for k in range(lo, hi):
        if pool[k, 1] == TERMINATE and pool[k, 2] == chosen:
            return False, 0
    return True, chosen


@njit(cache=True)
def rebuild_need(
    points_length: Ints, lengths: Ints, ids: Ints
) -> int:
    """Upper bound of rows that `rebuild` writes."""
    total = 0
    for k in range(len(ids)):
        total += lengths[ids[k]] + points_length[ids[k]] + 2
    return total


@njit(cache=True)
def rebuild(
    p_offsets: Ints,
    p_lengths: Ints,
    points: Ints,
    offsets: Ints,
    lengths: Ints,
    rooms: Ints,
    pool: Ints,
    used: int,
    ids: Ints,
    first: Ints,
    last: Ints,
    expiry: int,
    tick: int,
) -> int:
    """New timelines of the instances `ids`, whose points changed between first[k] and last[k] inclusive.

    Intervals that started by first[k] are kept, the points from there on are replayed, and once past last[k] with the
    state as it was, the rest of the old list is copied. `offsets`/`lengths` are the 3-version tables; row 2 is written.
    """
    for k in range(len(ids)):
        i = ids[k]
        old, n_old = offsets[2, i], lengths[2, i]
        p, p_end = p_offsets[i], p_offsets[i] + p_lengths[i]
        out = used
        n = 0
        a = 0
        while a < n_old and pool[old + a, 0] <= first[k]:
            if pool[old + a, 1] > expiry:
                for c in range(3):
                    pool[out + n, c] = pool[old + a, c]
                n += 1
            a += 1
        held, value, since = False, 0, 0
        if n > 0 and pool[out + n - 1, 1] > first[k]:
            n -= 1
            held = True
            since = pool[out + n, 0]
            value = pool[out + n, 2]
        lo, hi = p, p_end
        while lo < hi:
            mid = (lo + hi) >> 1
            if points[mid, 0] < first[k]:
                lo = mid + 1
            else:
                hi = mid
        joined = False
        while lo < p_end:
            t = points[lo, 0]
            if t > last[k]:
                # the old state at t: the interval of the old list that covers t, if any
                while a < n_old and pool[old + a, 1] <= t:
                    a += 1
                # `a` may have stopped before an interval that began by first[k]; step back to look at it
                b = a
                if b > 0 and pool[old + b - 1, 0] <= t and pool[old + b - 1, 1] > t:
                    b -= 1
                covers = b < n_old and pool[old + b, 0] <= t and pool[old + b, 1] > t
                if covers == held and (not held or pool[old + b, 2] == value):
                    if held:
                        pool[out + n, 0] = since
                        pool[out + n, 1] = pool[old + b, 1]
                        pool[out + n, 2] = value
                        n += 1
                        b += 1
                    while b < n_old and pool[old + b, 0] <= t:
                        b += 1
                    while b < n_old:
                        for c in range(3):
                            pool[out + n, c] = pool[old + b, c]
                        n += 1
                        b += 1
                    joined = True
                    break
            nxt = lo
            while nxt < p_end and points[nxt, 0] == t:
                nxt += 1
            now_held, now_value = next_value(points, lo, nxt, held, value)
            if held and (not now_held or now_value != value):
                pool[out + n, 0] = since
                pool[out + n, 1] = t + tick
                pool[out + n, 2] = value
                n += 1
                held = False
            if now_held and not held:
                held = True
                value = now_value
                since = t + tick
            lo = nxt
        if held and not joined:
            pool[out + n, 0] = since
            pool[out + n, 1] = OPEN
            pool[out + n, 2] = value
            n += 1
        offsets[2, i] = out
        lengths[2, i] = n
        rooms[i] = n
        used += n
    return used


@njit(cache=True)
def truncate(offsets: Ints, lengths: Ints, rooms: Ints, pool: Ints, used: int, count: int, final: int) -> int:
    """Timelines as they would be if nothing happened after `final`: what holds then holds on. The last two versions
    are written; linear in all lists."""
    for i in range(count):
        out = used
        n = 0
        for r in range(offsets[2, i], offsets[2, i] + lengths[2, i]):
            if pool[r, 0] > final:
                break
            for c in range(3):
                pool[out + n, c] = pool[r, c]
            if pool[r, 1] > final:
                pool[out + n, 1] = OPEN
            n += 1
        for v in range(1, 3):
            offsets[v, i] = out
            lengths[v, i] = n
        rooms[i] = n
        used += n
    return used


@njit(cache=True)
def covering(offsets: Ints, lengths: Ints, pool: Ints, ids: Ints, times: Ints, out: Ints) -> None:
    """Pool position of the interval of list ids[k] that covers times[k], or -1. Adaptive: amortised constant when
    consecutive rows ask the same list in time order."""
    at = np.int64(0)
    current = np.int64(-2)
    for k in range(len(ids)):
        i = ids[k]
        if i < 0 or lengths[i] == 0:
            out[k] = -1
            continue
        start = offsets[i]
        end = start + lengths[i]
        t = times[k]
        if i != current:
            current = i
            at = start
            if end - start > 16:
                lo, hi = start, end
                while lo < hi:
                    mid = (lo + hi) >> 1
                    if pool[mid, 1] <= t:
                        lo = mid + 1
                    else:
                        hi = mid
                at = lo
        elif at > start and pool[at - 1, 1] > t:
            at = start
        while at < end and pool[at, 1] <= t:
            at += 1
        out[k] = at if at < end and pool[at, 0] <= t else -1


@njit(cache=True)
def edge_at(
    offsets: Ints, lengths: Ints, pool: Ints, ids: Ints, times: Ints, column: int, tick: int, out: Ints
) -> None:
    """Pool position of the interval of list ids[k] whose start (column 0) or end (1) is times[k] + tick, or -1."""
    for k in range(len(ids)):
        out[k] = -1
        i = ids[k]
        if i < 0:
            continue
        lo = offsets[i]
        end = lo + lengths[i]
        hi = end
        while lo < hi:
            mid = (lo + hi) >> 1
            if pool[mid, column] < times[k] + tick:
                lo = mid + 1
            else:
                hi = mid
        if lo < end and pool[lo, column] == times[k] + tick:
            out[k] = lo


@njit(cache=True)
def edges_in(
    offsets: Ints,
    lengths: Ints,
    pool: Ints,
    ids: Ints,
    froms: Ints,
    tos: Ints,
    column: int,
    tick: int,
    out: Ints,
    which: Ints,
) -> int:
    """Like `Ragged.ranges`, for edges: positions of intervals of list ids[k] with an edge in [froms[k], tos[k])."""
    n = 0
    for k in range(len(ids)):
        i = ids[k]
        if i < 0:
            continue
        for at in range(offsets[i], offsets[i] + lengths[i]):
            t = pool[at, column]
            if t != OPEN and froms[k] <= t - tick < tos[k]:
                if len(out):
                    out[n] = at
                    which[n] = k
                n += 1
    return n


@njit(cache=True)
def differences(
    old_offsets: Ints,
    old_lengths: Ints,
    offsets: Ints,
    lengths: Ints,
    pool: Ints,
    ids: Ints,
    expiry: int,
    removed: Ints,
    added: Ints,
    dirty: Ints,
) -> tuple[int, int, int]:
    """What changed between two versions of the lists `ids`.

    `removed` and `added` receive (k, pool position) of intervals; `dirty` receives (k, from, to): the stretches where
    the value differs. Intervals that ended by the expiry are not compared. With empty outputs only counts.
    """
    n_removed = n_added = n_dirty = 0
    write = len(removed) > 0 or len(added) > 0 or len(dirty) > 0
    for k in range(len(ids)):
        i = ids[k]
        a, a_end = old_offsets[i], old_offsets[i] + old_lengths[i]
        b, b_end = offsets[i], offsets[i] + lengths[i]
        while a < a_end and pool[a, 1] <= expiry:
            a += 1
        while b < b_end and pool[b, 1] <= expiry:
            b += 1
        x, y = a, b
        while x < a_end or y < b_end:
            if (
                x < a_end
                and y < b_end
                and pool[x, 0] == pool[y, 0]
                and pool[x, 1] == pool[y, 1]
                and pool[x, 2] == pool[y, 2]
            ):
                x += 1
                y += 1
            elif y >= b_end or (
                x < a_end
                and (
                    pool[x, 0] < pool[y, 0]
                    or (
                        pool[x, 0] == pool[y, 0]
                        and (pool[x, 1] < pool[y, 1] or (pool[x, 1] == pool[y, 1] and pool[x, 2] < pool[y, 2]))
                    )
                )
            ):
                if write:
                    removed[n_removed, 0] = k
                    removed[n_removed, 1] = x
                n_removed += 1
                x += 1
            else:
                if write:
                    added[n_added, 0] = k
                    added[n_added, 1] = y
                n_added += 1
                y += 1
        # stretches where the two step functions differ
        t = np.int64(-(2**62))
        open_dirty = False
        while a < a_end or b < b_end:
            a_on = a < a_end and pool[a, 0] <= t
            b_on = b < b_end and pool[b, 0] <= t
            nxt = OPEN
            if a < a_end:
                nxt = min(nxt, pool[a, 1] if a_on else pool[a, 0])
            if b < b_end:
                nxt = min(nxt, pool[b, 1] if b_on else pool[b, 0])
            differ = a_on != b_on or (a_on and pool[a, 2] != pool[b, 2])
            if differ:
                if open_dirty:
                    if write:
                        dirty[n_dirty - 1, 2] = nxt
                else:
                    if write:
                        dirty[n_dirty, 0] = k
                        dirty[n_dirty, 1] = t
                        dirty[n_dirty, 2] = nxt
                    n_dirty += 1
                    open_dirty = True
            else:
                open_dirty = False
            if nxt == OPEN:
                break
            t = nxt
            if a < a_end and pool[a, 1] <= t:
                a += 1
            if b < b_end and pool[b, 1] <= t:
                b += 1
    return n_removed, n_added, n_dirty
