"""Several query times evaluated in one go: at which of them each change would have been told.

A query time tells what holds up to the point right after its last time-point: an effect shows there. So the start or
end of an interval at `t` is told at the first query time at or after the point before `t`. Some query times see the
point right after them otherwise than it turned out in the end (`late`): there the change is told at the first query
time that knows the point itself, and what was seen until then is told and taken back.
"""

from __future__ import annotations

import numpy as np

from thalweg.columns.compiled import kernel, part
from thalweg.columns.slabs import Places, present
from thalweg.columns.timelines import OPEN, ending_after
from thalweg.protocol import Ints

QUERY, OP, ID, START, END, VALUE = range(6)
"""Columns of what is told."""
DELETE, INSERT = 0, 1


@part
def query_of(time: int, origin: int, step: int) -> int:
    """The first query time at or after a time; query times are `step` apart and from `origin`."""
    return origin - (origin - time) // step * step


@part
def _tell(told: Ints, n: int, query: int, op: int, i: int, start: int, end: int | np.int64, value: int) -> int:
    told[QUERY, n], told[OP, n], told[ID, n] = query, op, i
    told[START, n], told[END, n], told[VALUE, n] = start, end, value
    return n + 1


@part
def _tell_interval(
    told: Ints,
    n: int,
    i: int,
    start: int,
    end: int,
    value: int,
    open_since: int,
    late_ids: Ints,
    late: Ints,
    x: int,
    origin: int,
    step: int,
    tick: int,
    soonest: int,
) -> tuple[int, int]:
    """Tell an interval, which was told as a running one before if `open_since` is no query time from `soonest` on, and
    else is to be told from there on; and what query times saw otherwise within it. Returns the number of rows told, and
    the next of `late`."""
    shown = open_since < soonest
    since = open_since
    while x < len(late) and late_ids[x] == i and late[x] < end:  # seen to end there
        at = query_of(late[x] - tick, origin, step)
        if not shown and since < at:
            n = _tell(told, n, since, INSERT, i, start, OPEN, value)
            shown = True
        if shown:
            n = _tell(told, n, at, DELETE, i, start, OPEN, value)
        n = _tell(told, n, at, INSERT, i, start, late[x], value)
        since = query_of(late[x], origin, step)
        n = _tell(told, n, since, DELETE, i, start, late[x], value)
        shown = False
        x += 1
    if end == OPEN:
        if not shown:
            n = _tell(told, n, since, INSERT, i, start, OPEN, value)
        return n, x
    until = max(query_of(end - tick, origin, step), soonest)
    if x < len(late) and late_ids[x] == i and late[x] == end:  # seen to go on there
        until = max(until, query_of(end, origin, step))
        x += 1
    if not shown and since < until:
        n = _tell(told, n, since, INSERT, i, start, OPEN, value)
        shown = True
    if shown:
        n = _tell(told, n, until, DELETE, i, start, OPEN, value)
    return _tell(told, n, until, INSERT, i, start, end, value), x


@part
def _tell_late(
    told: Ints,
    n: int,
    table: Places,
    pool: Ints,
    late_ids: Ints,
    late: Ints,
    x: int,
    origin: int,
    step: int,
    tick: int,
    soonest: int,
) -> tuple[int, int]:
    """Tell what query times saw otherwise of an interval that runs on as before, or of one that never was."""
    i, point = late_ids[x], late[x]
    first, last = present(table, i)
    at = ending_after(pool, first, last, point)
    if at < last and pool[at, 0] <= point:
        running = int(pool[at, 0]), int(pool[at, 1]), int(pool[at, 2])
        return _tell_interval(told, n, i, *running, soonest - step, late_ids, late, x, origin, step, tick, soonest)
    n = _tell(told, n, query_of(point - tick, origin, step), INSERT, i, point, OPEN, 0)
    return _tell(told, n, query_of(point, origin, step), DELETE, i, point, OPEN, 0), x + 1


@kernel
def tell(
    old_ids: Ints,
    old_starts: Ints,
    old_ends: Ints,
    old_values: Ints,
    ids: Ints,
    starts: Ints,
    ends: Ints,
    values: Ints,
    late_ids: Ints,
    late: Ints,
    table: Places,
    pool: Ints,
    origin: int,
    step: int,
    tick: int,
    spoken: int,
    told: Ints,
) -> int:
    """What went and came from before the first of some query times to after the last, as each of them tells it.

    Intervals that went and that came, and the points that query times saw otherwise, are in the order of id and time;
    the lists are as after the last. `spoken` is the last point of which something was said before. Linear; returns how
    many rows were told: at most one for each interval that went, three for each that came and four for each point seen
    otherwise.
    """
    soonest = query_of(spoken, origin, step)
    n = r = x = 0
    for k in range(len(ids)):
        i, start = ids[k], starts[k]
        value = values[k] if len(values) else 0
        while r < len(old_ids) and (old_ids[r] < i or (old_ids[r] == i and old_starts[r] < start)):
            gone = old_values[r] if len(old_values) else 0
            n = _tell(told, n, soonest, DELETE, old_ids[r], old_starts[r], old_ends[r], gone)
            r += 1
        while x < len(late) and (late_ids[x] < i or (late_ids[x] == i and late[x] < start)):
            n, x = _tell_late(told, n, table, pool, late_ids, late, x, origin, step, tick, soonest)
        since = max(query_of(start - tick, origin, step), soonest)
        if x < len(late) and late_ids[x] == i and late[x] == start:  # not seen to start there
            since = max(query_of(start, origin, step), soonest)
            x += 1
        if r < len(old_ids) and old_ids[r] == i and old_starts[r] == start:
            if old_ends[r] == OPEN:
                since = soonest - step
            else:
                n = _tell(told, n, soonest, DELETE, i, start, old_ends[r], value)
                since = soonest
            r += 1
        n, x = _tell_interval(
            told, n, i, start, ends[k], value, since, late_ids, late, x, origin, step, tick, soonest
        )
    while r < len(old_ids):
        gone = old_values[r] if len(old_values) else 0
        n = _tell(told, n, soonest, DELETE, old_ids[r], old_starts[r], old_ends[r], gone)
        r += 1
    while x < len(late):
        n, x = _tell_late(told, n, table, pool, late_ids, late, x, origin, step, tick, soonest)
    return n


@kernel
def by_query(told: Ints, n: int, first: int, step: int, counts: Ints, ordered: Ints) -> None:
    """The first `n` columns of `told` in the order of query times, deletions before insertions, otherwise as they are.
    `counts` has two zeros for each query time from `first` on, and one more."""
    for k in range(n):
        counts[2 * ((told[QUERY, k] - first) // step) + told[OP, k] + 1] += 1
    for c in range(1, len(counts)):
        counts[c] += counts[c - 1]
    for k in range(n):
        c = 2 * ((told[QUERY, k] - first) // step) + told[OP, k]
        at = counts[c]
        counts[c] = at + 1
        for column in range(len(told)):
            ordered[column, at] = told[column, k]


@kernel
def first_elsewhere(arrival: Ints, ops: Ints, counts: Ints, times: Ints, origin: int, step: int) -> int:
    """The first row that is no insertion that counts at the same query time by its own time as by its arrival; as many
    as there are, if none is."""
    for k in range(len(arrival)):
        if ops[k] < 1 or counts[k] != times[k]:
            return k
        if arrival[k] != times[k] and query_of(arrival[k], origin, step) != query_of(times[k], origin, step):
            return k
    return len(arrival)
