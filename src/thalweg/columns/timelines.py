"""Kernels over timelines: lists of (start, end, value) per instance, sorted, disjoint, maximal.

A timeline is built from points (time, kind, value, count) of one instance; see SEMANTICS 1.1. Ends are exclusive;
`OPEN` stands for no end. All kernels are linear in the lists they touch.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.slabs import LENGTH, OFFSET, ROOM, Places, first_from, place, remember_all, widened
from thalweg.protocol import Ints

OPEN = np.int64(2**63 - 1)
GREET = -1
"""Initiation by ``initially``: like any other, but no rule sees it as an effect."""
INITIATE = 0
TERMINATE = 1
TERMINATE_ALL = 2
DISPLACE = 3
"""Termination of all values by another, which no grounding gives and does not hold; no rule sees it as an effect."""


@part
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


@part
def live(pool: Ints, start: int, end: int, expiry: int) -> int:
    """The first row of a list that has not expired; those that have stand first, and are most."""
    while end > start and pool[end - 1, 1] > expiry:
        end -= 1
    return end


@part
def rows_before(rows: Ints, start: int, length: int, time: int) -> int:
    """How many rows of a list have a first column before the time."""
    return first_from(rows, 0, start, start + length, time) - start


@part
def _before_from_behind(rows: Ints, start: int, length: int, time: int) -> int:
    """`rows_before`, where few rows are not: a search that widens from behind."""
    reach = 1
    while reach < length and rows[start + length - reach, 0] >= time:
        reach *= 2
    skipped = max(0, length - reach)
    return skipped + rows_before(rows, start + skipped, length - skipped, time)


@njit(cache=True)
def rebuild(
    p_starts: Ints,
    p_ends: Ints,
    points: Ints,
    table: Places,
    pool: Ints,
    ids: Ints,
    first: Ints,
    last: Ints,
    until: Ints,
    tick: int,
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """New timelines of the instances `ids`, whose points are points[p_starts[k]:p_ends[k]] and changed between first[k]
    and last[k] inclusive: each instance once, how many intervals stay, and the others (for `Ragged.replace`). Points
    after until[k], where given, are left out: the timeline is known to be the old one there. So an instance may be
    there several times, one behind the other, for changes that are far apart.

    Intervals that started by first[k] stay, the points from there on are replayed, and once past last[k] with the state
    as it was, the old list follows. Linear in the points and intervals from first[k] on.
    """
    changed, kept = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    froms, tos = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    out = np.empty((2 * len(ids) + 16, 3), np.int64)
    n = a = 0
    m = -1
    for k in range(len(ids)):
        i = ids[k]
        old, n_old = int(table[i, OFFSET]), int(table[i, LENGTH])
        p, p_end = p_starts[k], p_ends[k]
        lo = p + _before_from_behind(points, p, p_end - p, first[k])
        out = widened(out, n + n_old + p_end - lo + 2)
        held, value, since = False, 0, 0
        if k > 0 and ids[k - 1] == i:
            while a < n_old and pool[old + a, 0] <= first[k]:
                for c in range(3):
                    out[n, c] = pool[old + a, c]
                n += 1
                a += 1
            if n > froms[m] and out[n - 1, 1] > first[k]:
                n -= 1
                held, since, value = True, int(out[n, 0]), int(out[n, 2])
        else:
            m += 1
            changed[m], froms[m] = i, n
            a = _before_from_behind(pool, old, n_old, first[k] + 1)
            kept[m] = a
            if a > 0 and pool[old + a - 1, 1] > first[k]:
                kept[m] = a - 1
                held, since, value = True, int(pool[old + a - 1, 0]), int(pool[old + a - 1, 2])
        joined = False
        ahead = OPEN if len(until) == 0 or until[k] == OPEN else until[k] + tick
        while lo < p_end or ahead != OPEN:
            t = int(points[lo, 0]) if lo < p_end else int(ahead)
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
                        out[n, 0], out[n, 1], out[n, 2] = since, pool[old + b, 1], value
                        n += 1
                        b += 1
                    while b < n_old and pool[old + b, 0] <= t:
                        b += 1
                    a = b
                    joined = True
                    break
            if lo == p_end:
                break
            nxt = lo
            while nxt < p_end and points[nxt, 0] == t:
                nxt += 1
            now_held, now_value = next_value(points, lo, nxt, held, value)
            if held and (not now_held or now_value != value):
                out[n, 0], out[n, 1], out[n, 2] = since, t + tick, value
                n += 1
                held = False
            if now_held and not held:
                held = True
                value = now_value
                since = t + tick
            lo = nxt
        if held and not joined:
            out[n, 0], out[n, 1], out[n, 2] = since, OPEN, value
            n += 1
        if k + 1 == len(ids) or ids[k + 1] != i:
            while joined and a < n_old:
                for c in range(3):
                    out[n, c] = pool[old + a, c]
                n += 1
                a += 1
            tos[m] = n
    m += 1
    return changed[:m], kept[:m], froms[:m], tos[:m], out


@kernel
def truncate(table: Places, past: Places, pool: Ints, used: int, count: int, final: int) -> int:
    """Timelines as they would be if nothing happened after `final`: what holds then holds on. The base stays; linear in
    all lists."""
    for i in range(count):
        remember_all(table, past, i)
        n = 0
        for r in range(table[i, OFFSET], table[i, OFFSET] + table[i, LENGTH]):
            if pool[r, 0] > final:
                break
            for c in range(3):
                pool[used + n, c] = pool[r, c]
            if pool[r, 1] > final:
                pool[used + n, 1] = OPEN
            n += 1
        table[i, OFFSET], table[i, LENGTH], table[i, ROOM] = used, n, n
        used += n
    return used


@part
def ending_after(pool: Ints, start: int, end: int, time: int) -> int:
    """The first row of a list that ends after the time."""
    while start < end:
        mid = (start + end) >> 1
        if pool[mid, 1] <= time:
            start = mid + 1
        else:
            end = mid
    return start


@part
def _covering(table: Places, past: Places, version: int, pool: Ints, i: int, t: int) -> int:
    """Pool position of the interval of list i that covers t, or -1."""
    start, count, rest, more = place(table, past, version, i)
    if more and pool[rest, 0] <= t:
        start, count = rest, more
    end = start + count
    at = ending_after(pool, start, end, t)
    return at if at < end and pool[at, 0] <= t else -1


@part
def _further(pool: Ints, cursors: Ints, i: int, t: int) -> int:
    """`_covering` for a list that was last asked for an earlier time."""
    at, end = cursors[i, 0], cursors[i, 1]
    near = min(at + 8, end)
    while at < near and pool[at, 1] <= t:
        at += 1
    if at == near:
        at = ending_after(pool, at, end, t)
    cursors[i, 0], cursors[i, 2] = at, t
    return int(at) if at < end and pool[at, 0] <= t else -1


@kernel
def holding(
    table: Places,
    past: Places,
    version: int,
    pool: Ints,
    ids: Ints,
    times: Ints,
    wanted: Ints,
    negated: bool,
    cursors: Ints,
    rows: Ints,
    values: Ints,
) -> int:
    """Rows k at which list ids[k] has the wanted value (one for all, one for each, or any where none is given) at
    times[k], or with `negated` has not; returns how many. `values` gets the values, where there is room for them.
    Logarithmic per row; with room for `cursors`, a row for each list, constant where a list is asked in the order of
    time: where it was asked last, where it ends, and for what time, which no list in two parts is later than."""
    for i in range(len(cursors)):
        start, count, _, more = place(table, past, version, i)
        cursors[i, 0], cursors[i, 1], cursors[i, 2] = start, start + count, OPEN if more else -OPEN
    step = 0 if len(wanted) == 1 else 1
    n = 0
    for k in range(len(ids)):
        i, t = ids[k], times[k]
        if i < 0:
            at = -1
        elif len(cursors) and t >= cursors[i, 2]:
            at = _further(pool, cursors, i, t)
        else:
            at = _covering(table, past, version, pool, i, t)
        hit = at >= 0 and (len(wanted) == 0 or pool[at, 2] == wanted[k * step])
        rows[n] = k  # stays where it is a hit; without a branch, which nobody could predict
        if len(values):
            values[n] = pool[max(at, 0), 2]
        n += int(hit != negated)
    return n


@kernel
def edge_at(
    table: Places,
    past: Places,
    version: int,
    pool: Ints,
    ids: Ints,
    times: Ints,
    column: int,
    tick: int,
    out: Ints,
) -> None:
    """Pool position of the interval of list ids[k] whose start (column 0) or end (1) is times[k] + tick, or -1."""
    for k in range(len(ids)):
        out[k] = -1
        i = ids[k]
        if i < 0:
            continue
        wanted = times[k] + tick
        start, count, rest, more = place(table, past, version, i)
        if more and pool[rest, column] <= wanted:
            start, count = rest, more
        at = first_from(pool, column, start, start + count, wanted)
        if at < start + count and pool[at, column] == wanted:
            out[k] = at


@kernel
def edges_in(
    table: Places,
    past: Places,
    version: int,
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
        start, count, rest, more = place(table, past, version, i)
        for nth in range(2 if more else 1):
            if nth:
                start, count = rest, more
            at = first_from(pool, column, start, start + count, froms[k] + tick)
            while at < start + count and pool[at, column] != OPEN and pool[at, column] - tick < tos[k]:
                if len(out):
                    out[n] = at
                    which[n] = k
                n += 1
                at += 1
    return n
