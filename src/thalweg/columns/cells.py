"""Cells: what a sweep knows of each fluent instance of its component, and the groups that they form.

Cells that occur in each other's conditions and chains form a group; groups are independent. Only cells to which
something may happen take part in a sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from thalweg.columns.ragged import group_starts
from thalweg.columns.timelines import OPEN
from thalweg.protocol import Ints

NONE = np.int64(-(2**63))
"""No countdown; as a delay's target: the source ends."""
ANY = np.int64(-(2**63) + 1)
"""Some value, whichever, in a condition or a chain."""
START, END = 0, 1


class Cells(NamedTuple):
    """What is known of each cell. `carry` and `state` are (held, value, since); the carry is the state after
    `carry_time`. `due` and `carry_due` are the next countdowns of state and carry. `lively` cells have effects after
    their carry. `marks` tell which sweep met a cell last; `last` is scratch, -1 throughout."""

    carry: Ints
    carry_time: Ints
    carry_due: Ints
    state: Ints
    due: Ints
    lively: Ints
    marks: Ints
    last: Ints


class Delays(NamedTuple):
    """Delays of cell i are rows[first[i]:last[i]]: value, target, length, postponable, cell. `since` says when the
    countdown that runs was started."""

    first: Ints
    last: Ints
    rows: Ints
    carry_since: Ints
    since: Ints


class Chains(NamedTuple):
    """Chains of cell i are rows[first[i]:last[i]]. `ranks` are by fluent, which is the cell modulo their number."""

    first: Ints
    last: Ints
    rows: Ints
    ranks: Ints


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
FRESH = {"carry_time": NEVER, "carry_due": int(OPEN), "due": int(OPEN), "last": -1}
"""What a new cell has in each column; 0 where nothing is said."""


class CellArrays:
    """The columns of `Cells`, with room for more, and the parent of each cell in its group."""

    def __init__(self) -> None:
        self.columns = Cells(*(_fresh(name, 8) for name in Cells._fields))
        self.parents = np.arange(8)

    def ensure(self, count: int) -> None:
        """Make room for cells below `count`."""
        room = len(self.parents)
        if count <= room:
            return
        size = max(count, 2 * room)
        self.columns = Cells(
            *(
                np.concatenate([old, _fresh(name, size - room)])
                for name, old in zip(Cells._fields, self.columns, strict=True)
            )
        )
        self.parents = np.concatenate([self.parents, np.arange(room, size)])

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs; the rest is scratch."""
        kept = {name: getattr(self.columns, name) for name in KEPT}
        return {**kept, "parents": self.parents}

    @classmethod
    def of(cls, state: dict[str, Ints]) -> CellArrays:
        """Columns from a snapshot."""
        self = cls()
        self.parents = state["parents"]
        found = {name: state[name] if name in KEPT else _fresh(name, len(self.parents)) for name in Cells._fields}
        found["state"] = found["carry"].copy()
        self.columns = Cells(**found)
        return self


KEPT = ("carry", "carry_time", "carry_due", "due", "lively")


def _fresh(name: str, count: int) -> Ints:
    if name in ("carry", "state"):
        return np.zeros((count, 3), np.int64)
    return np.full(count, FRESH.get(name, 0), np.int64)


class CellTable:
    """Rows that belong to cells; those of one cell stand together, at first[cell] up to last[cell]."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self.rows = np.empty((8, width), np.int64)
        self.first = np.zeros(8, np.int64)
        self.last = np.zeros(8, np.int64)

    def ensure(self, count: int) -> None:
        """Make room for cells below `count`, which have no rows."""
        room = len(self.first)
        if count > room:
            more = np.zeros(max(count, 2 * room) - room, np.int64)
            self.first, self.last = np.concatenate([self.first, more]), np.concatenate([self.last, more])

    def append(self, cells: Ints, rows: Ints) -> None:
        """Add rows at the end, in runs of equal cells; what those cells had before is no longer theirs."""
        start, end = self.count, self.count + len(rows)
        if end > len(self.rows):
            table = np.empty((max(end, 2 * len(self.rows)), self.rows.shape[1]), np.int64)
            table[:start] = self.rows[:start]
            self.rows = table
        self.rows[start:end] = rows
        runs = group_starts(cells)
        owners = cells[runs[:-1]]
        self.first[owners], self.last[owners] = start + runs[:-1], start + runs[1:]
        self.count = end

    def state(self) -> dict[str, Ints]:
        """What a snapshot needs."""
        return {"rows": self.rows[: self.count], "first": self.first, "last": self.last}

    @classmethod
    def of(cls, state: dict[str, Ints]) -> CellTable:
        """A table from a snapshot."""
        self = cls(state["rows"].shape[1])
        self.rows, self.first, self.last = state["rows"], state["first"], state["last"]
        self.count = len(self.rows)
        return self


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
    parents: Ints, wanted: Ints, cells: Cells, sizes: Ints, count: int, ranks: Ints, stretch: Stretch
) -> tuple[Ints, Ints]:
    """The cells of the wanted cells' groups to which something may happen: wanted themselves, with candidates (by
    `sizes`), lively, or with a countdown that comes due. Returns them group by group, and where each group starts;
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
        if stands[i] & 2 or sizes[i] > 0 or cells.lively[i] or cells.carry_due[i] <= stretch.until:
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
def beginning(
    offsets: Ints, lengths: Ints, pool: Ints, ids: Ints, intervals: Ints, starts: Ints, expiry: int
) -> tuple[Ints, Ints]:
    """Where intervals[starts[k]:starts[k+1]] (start, end, value) are to replace the list ids[k]: how many rows of the
    list stay, and from which interval on they are to be written. Those that ended by the expiry are left out."""
    kept = np.empty(len(ids), np.int64)
    froms = np.empty(len(ids), np.int64)
    for k in range(len(ids)):
        at, end = offsets[ids[k]], offsets[ids[k]] + lengths[ids[k]]
        while at < end and pool[at, 1] <= expiry:
            at += 1
        r, stop = starts[k], starts[k + 1]
        while r < stop and intervals[r, 1] <= expiry:
            r += 1
        while r < stop and at < end:
            if pool[at, 0] != intervals[r, 0] or pool[at, 1] != intervals[r, 1] or pool[at, 2] != intervals[r, 2]:
                break
            at += 1
            r += 1
        kept[k], froms[k] = at - offsets[ids[k]], r
    return kept, froms
