"""Effects at one time-point: what candidates, chains and countdowns do to the cells of a component, before it is done.

Effects are rows (cell, kind, value, next effect of the same cell); the last of a cell is in its column LAST. They are
all collected before any is applied.
"""

from __future__ import annotations

from thalweg.columns.cells import ANY, COUNTS, HELD, LAST, NONE, TEMPLATE, VALUE
from thalweg.columns.compiled import part
from thalweg.columns.timelines import INITIATE, TERMINATE, TERMINATE_ALL
from thalweg.protocol import Ints


@part
def applies(rows: Ints, k: int, first: int, cells: Ints) -> bool:
    """Do the conditions of row k hold?"""
    for c in range(first, rows.shape[1] - 1, 2):
        if rows[k, c] < 0:
            return True
        cell, negated, value = rows[k, c] >> 1, rows[k, c] & 1, rows[k, c + 1]
        holds = cells[cell, HELD] == 1 and (value == ANY or cells[cell, VALUE] == value)
        if holds == (negated == 1):
            return False
    return True


@part
def add(effects: Ints, n: int, cells: Ints, cell: int, kind: int, value: int) -> int:
    """Add an effect to those of this time-point; the effects of a cell are linked."""
    effects[n, 0], effects[n, 1], effects[n, 2], effects[n, 3] = cell, kind, value, cells[cell, LAST]
    cells[cell, LAST] = n
    return n + 1


@part
def _fire(effects: Ints, n: int, cells: Ints, counts: Ints, delays: Ints, cell: int, delay: int) -> int:
    """Add the effect of a countdown, which then no longer runs."""
    counts[cells[cell, COUNTS] + delay, 0] = NONE
    row = cells[cell, TEMPLATE] + delay
    if delays[row, 1] == NONE:
        return add(effects, n, cells, cell, TERMINATE, delays[row, 0])
    return add(effects, n, cells, cell, INITIATE, delays[row, 1])


@part
def _initiated(effects: Ints, e: int, value: int) -> bool:
    """Is the value among what the linked effects initiate?"""
    while e >= 0:
        if effects[e, 1] <= INITIATE and effects[e, 2] == value:
            return True
        e = effects[e, 3]
    return False


@part
def fire_due(
    effects: Ints, n: int, cells: Ints, counts: Ints, delays: Ints, firing: Ints, n_firing: int
) -> int:
    """Countdowns that are due: those that cannot be postponed fire first; the others fire unless their value is
    initiated now, which another of them may do. Those that wait for each other all end without firing."""
    waiting = 0
    for k in range(n_firing):
        cell, delay = firing[k, 0], firing[k, 1]
        if delays[cells[cell, TEMPLATE] + delay, 3] == 1:
            firing[waiting, 0], firing[waiting, 1] = cell, delay
            waiting += 1
        else:
            n = _fire(effects, n, cells, counts, delays, cell, delay)
    moving = True
    while moving and waiting > 0:
        moving = False
        left = 0
        for k in range(waiting):
            cell, delay = firing[k, 0], firing[k, 1]
            value = delays[cells[cell, TEMPLATE] + delay, 0]
            if _initiated(effects, cells[cell, LAST], value):
                moving = True
                continue
            possible = False
            for j in range(waiting):
                if j != k and firing[j, 0] == cell:
                    possible |= delays[cells[cell, TEMPLATE] + firing[j, 1], 1] == value
            if possible:
                firing[left, 0], firing[left, 1] = cell, delay
                left += 1
            else:
                n = _fire(effects, n, cells, counts, delays, cell, delay)
                moving = True
        waiting = left
    for k in range(waiting):
        counts[cells[firing[k, 0], COUNTS] + firing[k, 1], 0] = NONE
    return n


@part
def outcome(effects: Ints, first: int, held: bool, value: int) -> tuple[bool, bool, int]:
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


@part
def restarts(effects: Ints, first: int, counts: Ints, at: int, value: int, postponable: bool) -> bool:
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
        elif kind >= TERMINATE_ALL or effects[e, 2] == value:
            broken = True
        e = effects[e, 3]
    if broken:
        counts[at, 0] = NONE
    return initiated and (counts[at, 0] == NONE or postponable)


@part
def is_heard(waiting: Ints, fluent: int, edge: int, value: int) -> bool:
    """Does any chain wait for such an edge?"""
    for k in range(len(waiting)):
        if waiting[k, 0] == fluent and waiting[k, 1] == edge and (waiting[k, 2] == ANY or waiting[k, 2] == value):
            return True
    return False


@part
def undo(effects: Ints, n: int, cells: Ints) -> None:
    """Take back effects that were added."""
    for k in range(n):
        cells[effects[k, 0], LAST] = -1
