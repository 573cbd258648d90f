"""The sweep: cyclic and delayed fluents of one component, one pass over candidates in time order.

A *cell* is one fluent instance of the component. A candidate row says: at this time, initiate or terminate this value
of this cell, if some cells have (or have not) some values just then. Everything outside the component has been decided
before. Cells that occur in each other's conditions form a group; groups are independent. Countdowns of delayed effects
sit in a heap and fire between candidates. Effects at one time-point are collected before any is applied.
Cost: linear in the candidates, plus a logarithm per countdown. Columns of a candidate: time, kind, value, then pairs
(2*cell+negated, value) of conditions (-1: none), then a count.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from thalweg.columns.timelines import INITIATE, OPEN, TERMINATE, TERMINATE_ALL
from thalweg.protocol import Ints

NONE = np.int64(-(2**63))
"""No countdown; as a delay's target: the source ends."""
ANY = np.int64(-(2**63) + 1)
"""Some value, whichever, in a condition."""


@njit(cache=True)
def unite(parents: Ints, rings: Ints, cells: Ints, rows: Ints) -> None:
    """Join each row's cell with the cells of its conditions. `rings` are circular lists of the members of a group."""
    for k in range(len(cells)):
        for c in range(3, rows.shape[1] - 1, 2):
            if rows[k, c] < 0:
                break
            a, b = _root(parents, cells[k]), _root(parents, rows[k, c] >> 1)
            if a != b:
                parents[a] = b
                held = rings[a]
                rings[a] = rings[b]
                rings[b] = held


@njit(cache=True)
def _root(parents: Ints, i: int) -> int:
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@njit(cache=True)
def members(parents: Ints, rings: Ints, cells: Ints, marks: Ints, stamp: int) -> tuple[Ints, Ints]:
    """All cells of the groups of `cells`: (members, where each group starts)."""
    size = 16
    out = np.empty(size, np.int64)
    starts = np.empty(len(cells) + 1, np.int64)
    n = 0
    groups = 0
    for k in range(len(cells)):
        first = cells[k]
        if marks[first] == stamp:
            continue
        starts[groups] = n
        groups += 1
        i = first
        while True:
            if n == size:
                more = np.empty(2 * size, np.int64)
                more[:n] = out
                out = more
                size *= 2
            marks[i] = stamp
            out[n] = i
            n += 1
            i = rings[i]
            if i == first:
                break
    starts[groups] = n
    return out[:n], starts[: groups + 1]


@njit(cache=True)
def _widen(rows: Ints, needed: int) -> Ints:
    if needed <= len(rows):
        return rows
    more = np.empty((max(needed, 2 * len(rows)), rows.shape[1]), np.int64)
    more[: len(rows)] = rows
    return more


@njit(cache=True)
def _push(heap: Ints, n: int, due: int, delay: int, since: int) -> int:
    heap[n, 0], heap[n, 1], heap[n, 2] = due, delay, since
    i = n
    while i > 0:
        up = (i - 1) >> 1
        if heap[up, 0] <= heap[i, 0]:
            break
        for c in range(3):
            held = heap[up, c]
            heap[up, c] = heap[i, c]
            heap[i, c] = held
        i = up
    return n + 1


@njit(cache=True)
def _pop(heap: Ints, n: int) -> int:
    n -= 1
    for c in range(3):
        heap[0, c] = heap[n, c]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and heap[child + 1, 0] < heap[child, 0]:
            child += 1
        if heap[i, 0] <= heap[child, 0]:
            break
        for c in range(3):
            held = heap[child, c]
            heap[child, c] = heap[i, c]
            heap[i, c] = held
        i = child
    return n


@njit(cache=True)
def _applies(row: Ints, width: int, state: Ints) -> bool:
    """Do the row's conditions hold? state columns: held, value, since."""
    for c in range(3, width - 1, 2):
        if row[c] < 0:
            return True
        cell, negated = row[c] >> 1, row[c] & 1
        holds = state[cell, 0] == 1 and (row[c + 1] == ANY or state[cell, 1] == row[c + 1])
        if holds == (negated == 1):
            return False
    return True


@njit(cache=True)
def _fire(effects: Ints, n: int, last: Ints, delay: Ints, cell: int) -> int:
    """Add the effect of a countdown to the effects of this time-point."""
    effects[n, 0], effects[n, 3] = cell, last[cell]
    if delay[1] == NONE:
        effects[n, 1], effects[n, 2] = TERMINATE, delay[0]
    else:
        effects[n, 1], effects[n, 2] = INITIATE, delay[1]
    last[cell] = n
    return n + 1


@njit(cache=True)
def sweep(
    cells: Ints,
    starts: Ints,
    rows: Ints,
    row_cells: Ints,
    row_starts: Ints,
    carry: Ints,
    carry_time: Ints,
    first_delay: Ints,
    last_delay: Ints,
    delays: Ints,
    carry_since: Ints,
    state: Ints,
    since: Ints,
    due: Ints,
    window_start: int,
    query: int,
    tick: int,
    log: bool,
) -> tuple[Ints, int, Ints, int]:
    """Timelines of the cells of some groups.

    Group g has cells[starts[g]:starts[g+1]] and candidates rows[row_starts[g]:row_starts[g+1]], sorted by time.
    `carry` (held, value, since) and `carry_since` (per delay) are the state after carry_time, and are moved up to the
    window start. Delays of cell i are delays[first_delay[i]:last_delay[i]]: value, target, length, postponable, cell.
    Returns intervals (cell, start, end, value), and with `log` the effects (cell, time, kind, value). `due` gets
    the next countdown of each cell, `since` their starts.
    """
    out = np.empty((len(rows) + len(cells) + 16, 4), np.int64)
    n_out = 0
    logged = np.empty((16, 4), np.int64)
    n_log = 0
    width = rows.shape[1]
    heap = np.empty((64, 3), np.int64)
    effects = np.empty((64, 4), np.int64)  # cell, kind, value, next effect of the same cell
    firing = np.empty((64, 2), np.int64)  # delay, cell
    last = np.full(len(carry), -1, np.int64)  # the latest effect of each cell at this time-point
    for g in range(len(starts) - 1):
        n_heap = 0
        for m in range(starts[g], starts[g + 1]):
            i = cells[m]
            for c in range(3):
                state[i, c] = carry[i, c]
            for d in range(first_delay[i], last_delay[i]):
                since[d] = carry_since[d]
                if since[d] != NONE:
                    heap = _widen(heap, n_heap + 1)
                    n_heap = _push(heap, n_heap, since[d] + delays[d, 2], d, since[d])
        at, end = row_starts[g], row_starts[g + 1]
        saved = False
        while True:
            while n_heap > 0 and since[heap[0, 1]] != heap[0, 2]:
                n_heap = _pop(heap, n_heap)
            t = int(OPEN)
            if at < end:
                t = int(rows[at, 0])
            if n_heap > 0 and heap[0, 0] < t:
                t = int(heap[0, 0])
            if not saved and t > window_start:
                saved = True
                for m in range(starts[g], starts[g + 1]):
                    i = cells[m]
                    if carry_time[i] < window_start:
                        for c in range(3):
                            carry[i, c] = state[i, c]
                        for d in range(first_delay[i], last_delay[i]):
                            carry_since[d] = since[d]
            if t > query:
                break
            n = 0
            while at < end and rows[at, 0] == t:
                i = row_cells[at]
                if t > carry_time[i] and _applies(rows[at], width, state):
                    effects = _widen(effects, n + 1)
                    effects[n, 0], effects[n, 1], effects[n, 2], effects[n, 3] = i, rows[at, 1], rows[at, 2], last[i]
                    last[i] = n
                    n += 1
                at += 1
            n_firing = 0
            while n_heap > 0 and heap[0, 0] == t:
                d = heap[0, 1]
                if since[d] == heap[0, 2]:
                    firing = _widen(firing, n_firing + 1)
                    firing[n_firing, 0] = d
                    firing[n_firing, 1] = delays[d, 4]
                    n_firing += 1
                n_heap = _pop(heap, n_heap)
            # countdowns that cannot be postponed fire first; the others fire unless their value is initiated now
            undecided = 0
            for k in range(n_firing):
                d, i = firing[k, 0], firing[k, 1]
                if delays[d, 3] == 1:
                    firing[undecided, 0], firing[undecided, 1] = d, i
                    undecided += 1
                    continue
                effects = _widen(effects, n + 1)
                n = _fire(effects, n, last, delays[d], i)
                since[d] = NONE
            moving = True
            while moving and undecided > 0:
                moving = False
                left = 0
                for k in range(undecided):
                    d, i = firing[k, 0], firing[k, 1]
                    certain = False
                    e = last[i]
                    while e >= 0:
                        if effects[e, 1] <= INITIATE and effects[e, 2] == delays[d, 0]:
                            certain = True
                        e = effects[e, 3]
                    if certain:
                        moving = True
                        continue
                    possible = False
                    for j in range(undecided):
                        other = firing[j, 0]
                        if firing[j, 1] == i and j != k and delays[other, 1] == delays[d, 0]:
                            possible = True
                    if possible:
                        firing[left, 0], firing[left, 1] = d, i
                        left += 1
                        continue
                    effects = _widen(effects, n + 1)
                    n = _fire(effects, n, last, delays[d], i)
                    since[d] = NONE
                    moving = True
                undecided = left
            for k in range(undecided):
                since[firing[k, 0]] = NONE
            for first in range(n):
                i = effects[first, 0]
                if last[i] < 0:
                    continue
                e = last[i]
                values = 0
                chosen = np.int64(0)
                others = ended = all_ended = False
                while e >= 0:
                    kind, v = effects[e, 1], effects[e, 2]
                    if log:
                        logged = _widen(logged, n_log + 1)
                        logged[n_log, 0], logged[n_log, 1], logged[n_log, 2], logged[n_log, 3] = i, t, kind, v
                        n_log += 1
                    if kind <= INITIATE:
                        if values == 0:
                            values, chosen = 1, v
                        elif v != chosen:
                            values = 2
                        if v != state[i, 1]:
                            others = True
                    elif kind == TERMINATE:
                        if v == state[i, 1]:
                            ended = True
                    else:
                        all_ended = True
                    e = effects[e, 3]
                chosen_ended = all_ended
                e = last[i]
                while e >= 0:
                    if effects[e, 1] == TERMINATE and values == 1 and effects[e, 2] == chosen:
                        chosen_ended = True
                    e = effects[e, 3]
                held = state[i, 0] == 1
                stays = held and not (others or ended or all_ended)
                if held and not stays:
                    out = _widen(out, n_out + 1)
                    out[n_out, 0], out[n_out, 1], out[n_out, 2], out[n_out, 3] = i, state[i, 2], t + tick, state[i, 1]
                    n_out += 1
                    state[i, 0] = 0
                for d in range(first_delay[i], last_delay[i]):
                    v = delays[d, 0]
                    initiated = broken = False
                    e = last[i]
                    while e >= 0:
                        kind = effects[e, 1]
                        if kind <= INITIATE:
                            if effects[e, 2] == v:
                                initiated = True
                            else:
                                broken = True
                        elif kind == TERMINATE_ALL or effects[e, 2] == v:
                            broken = True
                        e = effects[e, 3]
                    if broken:
                        since[d] = NONE
                    if initiated and (since[d] == NONE or delays[d, 3] == 1):
                        since[d] = t
                        heap = _widen(heap, n_heap + 1)
                        n_heap = _push(heap, n_heap, t + delays[d, 2], d, t)
                if not stays and values == 1 and not chosen_ended:
                    state[i, 0], state[i, 1], state[i, 2] = 1, chosen, t + tick
                last[i] = -1
        for m in range(starts[g], starts[g + 1]):
            i = cells[m]
            if carry_time[i] < window_start:
                carry_time[i] = window_start
            if state[i, 0] == 1:
                out = _widen(out, n_out + 1)
                out[n_out, 0], out[n_out, 1], out[n_out, 2], out[n_out, 3] = i, state[i, 2], OPEN, state[i, 1]
                n_out += 1
            due[i] = OPEN
            for d in range(first_delay[i], last_delay[i]):
                if since[d] != NONE and since[d] + delays[d, 2] < due[i]:
                    due[i] = since[d] + delays[d, 2]
    return out, n_out, logged, n_log


@njit(cache=True)
def trim(offsets: Ints, lengths: Ints, rooms: Ints, pool: Ints, cells: Ints, times: Ints) -> None:
    """Drop the candidates of the cells that the carry has taken in."""
    for k in range(len(cells)):
        i = cells[k]
        while lengths[2, i] > 0 and pool[offsets[2, i], 0] <= times[i]:
            offsets[2, i] += 1
            lengths[2, i] -= 1
            rooms[i] -= 1


@njit(cache=True)
def write_lists(
    offsets: Ints,
    lengths: Ints,
    rooms: Ints,
    pool: Ints,
    used: int,
    ids: Ints,
    intervals: Ints,
    starts: Ints,
    expiry: int,
) -> int:
    """Replace the lists `ids` by intervals[starts[k]:starts[k+1]] (start, end, value), after the ended intervals of the
    old list that the sweep did not revisit (those that ended by the expiry are dropped)."""
    for k in range(len(ids)):
        i = ids[k]
        out = used
        n = 0
        for r in range(starts[k], starts[k + 1]):
            if intervals[r, 1] <= expiry:
                continue
            for c in range(3):
                pool[out + n, c] = intervals[r, c]
            n += 1
        offsets[2, i] = out
        lengths[2, i] = n
        rooms[i] = n
        used += n
    return used
