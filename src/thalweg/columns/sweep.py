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

from thalweg.columns.cells import (
    ANY,
    CARRY,
    CARRY_TIME,
    COUNTS,
    DELAYS,
    END,
    FIRST_CHAIN,
    HELD,
    LAST,
    LAST_CHAIN,
    LIVELY,
    MARK,
    NONE,
    SINCE,
    START,
    TEMPLATE,
    VALUE,
    Board,
    Stretch,
)
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
def _push(heap: Ints, n: int, due: int, cell: int, delay: int, since: int) -> int:
    heap[n, 0], heap[n, 1], heap[n, 2], heap[n, 3] = due, cell, delay, since
    i = n
    while i > 0:
        up = (i - 1) >> 1
        if heap[up, 0] <= heap[i, 0]:
            break
        for c in range(4):
            held = heap[up, c]
            heap[up, c] = heap[i, c]
            heap[i, c] = held
        i = up
    return n + 1


@njit(cache=True)
def _pop(heap: Ints, n: int) -> int:
    n -= 1
    for c in range(4):
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
        for c in range(4):
            held = heap[child, c]
            heap[child, c] = heap[i, c]
            heap[i, c] = held
        i = child
    return n


# --------------------------------------------------------------------------- effects at one time-point


@njit(cache=True)
def _applies(row: Ints, first: int, cells: Ints) -> bool:
    """Do the row's conditions hold?"""
    for c in range(first, len(row) - 1, 2):
        if row[c] < 0:
            return True
        cell, negated = row[c] >> 1, row[c] & 1
        holds = cells[cell, HELD] == 1 and (row[c + 1] == ANY or cells[cell, VALUE] == row[c + 1])
        if holds == (negated == 1):
            return False
    return True


@njit(cache=True)
def _add(effects: Ints, n: int, cells: Ints, cell: int, kind: int, value: int) -> int:
    """Add an effect to those of this time-point; the effects of a cell are linked."""
    effects[n, 0], effects[n, 1], effects[n, 2], effects[n, 3] = cell, kind, value, cells[cell, LAST]
    cells[cell, LAST] = n
    return n + 1


@njit(cache=True)
def _fire(effects: Ints, n: int, board: Board, cell: int, delay: int) -> int:
    """Add the effect of a countdown, which then no longer runs."""
    board.counts[board.cells[cell, COUNTS] + delay, 0] = NONE
    row = board.cells[cell, TEMPLATE] + delay
    if board.delays[row, 1] == NONE:
        return _add(effects, n, board.cells, cell, TERMINATE, board.delays[row, 0])
    return _add(effects, n, board.cells, cell, INITIATE, board.delays[row, 1])


@njit(cache=True)
def _initiated(effects: Ints, e: int, value: int) -> bool:
    """Is the value among what the linked effects initiate?"""
    while e >= 0:
        if effects[e, 1] <= INITIATE and effects[e, 2] == value:
            return True
        e = effects[e, 3]
    return False


@njit(cache=True)
def _fire_due(effects: Ints, n: int, board: Board, firing: Ints, n_firing: int) -> int:
    """Countdowns that are due: those that cannot be postponed fire first; the others fire unless their value is
    initiated now, which another of them may do. Those that wait for each other all end without firing."""
    waiting = 0
    for k in range(n_firing):
        cell, delay = firing[k, 0], firing[k, 1]
        if board.delays[board.cells[cell, TEMPLATE] + delay, 3] == 1:
            firing[waiting, 0], firing[waiting, 1] = cell, delay
            waiting += 1
        else:
            n = _fire(effects, n, board, cell, delay)
    moving = True
    while moving and waiting > 0:
        moving = False
        left = 0
        for k in range(waiting):
            cell, delay = firing[k, 0], firing[k, 1]
            value = board.delays[board.cells[cell, TEMPLATE] + delay, 0]
            if _initiated(effects, board.cells[cell, LAST], value):
                moving = True
                continue
            possible = False
            for j in range(waiting):
                if j != k and firing[j, 0] == cell:
                    possible |= board.delays[board.cells[cell, TEMPLATE] + firing[j, 1], 1] == value
            if possible:
                firing[left, 0], firing[left, 1] = cell, delay
                left += 1
            else:
                n = _fire(effects, n, board, cell, delay)
                moving = True
        waiting = left
    for k in range(waiting):
        board.counts[board.cells[firing[k, 0], COUNTS] + firing[k, 1], 0] = NONE
    return n


@njit(cache=True)
def _outcome(effects: Ints, first: int, held: bool, value: int) -> tuple[bool, bool, int]:
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
            if v != value:
                broken = True
        elif kind == TERMINATE:
            if v == value:
                broken = True
        else:
            all_ended = True
        e = effects[e, 3]
    if held and not (broken or all_ended):
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
def _restarts(effects: Ints, first: int, counts: Ints, at: int, value: int, postponable: bool) -> bool:
    """What the linked effects do to the countdown counts[at] of a value: they may end it, and start it anew."""
    initiated = broken = False
    e = first
    while e >= 0:
        kind = effects[e, 1]
        if kind <= INITIATE:
            if effects[e, 2] == value:
                initiated = True
            else:
                broken = True
        elif kind == TERMINATE_ALL or effects[e, 2] == value:
            broken = True
        e = effects[e, 3]
    if broken:
        counts[at, 0] = NONE
    return initiated and (counts[at, 0] == NONE or postponable)


@njit(cache=True)
def _next_due(board: Board, i: int, column: int) -> int:
    """The first of a cell's countdowns that run now (column 0) or at the carry (column 1)."""
    due = int(OPEN)
    for d in range(board.cells[i, DELAYS]):
        since = board.counts[board.cells[i, COUNTS] + d, column]
        if since != NONE:
            due = min(due, since + board.delays[board.cells[i, TEMPLATE] + d, 2])
    return due


@njit(cache=True)
def _save(met: Ints, n: int, board: Board, settled: int) -> None:
    """Move the carry of the cells met up to now."""
    for m in range(n):
        i = met[m]
        if board.cells[i, CARRY_TIME] >= settled:
            continue
        for c in range(3):
            board.cells[i, CARRY + c] = board.cells[i, c]
        for d in range(board.cells[i, COUNTS], board.cells[i, COUNTS] + board.cells[i, DELAYS]):
            board.counts[d, 1] = board.counts[d, 0]


@njit(cache=True)
def _heard(board: Board, fluent: int, edge: int, value: int) -> bool:
    """Does any chain wait for such an edge?"""
    for k in range(len(board.heard)):
        if board.heard[k, 0] == fluent and board.heard[k, 1] == edge:
            if board.heard[k, 2] == ANY or board.heard[k, 2] == value:
                return True
    return False


# --------------------------------------------------------------------------- the sweep


@njit(cache=True)
def sweep(
    found: Ints,
    starts: Ints,
    rows: Ints,
    row_cells: Ints,
    order: Ints,
    row_starts: Ints,
    board: Board,
    stretch: Stretch,
    log: bool,
) -> tuple[Ints, Ints, Ints]:
    """Timelines of the cells of some groups, and of those that their chains reach.

    Group g has found[starts[g]:starts[g+1]] and candidates rows[order[row_starts[g]:row_starts[g+1]]], in the order
    of time. Returns the cells met, their intervals (cell, start, end, value), and with `log` the effects (cell, time,
    kind, value).
    """
    out = np.empty((len(rows) + len(found) + 16, 4), np.int64)
    n_out = 0
    logged = np.empty((16, 4), np.int64)
    n_log = 0
    heap = np.empty((64, 4), np.int64)  # due, cell, delay, since
    effects = np.empty((64, 4), np.int64)  # cell, kind, value, next effect of the same cell
    firing = np.empty((64, 2), np.int64)
    due_now = np.empty((64, 2), np.int64)
    nexts = np.empty((64, 4), np.int64)  # cell, held, value, since: the state after this time-point
    met = np.empty((len(found) + 16, 1), np.int64)
    n_met = 0
    cells, counts, delays = board.cells, board.counts, board.delays
    fluents = len(board.ranks)
    n_ranks = board.ranks.max() + 1
    settled, until, tick = stretch.settled, stretch.until, stretch.tick
    for g in range(len(starts) - 1):
        n_heap = 0
        first_met = n_met
        for m in range(starts[g], starts[g + 1]):
            i = found[m]
            met = _widen(met, n_met + 1)
            met[n_met, 0] = i
            n_met += 1
            cells[i, MARK] = stretch.stamp
            cells[i, LIVELY] = 0
            for c in range(3):
                cells[i, c] = cells[i, CARRY + c]
            for d in range(cells[i, DELAYS]):
                since = counts[cells[i, COUNTS] + d, 1]
                counts[cells[i, COUNTS] + d, 0] = since
                due = since + delays[cells[i, TEMPLATE] + d, 2]
                if since != NONE and due <= until:
                    heap = _widen(heap, n_heap + 1)
                    n_heap = _push(heap, n_heap, due, i, d, since)
        at, end = row_starts[g], row_starts[g + 1]
        saved = False
        while True:
            while n_heap > 0 and counts[cells[heap[0, 1], COUNTS] + heap[0, 2], 0] != heap[0, 3]:
                n_heap = _pop(heap, n_heap)
            t = int(OPEN)
            if at < end:
                t = int(rows[order[at], 0])
            if n_heap > 0 and heap[0, 0] < t:
                t = int(heap[0, 0])
            if not saved and t > settled:
                saved = True
                _save(met[first_met:n_met, 0], n_met - first_met, board, settled)
            if t > until:
                break
            n = 0
            while at < end and rows[order[at], 0] == t:
                k = order[at]
                i = row_cells[k]
                if t > cells[i, CARRY_TIME] and _applies(rows[k], 3, cells):
                    effects = _widen(effects, n + 1)
                    n = _add(effects, n, cells, i, rows[k, 1], rows[k, 2])
                at += 1
            n_firing = 0
            while n_heap > 0 and heap[0, 0] == t:
                if counts[cells[heap[0, 1], COUNTS] + heap[0, 2], 0] == heap[0, 3]:
                    firing = _widen(firing, n_firing + 1)
                    firing[n_firing, 0], firing[n_firing, 1] = heap[0, 1], heap[0, 2]
                    n_firing += 1
                n_heap = _pop(heap, n_heap)
            n_next = 0
            for rank in range(n_ranks):
                if n_firing > 0:
                    due_now = _widen(due_now, n_firing)
                    n_due = 0
                    for k in range(n_firing):
                        if n_ranks == 1 or board.ranks[firing[k, 0] % fluents] == rank:
                            due_now[n_due, 0], due_now[n_due, 1] = firing[k, 0], firing[k, 1]
                            n_due += 1
                    effects = _widen(effects, n + n_due)
                    n = _fire_due(effects, n, board, due_now, n_due)
                k = -1
                while k + 1 < n:
                    k += 1
                    i = effects[k, 0]
                    first = cells[i, LAST]
                    if first < 0 or (n_ranks > 1 and board.ranks[i % fluents] != rank):
                        continue
                    if cells[i, MARK] != stretch.stamp:
                        cells[i, MARK] = stretch.stamp
                        met = _widen(met, n_met + 1)
                        met[n_met, 0] = i
                        n_met += 1
                    if t > settled:
                        cells[i, LIVELY] = 1
                    if log:
                        e = first
                        while e >= 0:
                            logged = _widen(logged, n_log + 1)
                            logged[n_log, 0], logged[n_log, 1] = i, t
                            logged[n_log, 2], logged[n_log, 3] = effects[e, 1], effects[e, 2]
                            n_log += 1
                            e = effects[e, 3]
                    held, value = cells[i, HELD] == 1, cells[i, VALUE]
                    stays, gets, chosen = _outcome(effects, first, held, value)
                    ends = held and not stays
                    for d in range(cells[i, DELAYS]):
                        row, count = cells[i, TEMPLATE] + d, cells[i, COUNTS] + d
                        if _restarts(effects, first, counts, count, delays[row, 0], delays[row, 3] == 1):
                            counts[count, 0] = t
                            if t + delays[row, 2] <= until:
                                heap = _widen(heap, n_heap + 1)
                                n_heap = _push(heap, n_heap, t + delays[row, 2], i, d, t)
                    cells[i, LAST] = -1
                    if not (ends or gets):
                        continue
                    nexts = _widen(nexts, n_next + 1)
                    nexts[n_next, 0], nexts[n_next, 1] = i, int(gets)
                    nexts[n_next, 2], nexts[n_next, 3] = chosen, t + tick
                    n_next += 1
                    if ends:
                        out = _widen(out, n_out + 1)
                        out[n_out, 0], out[n_out, 1] = i, cells[i, SINCE]
                        out[n_out, 2], out[n_out, 3] = t + tick, value
                        n_out += 1
                    if n_ranks == 1 or t < stretch.start:
                        continue
                    fluent = i % fluents
                    starts_heard = gets and _heard(board, fluent, START, chosen)
                    ends_heard = ends and _heard(board, fluent, END, value)
                    if not (starts_heard or ends_heard):
                        continue
                    for c in range(cells[i, FIRST_CHAIN], cells[i, LAST_CHAIN]):
                        edge, wanted = board.chains[c, 0], board.chains[c, 1]
                        there = gets and edge == START and (wanted == ANY or wanted == chosen)
                        there |= ends and edge == END and (wanted == ANY or wanted == value)
                        if there and _applies(board.chains[c], 5, cells):
                            effects = _widen(effects, n + 1)
                            n = _add(effects, n, cells, board.chains[c, 2], board.chains[c, 3], board.chains[c, 4])
            for k in range(n_next):
                for c in range(3):
                    cells[nexts[k, 0], c] = nexts[k, 1 + c]
        for m in range(first_met, n_met):
            i = met[m, 0]
            cells[i, CARRY_TIME] = max(cells[i, CARRY_TIME], settled)
            if cells[i, HELD] == 1:
                out = _widen(out, n_out + 1)
                out[n_out, 0], out[n_out, 1] = i, cells[i, SINCE]
                out[n_out, 2], out[n_out, 3] = OPEN, cells[i, VALUE]
                n_out += 1
            board.due[i] = _next_due(board, i, 0)
            board.alert[i] = -OPEN if cells[i, LIVELY] else _next_due(board, i, 1)
    return met[:n_met, 0].copy(), out[:n_out], logged[:n_log]
