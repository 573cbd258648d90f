"""Kernels for windows that do not overlap: lists are written once, in order, at the end of the pool.

In such windows nothing that is stored is revised, but for the interval that runs on from the window before. So the
lists that change are written straight to where they will be read, instead of being made beside and then put in; only
what has not expired goes with them. Ids ascend. A kernel that finds the pool full says how far it came, to be called
again with a larger one.
"""

from __future__ import annotations

from thalweg.columns.compiled import kernel, part
from thalweg.columns.lengths import lasts, long_from, verdict_changes
from thalweg.columns.slabs import LENGTH, OFFSET, ROOM, Places, present, remember_all
from thalweg.columns.timelines import OPEN, ending_after, live, next_value
from thalweg.protocol import Ints, Mask

FEW, MOST = 3, 8
"""Inputs of an expression that is evaluated in one pass, so many in registers and so many at all."""


@part
def _write(pool: Ints, at: int, start: int, end: int, value: int) -> int:
    pool[at, 0], pool[at, 1], pool[at, 2] = start, end, value
    return at + 1


@part
def _unexpired(table: Places, pool: Ints, i: int, expiry: int) -> tuple[int, int]:
    """Where the rows of a list begin that have not expired, and where they end."""
    start, end = present(table, i)
    return live(pool, start, end, expiry), end


@part
def _keep_before(pool: Ints, r: int, end: int, low: int, used: int) -> tuple[int, int]:
    """Write the rows again that end before a time; returns the first other one, and the end of the pool."""
    while r < end and pool[r, 1] < low:
        used = _write(pool, used, pool[r, 0], pool[r, 1], pool[r, 2])
        r += 1
    return r, used


@part
def _next_of(pool: Ints, at: int, stop: int, value: int) -> int:
    """The next interval with the value, or the end."""
    while at < stop and pool[at, 2] != value:
        at += 1
    return at


@part
def _ending_after(table: Places, pool: Ints, j: int, value: int, time: int) -> tuple[int, int]:
    """The first interval with the value of list j (-1: none) that ends after a time, and where the list ends."""
    if j < 0:
        return 0, 0
    start, stop = present(table, j)
    return _next_of(pool, ending_after(pool, start, stop, time), stop, value), stop


@part
def _put(table: Places, past: Places, i: int, start: int, end: int) -> None:
    """The list is now the pool's rows from start to end."""
    remember_all(table, past, i)
    table[i, OFFSET], table[i, LENGTH], table[i, ROOM] = start, end - start, end - start


@part
def _reaching(pool: Ints, r: int, end: int, low: int, on: bool, used: int) -> tuple[int, int]:
    """From when on a list holds that holds at `low` if it is `on`: an interval that reaches there goes on, or ends
    there and is written. Returns the end of the pool as well."""
    if r == end or pool[r, 0] >= low:
        return low, used
    since = int(pool[r, 0])
    if on:
        return since, used
    return low, _write(pool, used, since, low, 0)


@kernel
def replay(
    starts: Ints,
    points: Ints,
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    first: int,
    tick: int,
    expiry: int,
) -> tuple[int, int, int]:
    """Timelines that go on with points[starts[k]:starts[k+1]] (time, kind, value), all later than what is there;
    from the list ids[first] on. Returns the end of the pool, how far it came, and how many rows the lists had."""
    before = 0
    for k in range(first, len(ids)):
        i = ids[k]
        r, end = _unexpired(table, pool, i, expiry)
        lo, hi = starts[k], starts[k + 1]
        if used + end - r + hi - lo + 1 > len(pool):
            return used, k, before
        before += end - r
        new = used
        held, value, since = False, 0, 0
        while r < end:
            if pool[r, 1] == OPEN:
                held, value, since = True, int(pool[r, 2]), int(pool[r, 0])
            else:
                used = _write(pool, used, pool[r, 0], pool[r, 1], pool[r, 2])
            r += 1
        while lo < hi:
            t = points[lo, 0]
            nxt = lo + 1
            while nxt < hi and points[nxt, 0] == t:
                nxt += 1
            now_held, now_value = next_value(points, lo, nxt, held, value)
            if held and (not now_held or now_value != value):
                used = _write(pool, used, since, t + tick, value)
                held = False
            if now_held and not held:
                held, value, since = True, now_value, t + tick
            lo = nxt
        if held:
            used = _write(pool, used, since, int(OPEN), value)
        _put(table, past, i, new, used)
    return used, len(ids), before


@kernel
def take_over(
    starts: Ints,
    stops: Ints,
    rows: Ints,
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    first: int,
    expiry: int,
) -> tuple[int, int, int]:
    """Lists as they were found elsewhere, in rows[starts[k]:stops[k]], from the list ids[first] on. Returns the same as
    `replay`."""
    before = 0
    for k in range(first, len(ids)):
        i = ids[k]
        if used + stops[k] - starts[k] > len(pool):
            return used, k, before
        r, end = _unexpired(table, pool, i, expiry)
        before += end - r
        new = used
        for n in range(starts[k], stops[k]):
            if rows[n, 1] > expiry:
                used = _write(pool, used, rows[n, 0], rows[n, 1], rows[n, 2])
        _put(table, past, i, new, used)
    return used, len(ids), before


@part
def _start(pool: Ints, at: int, stop: int) -> int:
    """Where an interval starts; never, where there is none before the end."""
    return int(pool[at, 0]) if at < stop else int(OPEN)


@part
def _next_border(pool: Ints, at: Ints, stop: Ints, n: int, value: int) -> int:
    """Move input n on to its next interval with the value; returns where that starts."""
    at[n] = _next_of(pool, at[n], stop[n], value)
    return _start(pool, at[n], stop[n])


@kernel
def evaluate(
    tables: tuple[Places, ...],
    pools: tuple[Ints, ...],
    inputs: Ints,
    values: Ints,
    truth: Mask,
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    lows: Ints,
    first: int,
    expiry: int,
    scratch: Ints,
) -> tuple[int, int, int]:
    """Lists that from lows[k] on are what a truth table makes of their inputs, from the list ids[first] on.

    Input n of list k are the intervals with values[n, k] of list inputs[n, k] (-1: none) of the n-th table and pool;
    truth[mask] says whether the result holds where the inputs of the mask do. Before lows[k] the list is as it was.
    Returns the same as `replay`. One pass over the borders of all inputs.
    """
    at, stop, border = scratch[0], scratch[1], scratch[2]
    before = 0
    for k in range(first, len(ids)):
        i, low = ids[k], lows[k]
        r, end = _unexpired(table, pool, i, expiry)
        mask = 0
        room = end - r + 2
        for n in range(len(inputs)):
            border[n] = OPEN
            j = inputs[n, k]
            if j < 0:
                continue
            at[n], stop[n] = present(tables[n], j)
            at[n] = ending_after(pools[n], at[n], stop[n], low)
            room += stop[n] - at[n]
            border[n] = _next_border(pools[n], at, stop, n, values[n, k])
            if border[n] <= low:
                mask |= 1 << n
                border[n] = pools[n][at[n], 1]
        if used + room > len(pool):
            return used, k, before
        before += end - r
        new = used
        r, used = _keep_before(pool, r, end, low, used)
        on = truth[mask]
        since, used = _reaching(pool, r, end, low, on, used)
        while True:
            t = int(OPEN)
            for n in range(len(inputs)):
                t = min(t, border[n])
            if t == OPEN:
                break
            for n in range(len(inputs)):
                if border[n] == t:
                    if (mask >> n) & 1:
                        at[n] += 1
                        border[n] = _next_border(pools[n], at, stop, n, values[n, k])
                    else:
                        border[n] = pools[n][at[n], 1]
                    mask ^= 1 << n
            if truth[mask] != on:
                if on:
                    used = _write(pool, used, since, t, 0)
                on = not on
                since = t
        if on:
            used = _write(pool, used, since, int(OPEN), 0)
        _put(table, past, i, new, used)
    return used, len(ids), before


@part
def _enter(table: Places, pool: Ints, j: int, value: int, low: int) -> tuple[int, int, int, bool]:
    """Where the intervals with the value of list j (-1: none) go on that end after `low`, where the list ends, when
    that input changes next, and whether it holds at `low`."""
    at, stop = _ending_after(table, pool, j, value, low)
    border = _start(pool, at, stop)
    return (at, stop, int(pool[at, 1]), True) if border <= low else (at, stop, border, False)


@part
def _turn(pool: Ints, at: int, stop: int, value: int, held: bool) -> tuple[int, int]:
    """An input changes: which interval is its next or, now, its present one, and when it changes again."""
    if not held:
        return at, int(pool[at, 1])
    at = _next_of(pool, at + 1, stop, value)
    return at, _start(pool, at, stop)


@kernel
def evaluate_few(
    table_a: Places,
    pool_a: Ints,
    table_b: Places,
    pool_b: Ints,
    table_c: Places,
    pool_c: Ints,
    inputs: Ints,
    values: Ints,
    truth: Mask,
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    lows: Ints,
    first: int,
    expiry: int,
) -> tuple[int, int, int]:
    """`evaluate` for `FEW` inputs, some of which may be none."""
    before = 0
    for k in range(first, len(ids)):
        i, low = ids[k], lows[k]
        r, end = _unexpired(table, pool, i, expiry)
        value_a, value_b, value_c = values[0, k], values[1, k], values[2, k]
        a, stop_a, border_a, held_a = _enter(table_a, pool_a, inputs[0, k], value_a, low)
        b, stop_b, border_b, held_b = _enter(table_b, pool_b, inputs[1, k], value_b, low)
        c, stop_c, border_c, held_c = _enter(table_c, pool_c, inputs[2, k], value_c, low)
        if used + end - r + 2 + stop_a - a + stop_b - b + stop_c - c > len(pool):
            return used, k, before
        before += end - r
        new = used
        r, used = _keep_before(pool, r, end, low, used)
        mask = int(held_a) + 2 * int(held_b) + 4 * int(held_c)
        on = truth[mask]
        since, used = _reaching(pool, r, end, low, on, used)
        while True:
            t = min(border_a, min(border_b, border_c))
            if t == OPEN:
                break
            if border_a == t:
                a, border_a = _turn(pool_a, a, stop_a, value_a, (mask & 1) != 0)
                mask ^= 1
            if border_b == t:
                b, border_b = _turn(pool_b, b, stop_b, value_b, (mask & 2) != 0)
                mask ^= 2
            if border_c == t:
                c, border_c = _turn(pool_c, c, stop_c, value_c, (mask & 4) != 0)
                mask ^= 4
            if truth[mask] != on:
                if on:
                    used = _write(pool, used, since, t, 0)
                on = not on
                since = t
        if on:
            used = _write(pool, used, since, int(OPEN), 0)
        _put(table, past, i, new, used)
    return used, len(ids), before


@kernel
def repeat(
    others: Places,
    source: Ints,
    inputs: Ints,
    values: Ints,
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    lows: Ints,
    first: int,
    expiry: int,
) -> tuple[int, int, int]:
    """`evaluate` for lists that from lows[k] on are the intervals with values[k] of list inputs[k] (-1: none)."""
    before = 0
    for k in range(first, len(ids)):
        i, low = ids[k], lows[k]
        r, end = _unexpired(table, pool, i, expiry)
        at, stop = _ending_after(others, source, inputs[k], values[k], low)
        if used + end - r + stop - at > len(pool):
            return used, k, before
        before += end - r
        new = used
        r, used = _keep_before(pool, r, end, low, used)
        since, used = _reaching(pool, r, end, low, at < stop and source[at, 0] <= low, used)
        if at < stop:
            used = _write(pool, used, since if source[at, 0] <= low else source[at, 0], source[at, 1], 0)
        for r in range(at + 1, stop):
            if source[r, 2] == values[k]:
                used = _write(pool, used, source[r, 0], source[r, 1], 0)
        _put(table, past, i, new, used)
    return used, len(ids), before


@kernel
def lasting(
    op: int,
    bounds: Ints,
    until: int,
    others: Places,
    source: Ints,
    inputs: Ints,
    values: Ints,
    flips: Ints,
    table: Places,
    past: Places,
    pool: Ints,
    used: int,
    ids: Ints,
    lows: Ints,
    earliest: int,
    first: int,
    expiry: int,
    origin: int,
    step: int,
    tick: int,
) -> tuple[int, int, int]:
    """`repeat` for the intervals that are longer or shorter than their bound (one for each list, or one for all), see
    `lengths.lasts`; a running one is measured up to `until`. They are judged from the interval on that meets or touches
    lows[k], but nothing before `earliest` changes. flips[k] receives the measuring time at which the verdict on the
    running interval changes (`OPEN`: never). With a `step`, several query times are evaluated in one go (`lengths`)."""
    before = 0
    for k in range(first, len(ids)):
        i, bound = ids[k], bounds[k if len(bounds) > 1 else 0]
        r, end = _unexpired(table, pool, i, expiry)
        at, stop = _ending_after(others, source, inputs[k], values[k], lows[k] - 1)
        low = max(min(lows[k], source[at, 0]), earliest) if at < stop else lows[k]
        if used + end - r + stop - at + 1 > len(pool):
            return used, k, before
        before += end - r
        new = used
        r, used = _keep_before(pool, r, end, low, used)
        reaches = r < end and pool[r, 0] < low  # to where the new part begins
        if reaches:
            used = _write(pool, used, pool[r, 0], low, 0)
        flips[k] = OPEN
        for a in range(at, stop):
            if source[a, 2] != values[k]:
                continue
            start, ends = source[a, 0], source[a, 1]
            if ends == OPEN and verdict_changes(op, start, bound) > until:
                flips[k] = verdict_changes(op, start, bound)
            if ends <= low or not lasts(op, (until if ends == OPEN else ends) - start, bound):
                continue
            if reaches and start <= low:
                pool[used - 1, 1] = ends
            else:
                since = long_from(op, start, bound, origin, step, tick)
                used = _write(pool, used, max(since, low), ends, 0)
        _put(table, past, i, new, used)
    return used, len(ids), before
