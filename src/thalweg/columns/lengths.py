"""Kernels that judge how long intervals last.

Where several query times are evaluated in one go (`step`; query times are so far apart and from `origin`), a running
interval counts as long enough from the window of that query time on which first sees it last so long: what was final
then stays as it is.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, njit, part
from thalweg.columns.slabs import Places, present
from thalweg.columns.telling import query_of
from thalweg.columns.timelines import OPEN, ending_after
from thalweg.protocol import Ints, Mask

LONGER = (0, 1)
"""Measures by which a running interval can only become long enough, see `lasts`."""


@part
def lasts(op: int, size: int, bound: int) -> bool:
    """Is a duration longer (op 0: >, 1: >=) or shorter (2: <, 3: =<) than the bound?"""
    if op == 0:
        return size > bound
    if op == 1:
        return size >= bound
    return size < bound if op == 2 else size <= bound


@part
def verdict_changes(op: int, start: int, bound: int) -> int:
    """The measuring time at which the verdict on a running interval changes."""
    return start + bound + (1 if op == 0 or op == 3 else 0)


@part
def long_from(op: int, start: int, bound: int, origin: int, step: int, tick: int) -> int:
    """From when on an interval that becomes long enough counts: its start, or the first point that was not final at the
    query time that first saw it last so long. Without a `step`, its start."""
    if step == 0:
        return start
    known = max(-(-verdict_changes(op, start, bound) // tick) * tick, start) - tick
    previous = query_of(known, origin, step) - step
    return max(start, previous - previous % tick + tick)


@njit(cache=True)
def by_length(
    op: int,
    offsets: Ints,
    lengths: Ints,
    pool: Ints,
    bounds: Ints,
    until: int,
    origin: int,
    step: int,
    tick: int,
) -> tuple[Ints, Ints, Ints, Ints]:
    """Intervals longer or shorter than the bounds, see `lasts`, from when on they count as such; a running one is
    measured up to `until`. Also, per list, the measuring time at which a running interval's verdict changes (`OPEN`:
    never)."""
    n = len(offsets)
    out = np.empty((int(lengths.sum()), 2), np.int64)
    o = np.empty(n, np.int64)
    m = np.empty(n, np.int64)
    flips = np.full(n, OPEN)
    used = 0
    for k in range(n):
        o[k] = used
        for r in range(offsets[k], offsets[k] + lengths[k]):
            start, end = pool[r, 0], pool[r, 1]
            size = (until if end == OPEN else end) - start
            if end == OPEN:
                flip = verdict_changes(op, start, bounds[k])
                if flip > until:
                    flips[k] = flip
            if lasts(op, size, bounds[k]):
                out[used, 0], out[used, 1] = long_from(op, start, bounds[k], origin, step, tick), end
                used += 1
        m[k] = used - o[k]
    return o, m, out, flips


@kernel
def long_at(
    op: int,
    table: Places,
    pool: Ints,
    ids: Ints,
    values: Ints,
    bounds: Ints,
    times: Ints,
    until: int,
    origin: int,
    step: int,
    tick: int,
    found: Mask,
) -> None:
    """Whether list ids[k] (-1: none) has at times[k] an interval with values[k] that counts as long enough."""
    for k in range(len(ids)):
        found[k] = False
        if ids[k] < 0:
            continue
        first, last = present(table, ids[k])
        at = ending_after(pool, first, last, times[k])
        if at == last or pool[at, 0] > times[k] or pool[at, 2] != values[k]:
            continue
        start, end = int(pool[at, 0]), int(pool[at, 1])
        long = lasts(op, (until if end == OPEN else end) - start, bounds[k])
        found[k] = long and times[k] >= long_from(op, start, bounds[k], origin, step, tick)


@kernel
def long_starts(
    op: int,
    table: Places,
    pool: Ints,
    ids: Ints,
    values: Ints,
    bounds: Ints,
    until: int,
    origin: int,
    step: int,
    tick: int,
    earliest: int,
    which: Ints,
    starts: Ints,
) -> int:
    """From when on intervals of the lists `ids` (-1: none) count as long enough, after `earliest`: the places in `ids`,
    and these times. With empty outputs only counts."""
    n = 0
    for k in range(len(ids)):
        if ids[k] < 0:
            continue
        first, last = present(table, ids[k])
        for r in range(ending_after(pool, first, last, earliest), last):
            start, end = int(pool[r, 0]), int(pool[r, 1])
            if pool[r, 2] != values[k] or not lasts(op, (until if end == OPEN else end) - start, bounds[k]):
                continue
            since = long_from(op, start, bounds[k], origin, step, tick)
            if since > earliest:
                if n < len(which):
                    which[n], starts[n] = k, since
                n += 1
    return n
