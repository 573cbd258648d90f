"""Cells: what a sweep knows of each fluent instance of its component, and the groups that they form.

Cells that occur in each other's conditions and chains form a group; groups are independent. Only cells to which
something may happen take part in a sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thalweg.columns.compiled import kernel, njit
from thalweg.columns.slabs import LENGTH, OFFSET, Places, drop_front, present
from thalweg.columns.sorting import compared
from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints

NONE = np.int64(-(2**63))
"""No countdown; as a delay's target: the source ends."""
ANY = np.int64(-(2**63) + 1)
"""Some value, whichever, in a condition or a chain."""
START, END = 0, 1


HELD, VALUE, SINCE = 0, 1, 2
"""Columns of a cell: its state, which is whether it has a value, which one, and since when."""
CARRY, CARRY_TIME = 3, 6
"""The carry: the state after the carry time, in three columns, and that time."""
LAST, MARK, LIVELY = 7, 8, 9
"""Scratch: the latest effect at a time-point (-1: none); which sweep met the cell; has it effects after its carry?"""
COUNTS, TEMPLATE, DELAYS = 10, 11, 12
"""Where its countdowns stand, where the rows of its delays start, and how many there are."""
FIRST_CHAIN, LAST_CHAIN = 13, 14
WIDTH = 16


class Board(NamedTuple):
    """All cells of a component. `cells` has a row per cell. `due` is the next countdown of each; `alert` says from when
    on a cell takes part in a sweep of its group: at once when lively, else with the next countdown of its carry.
    `counts` has a row (since, since at the carry) per delay of each cell; NONE where it does not run. `delays` are rows
    (value, target, length, postponable), shared by cells; `chains` rows as the sweep describes them. `ranks` are by
    fluent, which is the cell modulo their number, and `ranked` says how many there are; `heard` are the (fluent, edge,
    value) that chains wait for. One effect leads to at most `spread` at one time-point; a cell has at most `most`
    delays."""

    cells: Ints
    due: Ints
    alert: Ints
    counts: Ints
    delays: Ints
    chains: Ints
    ranks: Ints
    heard: Ints
    ranked: int
    spread: int
    most: int


class Stretch(NamedTuple):
    """Where a sweep goes: the carry moves up to `settled`, the rest is done until `until`. Edges before `start` are
    no edges; `stamp` numbers the sweep."""

    settled: int
    until: int
    tick: int
    start: int
    stamp: int


# --------------------------------------------------------------------------- arrays that grow with the cells

NEVER = -(2**62)


def lengthen(array: Ints, needed: int) -> None:
    """Give an array more rows, and some to spare, where it stands: large ones are not copied. Nobody may hold a view
    of it."""
    array.resize((needed + (needed >> 2), *array.shape[1:]), refcheck=False)


class CellArrays:
    """The arrays of the cells, with room for more, and the parent of each cell in its group."""

    def __init__(self) -> None:
        self.count = 0
        self.cells = np.zeros((8, WIDTH), np.int64)
        self.due = np.zeros(8, np.int64)
        self.alert = np.zeros(8, np.int64)
        self.parents = np.zeros(8, np.int64)

    def ensure(self, count: int) -> None:
        """Make room for cells below `count`; the new ones have no value and no countdown, each a group of its own."""
        first = self.count
        if count <= first:
            return
        if count > len(self.parents):
            for array in (self.cells, self.due, self.alert, self.parents):
                lengthen(array, count)
        self.cells[first:count, CARRY_TIME] = NEVER
        self.cells[first:count, LAST] = -1
        self.due[first:count] = self.alert[first:count] = OPEN
        self.parents[first:count] = np.arange(first, count)
        self.count = count

    def keep(self, ids: Ints, places: Ints, count: int) -> None:
        """Forget all cells but these, which go to these places among `count`, each a group of its own. The room that
        the others took is kept for those that come next, unless it was more than was needed."""
        cells, due, alert = _at_rest(self.cells[ids]), self.due[ids], self.alert[ids]
        if len(self.parents) > 4 * max(self.count, 8):
            self.__dict__.update(CellArrays().__dict__)
        self.cells[: self.count] = 0
        self.count = 0
        self.ensure(count)
        self.cells[places], self.due[places], self.alert[places] = cells, due, alert

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs."""
        cells = _at_rest(self.cells[: self.count])
        rest = {name: getattr(self, name)[: self.count] for name in ("due", "alert", "parents")}
        return {"cells": cells, **rest}

    @classmethod
    def of(cls, state: dict[str, Ints]) -> CellArrays:
        """The arrays from a snapshot."""
        self = cls()
        self.cells, self.due = state["cells"].copy(), state["due"].copy()
        self.alert, self.parents = state["alert"].copy(), state["parents"].copy()
        self.count = len(self.parents)
        return self


def _at_rest(cells: Ints) -> Ints:
    """Between queries the carry says it all."""
    cells[:, :CARRY] = cells[:, CARRY:CARRY_TIME]
    cells[:, MARK] = 0
    return cells


class GrowingRows:
    """A table that grows at its end."""

    def __init__(self, width: int, rows: Ints | None = None) -> None:
        self.rows = np.empty((8, width), np.int64) if rows is None else rows.copy()
        self.count = 0 if rows is None else len(rows)

    def append(self, rows: Ints) -> int:
        """Add rows; returns where they start."""
        start, end = self.count, self.count + len(rows)
        if end > len(self.rows):
            lengthen(self.rows, end)
        self.rows[start:end] = rows
        self.count = end
        return start

    def keep(self, at: Ints) -> None:
        """Forget all rows but these, in this order. The room of the others is kept, unless it was more than was
        needed."""
        kept = self.rows[at]
        if len(self.rows) > 4 * max(self.count, 8):
            self.rows = np.empty((2 * self.count, self.rows.shape[1]), np.int64)
        self.count = len(kept)
        self.rows[: self.count] = kept

    def filled(self) -> Ints:
        """The rows that are there."""
        return self.rows[: self.count]


# --------------------------------------------------------------------------- rows that name cells


def named(rows: Ints, first: int) -> Ints:
    """The cells that the conditions of rows name, which start at column `first`."""
    found = rows[:, first:-1:2]
    return found[found >= 0] >> 1


def renumber(rows: Ints, first: int, new_of: Ints) -> None:
    """Name the cells in conditions by their new numbers."""
    for column in range(first, rows.shape[1] - 1, 2):
        there = rows[:, column] >= 0
        cell = rows[there, column]
        rows[there, column] = 2 * new_of[cell >> 1] + (cell & 1)


# --------------------------------------------------------------------------- groups


@njit(cache=True)
def unite(parents: Ints, cells: Ints, rows: Ints, first: int) -> None:
    """Join each row's cell with the cells of its conditions, which start at column `first`."""
    for k in range(len(cells)):
        for c in range(first, rows.shape[1] - 1, 2):
            if rows[k, c] < 0:
                break
            join(parents, cells[k], rows[k, c] >> 1)


@njit(cache=True)
def unite_pairs(parents: Ints, cells: Ints, others: Ints) -> None:
    """Join cells two by two."""
    for k in range(len(cells)):
        join(parents, cells[k], others[k])


@njit(cache=True)
def join(parents: Ints, one: int, other: int) -> None:
    """Make one group of the groups of two cells."""
    a, b = root(parents, one), root(parents, other)
    if a != b:
        parents[a] = b


@njit(cache=True)
def root(parents: Ints, i: int) -> int:
    """The cell that stands for the group of a cell."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@njit(cache=True)
def roots(parents: Ints, cells: Ints) -> Ints:
    """The cells that stand for the groups of the cells."""
    out = np.empty(len(cells), np.int64)
    for k in range(len(cells)):
        out[k] = root(parents, cells[k])
    return out


@njit(cache=True)
def active(
    parents: Ints, wanted: Ints, alert: Ints, lists: Places, count: int, until: int, ranks: Ints
) -> tuple[Ints, Ints]:
    """The cells of the wanted cells' groups to which something may happen: wanted themselves, with candidates (in
    `lists`), or alert until then. Returns them group by group, and where each group starts;
    `ranks` gets the number of each group at its root. One pass over all cells."""
    groups = 0
    stands = np.zeros(count, np.int8)  # 1: root of a wanted group, 2: wanted
    for k in range(len(wanted)):
        r = root(parents, wanted[k])
        if stands[r] & 1 == 0:
            stands[r] |= 1
            ranks[r] = groups
            groups += 1
        stands[wanted[k]] |= 2
    starts = np.zeros(groups + 2, np.int64)
    found = np.empty(count, np.int64)
    n = 0
    for i in range(count):
        if stands[i] & 2 or lists[i, LENGTH] > 0 or alert[i] <= until:
            r = root(parents, i)
            if stands[r] & 1:
                found[n] = i
                n += 1
                starts[ranks[r] + 2] += 1
    for g in range(groups):
        starts[g + 2] += starts[g + 1]
    out = np.empty(n, np.int64)
    for k in range(n):
        g = ranks[root(parents, found[k])]
        out[starts[g + 1]] = found[k]
        starts[g + 1] += 1
    return out, starts[: groups + 1]


# --------------------------------------------------------------------------- lists


@kernel
def trim(table: Places, pool: Ints, met: Ints, cells: Ints) -> None:
    """Drop the candidates of the cells that the carry has taken in."""
    for k in range(len(met)):
        i = met[k]
        while table[i, LENGTH] > 0 and pool[table[i, OFFSET], 0] <= cells[i, CARRY_TIME]:
            drop_front(table, i, 1)


@njit(cache=True)
def shares(met: Ints, owners: Ints, fluent: int, fluents: int, count: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Of the cells met and the cells that own intervals, both in order, those of one fluent with instances below
    `count`: the instances, their places among those met, and from where to where their intervals go. Linear."""
    ids, places = np.empty(len(met), np.int64), np.empty(len(met), np.int64)
    froms, tos = np.empty(len(met), np.int64), np.empty(len(met), np.int64)
    n = 0
    r = 0
    for k in range(len(met)):
        first = r
        while r < len(owners) and owners[r] == met[k]:
            r += 1
        i = met[k] // fluents
        if met[k] - i * fluents == fluent and i < count:
            ids[n], places[n], froms[n], tos[n] = i, k, first, r
            n += 1
    return ids[:n], places[:n], froms[:n], tos[:n]


@njit(cache=True)
def beginning(
    table: Places, pool: Ints, ids: Ints, intervals: Ints, starts: Ints, stops: Ints, expiry: int
) -> tuple[Ints, Ints]:
    """Where intervals[starts[k]:stops[k]] (start, end, value) are to replace the list ids[k]: how many rows of the
    list stay, and from which interval on they are to be written. Those that ended by the expiry are left out."""
    kept = np.empty(len(ids), np.int64)
    froms = np.empty(len(ids), np.int64)
    for k in range(len(ids)):
        first, end = present(table, ids[k])
        at = first
        while at < end and pool[at, 1] <= expiry:
            at += 1
        r, stop = starts[k], stops[k]
        while r < stop and intervals[r, 1] <= expiry:
            r += 1
        while r < stop and at < end and compared(pool[at], intervals[r], 3) == 0:
            at += 1
            r += 1
        kept[k], froms[k] = at - first, r
    return kept, froms
