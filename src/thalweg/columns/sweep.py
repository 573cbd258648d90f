"""The sweep: cyclic and delayed fluents of one component, one pass over candidates in time order.

A *cell* is one fluent instance of the component. A candidate row says: at this time, initiate or terminate this value
of this cell, if some cells have (or have not) some values just then. Everything outside the component has been decided
before. Countdowns of delayed effects sit in a heap and fire between candidates; a *chain* says that the start or end
of one cell's value is at that very point an effect on another cell. Effects at one time-point are collected before any
is applied; fluents whose effects hang on the edges of others come after them (their *rank*).
Cost: linear in the candidates and effects, plus a logarithm per countdown; cells to which nothing happens cost nothing.

Columns of a candidate: time, kind, value, then pairs (2*cell+negated, value) of conditions (-1: none), then a count.
Columns of a chain: edge (START or END), value, cell and kind and value of the effect, then conditions, then -1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from thalweg.columns.cells import ANY, END, NONE, START, Cells, Chains, Delays, Stretch
from thalweg.columns.timelines import INITIATE, OPEN, TERMINATE, TERMINATE_ALL
from thalweg.protocol import Ints

# --------------------------------------------------------------------------- rows that grow, and the heap


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


# --------------------------------------------------------------------------- effects at one time-point


@njit(cache=True)
def _applies(row: Ints, first: int, state: Ints) -> bool:
    """Do the row's conditions hold?"""
    for c in range(first, len(row) - 1, 2):
        if row[c] < 0:
            return True
        cell, negated = row[c] >> 1, row[c] & 1
        holds = state[cell, 0] == 1 and (row[c + 1] == ANY or state[cell, 1] == row[c + 1])
        if holds == (negated == 1):
            return False
    return True


@njit(cache=True)
def _add(effects: Ints, n: int, last: Ints, cell: int, kind: int, value: int) -> int:
    """Add an effect to those of this time-point; the effects of a cell are linked."""
    effects[n, 0], effects[n, 1], effects[n, 2], effects[n, 3] = cell, kind, value, last[cell]
    last[cell] = n
    return n + 1


@njit(cache=True)
def _fire(effects: Ints, n: int, last: Ints, delays: Delays, d: int) -> int:
    """Add the effect of a countdown, which then no longer runs."""
    delays.since[d] = NONE
    if delays.rows[d, 1] == NONE:
        return _add(effects, n, last, delays.rows[d, 4], TERMINATE, delays.rows[d, 0])
    return _add(effects, n, last, delays.rows[d, 4], INITIATE, delays.rows[d, 1])


@njit(cache=True)
def _initiated(effects: Ints, e: int, value: int) -> bool:
    """Is the value among what the linked effects initiate?"""
    while e >= 0:
        if effects[e, 1] <= INITIATE and effects[e, 2] == value:
            return True
        e = effects[e, 3]
    return False


@njit(cache=True)
def _fire_due(effects: Ints, n: int, last: Ints, delays: Delays, firing: Ints, n_firing: int) -> int:
    """Countdowns that are due: those that cannot be postponed fire first; the others fire unless their value is
    initiated now, which another of them may do. Those that wait for each other all end without firing."""
    waiting = 0
    for k in range(n_firing):
        d = firing[k, 0]
        if delays.rows[d, 3] == 1:
            firing[waiting, 0] = d
            waiting += 1
        else:
            n = _fire(effects, n, last, delays, d)
    moving = True
    while moving and waiting > 0:
        moving = False
        left = 0
        for k in range(waiting):
            d = firing[k, 0]
            cell, value = delays.rows[d, 4], delays.rows[d, 0]
            if _initiated(effects, last[cell], value):
                moving = True
                continue
            possible = False
            for j in range(waiting):
                other = firing[j, 0]
                if j != k and delays.rows[other, 4] == cell and delays.rows[other, 1] == value:
                    possible = True
            if possible:
                firing[left, 0] = d
                left += 1
            else:
                n = _fire(effects, n, last, delays, d)
                moving = True
        waiting = left
    for k in range(waiting):
        delays.since[firing[k, 0]] = NONE
    return n


@njit(cache=True)
def _outcome(effects: Ints, first: int, state: Ints) -> tuple[bool, bool, int]:
    """What the linked effects do to a cell: (it keeps its value, it gets a value, which)."""
    values = 0
    chosen = 0
    broken = all_ended = False
    e = first
    while e >= 0:
        kind, v = effects[e, 1], effects[e, 2]
        if kind <= INITIATE:
            if values == 0:
                values, chosen = 1, v
            elif v != chosen:
                values = 2
            if v != state[1]:
                broken = True
        elif kind == TERMINATE:
            if v == state[1]:
                broken = True
        else:
            all_ended = True
        e = effects[e, 3]
    if state[0] == 1 and not (broken or all_ended):
        return True, False, chosen
    gets = values == 1 and not all_ended
    if gets:
        e = first
        while e >= 0:
            if effects[e, 1] == TERMINATE and effects[e, 2] == chosen:
                gets = False
            e = effects[e, 3]
    return False, gets, chosen


@njit(cache=True)
def _restarts(effects: Ints, first: int, delays: Delays, d: int) -> bool:
    """What the linked effects do to a countdown: they may end it, and start it anew."""
    v = delays.rows[d, 0]
    initiated = broken = False
    e = first
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
        delays.since[d] = NONE
    return initiated and (delays.since[d] == NONE or delays.rows[d, 3] == 1)


@njit(cache=True)
def _save(members: Ints, n: int, cells: Cells, delays: Delays, settled: int) -> None:
    """Move the carry of the members up to now."""
    for m in range(n):
        i = members[m]
        if cells.carry_time[i] >= settled:
            continue
        for c in range(3):
            cells.carry[i, c] = cells.state[i, c]
        due = OPEN
        for d in range(delays.first[i], delays.last[i]):
            delays.carry_since[d] = delays.since[d]
            if delays.since[d] != NONE and delays.since[d] + delays.rows[d, 2] < due:
                due = delays.since[d] + delays.rows[d, 2]
        cells.carry_due[i] = due


# --------------------------------------------------------------------------- the sweep


@njit(cache=True)
def sweep(
    found: Ints,
    starts: Ints,
    rows: Ints,
    row_cells: Ints,
    row_starts: Ints,
    cells: Cells,
    delays: Delays,
    chains: Chains,
    stretch: Stretch,
    log: bool,
) -> tuple[Ints, Ints, Ints]:
    """Timelines of the cells of some groups, and of those that their chains reach.

    Group g has found[starts[g]:starts[g+1]] and candidates rows[row_starts[g]:row_starts[g+1]], sorted by time.
    Returns the cells, their intervals (cell, start, end, value), and with `log` the effects (cell, time, kind, value).
    """
    out = np.empty((len(rows) + len(found) + 16, 4), np.int64)
    n_out = 0
    logged = np.empty((16, 4), np.int64)
    n_log = 0
    heap = np.empty((64, 3), np.int64)
    effects = np.empty((64, 4), np.int64)  # cell, kind, value, next effect of the same cell
    firing = np.empty((64, 1), np.int64)
    due_now = np.empty((64, 1), np.int64)
    nexts = np.empty((64, 4), np.int64)  # cell, held, value, since: the state after this time-point
    met = np.empty((len(found) + 16, 1), np.int64)
    n_met = 0
    state, since, last = cells.state, delays.since, cells.last
    fluents = len(chains.ranks)
    n_ranks = chains.ranks.max() + 1
    settled, until, tick = stretch.settled, stretch.until, stretch.tick
    for g in range(len(starts) - 1):
        n_heap = 0
        first_met = n_met
        for m in range(starts[g], starts[g + 1]):
            i = found[m]
            met = _widen(met, n_met + 1)
            met[n_met, 0] = i
            n_met += 1
            cells.marks[i] = stretch.stamp
            cells.lively[i] = 0
            for c in range(3):
                state[i, c] = cells.carry[i, c]
            for d in range(delays.first[i], delays.last[i]):
                since[d] = delays.carry_since[d]
                if since[d] != NONE and since[d] + delays.rows[d, 2] <= until:
                    heap = _widen(heap, n_heap + 1)
                    n_heap = _push(heap, n_heap, since[d] + delays.rows[d, 2], d, since[d])
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
            if not saved and t > settled:
                saved = True
                _save(met[first_met:n_met, 0], n_met - first_met, cells, delays, settled)
            if t > until:
                break
            n = 0
            while at < end and rows[at, 0] == t:
                i = row_cells[at]
                if t > cells.carry_time[i] and _applies(rows[at], 3, state):
                    effects = _widen(effects, n + 1)
                    n = _add(effects, n, last, i, rows[at, 1], rows[at, 2])
                at += 1
            n_firing = 0
            while n_heap > 0 and heap[0, 0] == t:
                if since[heap[0, 1]] == heap[0, 2]:
                    firing = _widen(firing, n_firing + 1)
                    firing[n_firing, 0] = heap[0, 1]
                    n_firing += 1
                n_heap = _pop(heap, n_heap)
            n_next = 0
            for rank in range(n_ranks):
                if n_firing > 0:
                    due_now = _widen(due_now, n_firing)
                    n_due = 0
                    for k in range(n_firing):
                        if n_ranks == 1 or chains.ranks[delays.rows[firing[k, 0], 4] % fluents] == rank:
                            due_now[n_due, 0] = firing[k, 0]
                            n_due += 1
                    effects = _widen(effects, n + n_due)
                    n = _fire_due(effects, n, last, delays, due_now, n_due)
                k = -1
                while k + 1 < n:
                    k += 1
                    i = effects[k, 0]
                    if last[i] < 0 or (n_ranks > 1 and chains.ranks[i % fluents] != rank):
                        continue
                    if cells.marks[i] != stretch.stamp:
                        cells.marks[i] = stretch.stamp
                        met = _widen(met, n_met + 1)
                        met[n_met, 0] = i
                        n_met += 1
                    if t > settled:
                        cells.lively[i] = 1
                    if log:
                        e = last[i]
                        while e >= 0:
                            logged = _widen(logged, n_log + 1)
                            logged[n_log, 0], logged[n_log, 1] = i, t
                            logged[n_log, 2], logged[n_log, 3] = effects[e, 1], effects[e, 2]
                            n_log += 1
                            e = effects[e, 3]
                    stays, gets, chosen = _outcome(effects, last[i], state[i])
                    ends = state[i, 0] == 1 and not stays
                    for d in range(delays.first[i], delays.last[i]):
                        if _restarts(effects, last[i], delays, d):
                            since[d] = t
                            if t + delays.rows[d, 2] <= until:
                                heap = _widen(heap, n_heap + 1)
                                n_heap = _push(heap, n_heap, t + delays.rows[d, 2], d, t)
                    last[i] = -1
                    if not (ends or gets):
                        continue
                    nexts = _widen(nexts, n_next + 1)
                    nexts[n_next, 0], nexts[n_next, 1], nexts[n_next, 2] = i, int(gets), chosen
                    nexts[n_next, 3] = t + tick
                    n_next += 1
                    if ends:
                        out = _widen(out, n_out + 1)
                        out[n_out, 0], out[n_out, 1] = i, state[i, 2]
                        out[n_out, 2], out[n_out, 3] = t + tick, state[i, 1]
                        n_out += 1
                    if t < stretch.start:
                        continue
                    for c in range(chains.first[i], chains.last[i]):
                        edge, value = chains.rows[c, 0], chains.rows[c, 1]
                        there = gets and edge == START and (value == ANY or value == chosen)
                        there |= ends and edge == END and (value == ANY or value == state[i, 1])
                        if there and _applies(chains.rows[c], 5, state):
                            effects = _widen(effects, n + 1)
                            n = _add(effects, n, last, chains.rows[c, 2], chains.rows[c, 3], chains.rows[c, 4])
            for k in range(n_next):
                i = nexts[k, 0]
                for c in range(3):
                    state[i, c] = nexts[k, 1 + c]
        for m in range(first_met, n_met):
            i = met[m, 0]
            cells.carry_time[i] = max(cells.carry_time[i], settled)
            if state[i, 0] == 1:
                out = _widen(out, n_out + 1)
                out[n_out, 0], out[n_out, 1], out[n_out, 2], out[n_out, 3] = i, state[i, 2], OPEN, state[i, 1]
                n_out += 1
            cells.due[i] = OPEN
            for d in range(delays.first[i], delays.last[i]):
                if since[d] != NONE and since[d] + delays.rows[d, 2] < cells.due[i]:
                    cells.due[i] = since[d] + delays.rows[d, 2]
    return met[:n_met, 0].copy(), out[:n_out], logged[:n_log]
