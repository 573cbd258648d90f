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

from typing import NamedTuple

import numpy as np

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
from thalweg.columns.compiled import kernel, part
from thalweg.columns.effects import add, applies, fire_due, is_heard, outcome, restarts, undo
from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints

# --------------------------------------------------------------------------- the heap


@part
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


@part
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


# --------------------------------------------------------------------------- the sweep


@part
def _next_due(cells: Ints, counts: Ints, delays: Ints, i: int, column: int) -> int:
    """The first of a cell's countdowns that run now (column 0) or at the carry (column 1)."""
    due = int(OPEN)
    for d in range(cells[i, DELAYS]):
        since = counts[cells[i, COUNTS] + d, column]
        if since != NONE:
            due = min(due, since + delays[cells[i, TEMPLATE] + d, 2])
    return due


@part
def _save(met: Ints, first: int, last: int, cells: Ints, counts: Ints, settled: int) -> None:
    """Move the carry of the cells met up to now."""
    for m in range(first, last):
        i = met[m]
        if cells[i, CARRY_TIME] >= settled:
            continue
        for c in range(3):
            cells[i, CARRY + c] = cells[i, c]
        for d in range(cells[i, COUNTS], cells[i, COUNTS] + cells[i, DELAYS]):
            counts[d, 1] = counts[d, 0]


class Scratch(NamedTuple):
    """Room for a sweep. heap: due, cell, delay, since. effects: cell, kind, value, next effect of the same cell.
    firing, due_now: cell, delay. nexts: cell, held, value, since after this time-point. met: cells. out: intervals
    (cell, start, end, value). logged: effects (cell, time, kind, value). place: how far the sweep has come, and for how
    many effects it needs room to go on."""

    heap: Ints
    effects: Ints
    firing: Ints
    due_now: Ints
    nexts: Ints
    met: Ints
    out: Ints
    logged: Ints
    place: Ints


GROUP, AT, LOADED, SAVED, IN_HEAP, MET, MET_BEFORE, OUT, LOGGED, NEEDED = range(10)


@part
def _next_time(rows: Ints, order: Ints, at: int, end: int, cells: Ints, counts: Ints, heap: Ints, place: Ints) -> int:
    """When something may happen next: a candidate, or a countdown that still runs."""
    n = place[IN_HEAP]
    while n > 0 and counts[cells[heap[0, 1], COUNTS] + heap[0, 2], 0] != heap[0, 3]:
        n = _pop(heap, n)
    place[IN_HEAP] = n
    t = int(OPEN)
    if at < end:
        t = int(rows[order[at], 0])
    if n > 0 and heap[0, 0] < t:
        t = int(heap[0, 0])
    return t


@part
def _load(
    found: Ints,
    first: int,
    last: int,
    cells: Ints,
    counts: Ints,
    delays: Ints,
    most: int,
    scratch: Scratch,
    stretch: Stretch,
) -> bool:
    """Put a group's cells back to their carry, and their countdowns in the heap; False where there is no room."""
    heap, met, place = scratch.heap, scratch.met, scratch.place
    n_heap, n_met = 0, place[MET]
    place[NEEDED] = last - first
    if n_met + last - first > len(met) or (last - first) * most > len(heap):
        return False
    for m in range(first, last):
        i = found[m]
        met[n_met] = i
        n_met += 1
        cells[i, MARK] = stretch.stamp
        cells[i, LIVELY] = 0
        for c in range(3):
            cells[i, c] = cells[i, CARRY + c]
        for d in range(cells[i, DELAYS]):
            since = counts[cells[i, COUNTS] + d, 1]
            counts[cells[i, COUNTS] + d, 0] = since
            due = since + delays[cells[i, TEMPLATE] + d, 2]
            if since != NONE and due <= stretch.until:
                n_heap = _push(heap, n_heap, due, i, d, since)
    place[MET_BEFORE], place[MET], place[IN_HEAP] = place[MET], n_met, n_heap
    return True


@part
def _finish(cells: Ints, counts: Ints, delays: Ints, due: Ints, alert: Ints, scratch: Scratch, settled: int) -> bool:
    """Leave the last interval and the next countdowns of a group's cells; False where there is no room."""
    met, out, place = scratch.met, scratch.out, scratch.place
    n_out = place[OUT]
    place[NEEDED] = place[MET] - place[MET_BEFORE]
    if n_out + place[NEEDED] > len(out):
        return False
    for m in range(place[MET_BEFORE], place[MET]):
        i = met[m]
        cells[i, CARRY_TIME] = max(cells[i, CARRY_TIME], settled)
        if cells[i, HELD] == 1:
            out[n_out, 0], out[n_out, 1] = i, cells[i, SINCE]
            out[n_out, 2], out[n_out, 3] = OPEN, cells[i, VALUE]
            n_out += 1
        due[i] = _next_due(cells, counts, delays, i, 0)
        alert[i] = -OPEN if cells[i, LIVELY] else _next_due(cells, counts, delays, i, 1)
    place[OUT] = n_out
    return True


@part
def _gather(
    t: int, rows: Ints, row_cells: Ints, order: Ints, end: int, cells: Ints, counts: Ints, scratch: Scratch
) -> tuple[int, int]:
    """Effects of the candidates at a time-point, and the countdowns that are due: how many of each; -1 where there is
    no room, with everything as before."""
    effects, heap, firing, place = scratch.effects, scratch.heap, scratch.firing, scratch.place
    n = 0
    at = place[AT]
    while at < end and rows[order[at], 0] == t:
        k = order[at]
        i = row_cells[k]
        if t > cells[i, CARRY_TIME] and applies(rows, k, 3, cells):
            if n == len(effects):
                undo(effects, n, cells)
                place[NEEDED] = 2 * n
                return -1, 0
            n = add(effects, n, cells, i, rows[k, 1], rows[k, 2])
        at += 1
    if place[IN_HEAP] > len(firing):
        undo(effects, n, cells)
        place[NEEDED] = n
        return -1, 0
    place[AT] = at
    n_firing = 0
    while place[IN_HEAP] > 0 and heap[0, 0] == t:
        if counts[cells[heap[0, 1], COUNTS] + heap[0, 2], 0] == heap[0, 3]:
            firing[n_firing, 0], firing[n_firing, 1] = heap[0, 1], heap[0, 2]
            n_firing += 1
        place[IN_HEAP] = _pop(heap, place[IN_HEAP])
    return n, n_firing


@part
def _roomy(effects: int, delays: int, log: bool, scratch: Scratch) -> bool:
    """Is there room for so many effects at one time-point, each with so many countdowns?"""
    place = scratch.place
    place[NEEDED] = effects
    return (
        effects <= len(scratch.effects)
        and effects <= len(scratch.nexts)
        and effects <= len(scratch.due_now)
        and place[IN_HEAP] + effects * delays <= len(scratch.heap)
        and place[MET] + effects <= len(scratch.met)
        and place[OUT] + effects <= len(scratch.out)
        and (not log or place[LOGGED] + effects <= len(scratch.logged))
    )


@part
def _settle(
    t: int,
    i: int,
    cells: Ints,
    counts: Ints,
    delays: Ints,
    scratch: Scratch,
    stretch: Stretch,
    n_next: int,
    log: bool,
) -> tuple[bool, bool, int]:
    """Apply the linked effects of a cell, but for its state, which waits in `nexts`: (its value ends, it gets a value,
    which)."""
    effects, heap, place, nexts, out = scratch.effects, scratch.heap, scratch.place, scratch.nexts, scratch.out
    first = cells[i, LAST]
    if cells[i, MARK] != stretch.stamp:
        cells[i, MARK] = stretch.stamp
        scratch.met[place[MET]] = i
        place[MET] += 1
    if t > stretch.settled:
        cells[i, LIVELY] = 1
    if log:
        e = first
        while e >= 0:
            n = place[LOGGED]
            scratch.logged[n, 0], scratch.logged[n, 1] = i, t
            scratch.logged[n, 2], scratch.logged[n, 3] = effects[e, 1], effects[e, 2]
            place[LOGGED] += 1
            e = effects[e, 3]
    held, value = cells[i, HELD] == 1, cells[i, VALUE]
    stays, gets, chosen = outcome(effects, first, held, value)
    ends = held and not stays
    for d in range(cells[i, DELAYS]):
        row, count = cells[i, TEMPLATE] + d, cells[i, COUNTS] + d
        if restarts(effects, first, counts, count, delays[row, 0], delays[row, 3] == 1):
            counts[count, 0] = t
            if t + delays[row, 2] <= stretch.until:
                place[IN_HEAP] = _push(heap, place[IN_HEAP], t + delays[row, 2], i, d, t)
    cells[i, LAST] = -1
    if ends or gets:
        nexts[n_next, 0], nexts[n_next, 1], nexts[n_next, 2], nexts[n_next, 3] = i, int(gets), chosen, t + stretch.tick
    if ends:
        n = place[OUT]
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = i, cells[i, SINCE], t + stretch.tick, value
        place[OUT] += 1
    return ends, gets, chosen


@part
def _follow(
    effects: Ints, n: int, cells: Ints, chains: Ints, heard: Ints, i: int, fluent: int, ended: bool, begun: bool, v: int
) -> int:
    """Add the effects of the chains that start with what happened to a cell: its value ended, the value v began."""
    value = cells[i, VALUE]
    if not (begun and is_heard(heard, fluent, START, v)) and not (ended and is_heard(heard, fluent, END, value)):
        return n
    for c in range(cells[i, FIRST_CHAIN], cells[i, LAST_CHAIN]):
        edge, wanted = chains[c, 0], chains[c, 1]
        there = begun and edge == START and (wanted == ANY or wanted == v)
        there |= ended and edge == END and (wanted == ANY or wanted == value)
        if there and applies(chains, c, 5, cells):
            n = add(effects, n, cells, chains[c, 2], chains[c, 3], chains[c, 4])
    return n


@part
def _point(t: int, n: int, n_firing: int, board: Board, stretch: Stretch, scratch: Scratch, log: bool) -> None:
    """One time-point: n effects of candidates and so many countdowns that are due, fluents in the order of ranks."""
    cells, counts, delays, ranks = board.cells, board.counts, board.delays, board.ranks
    effects, firing, due_now, nexts = scratch.effects, scratch.firing, scratch.due_now, scratch.nexts
    fluents = len(ranks)
    n_next = 0
    for rank in range(board.ranked):
        n_due = 0
        for k in range(n_firing):
            if board.ranked == 1 or ranks[firing[k, 0] % fluents] == rank:
                due_now[n_due, 0], due_now[n_due, 1] = firing[k, 0], firing[k, 1]
                n_due += 1
        if n_due > 0:
            n = fire_due(effects, n, cells, counts, delays, due_now, n_due)
        k = -1
        while k + 1 < n:
            k += 1
            i = effects[k, 0]
            if cells[i, LAST] < 0 or (board.ranked > 1 and ranks[i % fluents] != rank):
                continue
            ends, gets, chosen = _settle(t, i, cells, counts, delays, scratch, stretch, n_next, log)
            if ends or gets:
                n_next += 1
                if board.ranked > 1 and t >= stretch.start:
                    n = _follow(effects, n, cells, board.chains, board.heard, i, i % fluents, ends, gets, chosen)
    for k in range(n_next):
        for c in range(3):
            cells[nexts[k, 0], c] = nexts[k, 1 + c]


@kernel
def _go_on(
    found: Ints,
    starts: Ints,
    rows: Ints,
    row_cells: Ints,
    order: Ints,
    row_starts: Ints,
    board: Board,
    stretch: Stretch,
    scratch: Scratch,
    log: bool,
) -> bool:
    """Sweep from where the scratch says; False where there is no room to go on. Arrays are never exchanged in here:
    that would cost more than all the rest."""
    cells, counts, delays, place = board.cells, board.counts, board.delays, scratch.place
    for g in range(place[GROUP], len(starts) - 1):
        place[GROUP] = g
        if place[LOADED] == 0:
            if not _load(found, starts[g], starts[g + 1], cells, counts, delays, board.most, scratch, stretch):
                return False
            place[LOADED], place[SAVED], place[AT] = 1, 0, row_starts[g]
        while True:
            t = _next_time(rows, order, place[AT], row_starts[g + 1], cells, counts, scratch.heap, place)
            if place[SAVED] == 0 and t > stretch.settled:
                place[SAVED] = 1
                _save(scratch.met, place[MET_BEFORE], place[MET], cells, counts, stretch.settled)
            if t > stretch.until:
                break
            at = place[AT]
            n, n_firing = _gather(t, rows, row_cells, order, row_starts[g + 1], cells, counts, scratch)
            if n < 0:
                return False
            if not _roomy((n + n_firing) * board.spread, board.most, log, scratch):
                undo(scratch.effects, n, cells)
                for k in range(n_firing):
                    i, d = scratch.firing[k, 0], scratch.firing[k, 1]
                    place[IN_HEAP] = _push(scratch.heap, place[IN_HEAP], t, i, d, counts[cells[i, COUNTS] + d, 0])
                place[AT] = at
                return False
            _point(t, n, n_firing, board, stretch, scratch, log)
        if not _finish(cells, counts, delays, board.due, board.alert, scratch, stretch.settled):
            return False
        place[LOADED] = 0
    return True


def sweep(
    found: Ints,
    starts: Ints,
    rows: Ints,
    row_cells: Ints,
    order: Ints,
    row_starts: Ints,
    board: Board,
    stretch: Stretch,
    *,
    log: bool,
) -> tuple[Ints, Ints, Ints]:
    """Timelines of the cells of some groups, and of those that their chains reach.

    Group g has found[starts[g]:starts[g+1]] and candidates rows[order[row_starts[g]:row_starts[g+1]]], in the order
    of time. Returns the cells met, their intervals (cell, start, end, value), and with `log` the effects (cell, time,
    kind, value).
    """
    size = len(found) + 64
    scratch = Scratch(
        heap=np.empty((64, 4), np.int64),
        effects=np.empty((64, 4), np.int64),
        firing=np.empty((64, 2), np.int64),
        due_now=np.empty((64, 2), np.int64),
        nexts=np.empty((64, 4), np.int64),
        met=np.empty(size, np.int64),
        out=np.empty((size + len(rows), 4), np.int64),
        logged=np.empty((64, 4), np.int64),
        place=np.zeros(NEEDED + 1, np.int64),
    )
    while not _go_on(found, starts, rows, row_cells, order, row_starts, board, stretch, scratch, log):
        scratch = _roomier(scratch, board.most)
    place = scratch.place
    return scratch.met[: place[MET]], scratch.out[: place[OUT]], scratch.logged[: place[LOGGED]]


def _roomier(scratch: Scratch, most: int) -> Scratch:
    """The scratch with room for the effects that are needed."""
    place = scratch.place
    needed = int(place[NEEDED])

    def room(rows: Ints, size: int) -> Ints:
        if size <= len(rows):
            return rows
        more = np.empty((max(size, 2 * len(rows)), *rows.shape[1:]), np.int64)
        more[: len(rows)] = rows
        return more

    return Scratch(
        heap=room(scratch.heap, int(place[IN_HEAP]) + needed * most),
        effects=room(scratch.effects, needed),
        firing=room(scratch.firing, int(place[IN_HEAP])),
        due_now=room(scratch.due_now, needed),
        nexts=room(scratch.nexts, needed),
        met=room(scratch.met, int(place[MET]) + needed),
        out=room(scratch.out, int(place[OUT]) + needed),
        logged=room(scratch.logged, int(place[LOGGED]) + needed),
        place=place,
    )
