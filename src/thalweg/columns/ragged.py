"""Ragged: one sorted list of int64 rows per dense id, with three versions of every list.

A list lives in a slab of a shared pool (see `slabs`). Appending at the end leaves earlier versions untouched; any
other change keeps what stands behind it for the earlier versions. So the *base* version (as of the last query), the
*last* one (as of the last round of a loop) and the *now* version can all be read while a query is evaluated, and only
lists that change cost anything.
Rows whose time (column `clock`) is at or before the expiry are dropped when their list is next written, or when the
pool is packed.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numba import njit

from thalweg.columns import inserting, slabs
from thalweg.columns.gathering import TIME
from thalweg.columns.inserting import NOTHING, first_not_before, net, overflow, run_before
from thalweg.columns.slabs import REST, drop_front, keep_rest, move, same
from thalweg.columns.sorting import compared, group_starts, sort_changes
from thalweg.protocol import Ints


class Version(IntEnum):
    """Which state of the lists to read."""

    BASE = 0
    LAST = 1
    NOW = 2


@njit(cache=True)
def _needed(offsets: Ints, lengths: Ints, rooms: Ints, pool: Ints, ids: Ints, rows: Ints, groups: Ints) -> int:
    """Upper bound of pool rows that a merge of the groups can use."""
    total = 0
    for g in range(len(groups) - 1):
        lo, more = groups[g], groups[g + 1] - groups[g]
        i = ids[lo]
        length = lengths[2, i]
        if length + more <= rooms[i] and same(offsets, lengths, i):
            total += length - first_not_before(pool, offsets[2, i], length, rows[lo])
        else:
            total += 2 * (length + more) + 4
    return total


@njit(cache=True)
def _merge(
    offsets: Ints,
    lengths: Ints,
    rooms: Ints,
    pool: Ints,
    used: int,
    ids: Ints,
    rows: Ints,
    groups: Ints,
    clock: int,
    expiry: int,
    gone: Ints,
    came: Ints,
    assign: bool,
) -> tuple[int, int, int]:
    """Merge sorted (id, row) changes into the lists; the last column is a count that adds up, zero removes. With
    `assign` it is the count that shall be.

    `gone` and `came` receive the positions of rows that ceased or began to be there. Rows of equal key within a
    group must be adjacent. Linear in the changes and in what stands behind them.
    """
    width = pool.shape[1]
    keys = width - 1
    n_gone = 0
    n_came = 0
    for g in range(len(groups) - 1):
        lo, hi = groups[g], groups[g + 1]
        i = ids[lo]
        expired = 0
        while expired < lengths[2, i] and pool[offsets[2, i] + expired, clock] <= expiry:
            expired += 1
        if expired:
            drop_front(offsets, lengths, rooms, i, expired)
        start, length = offsets[2, i], lengths[2, i]
        appends = length == 0 or compared(pool[start + length - 1], rows[lo], keys) < 0
        if appends:
            for r in range(lo, hi):
                if rows[r, keys] <= 0:
                    appends = False
                    break
        if appends:
            if length + hi - lo > rooms[i]:
                room = 2 * (length + hi - lo) + 4
                move(pool, used, pool, start, length)
                start = used
                used += room
                rooms[i] = room
            n = length
            for r in range(lo, hi):
                if n > length and compared(pool[start + n - 1], rows[r], keys) == 0:
                    if not assign:
                        pool[start + n - 1, keys] += rows[r, keys]
                    continue
                for c in range(width):
                    pool[start + n, c] = rows[r, c]
                came[n_came] = r
                n_came += 1
                n += 1
            offsets[2, i] = start
            lengths[2, i] = n
            continue
        kept = first_not_before(pool, start, length, rows[lo])
        if length + hi - lo <= rooms[i] and same(offsets, lengths, i):
            a, end = used, used + length - kept
            used = keep_rest(offsets, lengths, pool, used, i, kept)
            target = start
        else:
            room = 2 * (length + hi - lo) + 4
            target = used
            move(pool, target, pool, start, kept)
            a, end = start + kept, start + length
            used += room
            rooms[i] = room
        n = kept
        r = lo
        while a < end or r < hi:
            if r >= hi:
                order = -1
            elif a >= end:
                order = 1
            else:
                order = compared(pool[a], rows[r], keys)
            if order < 0:
                run = end - a if r >= hi else run_before(pool, a, end, rows[r])
                move(pool, target + n, pool, a, run)
                n += run
                a += run
                continue
            before = 0
            if order == 0:
                before = pool[a, keys]
                a += 1
            first = r
            count = before
            while r < hi and compared(rows[r], rows[first], keys) == 0:
                count = rows[r, keys] if assign else count + rows[r, keys]
                r += 1
            if count > 0:
                for c in range(keys):
                    pool[target + n, c] = rows[first, c]
                pool[target + n, keys] = count
                n += 1
                if before <= 0:
                    came[n_came] = first
                    n_came += 1
            elif before > 0:
                gone[n_gone] = first
                n_gone += 1
        offsets[2, i] = target
        lengths[2, i] = n
    return used, n_gone, n_came


@njit(cache=True)
def _causes_at(ids: Ints, rows: Ints, causes: Ints, at: Ints) -> Ints:
    """The largest cause of each row at these positions and of those equal to it, which follow it."""
    keys = rows.shape[1] - 1
    out = np.empty(len(at), np.int64)
    for k in range(len(at)):
        p = at[k]
        best = causes[p]
        q = p + 1
        while q < len(ids) and ids[q] == ids[p] and compared(rows[q], rows[p], keys) == 0:
            best = max(best, causes[q])
            q += 1
        out[k] = best
    return out


@njit(cache=True)
def _follow(offsets: Ints, lengths: Ints, ids: Ints) -> None:
    """Make the older versions of the lists what they are now."""
    for k in range(len(ids)):
        i = ids[k]
        for version in range(2):
            offsets[version, i], lengths[version, i] = offsets[2, i], lengths[2, i]
            lengths[version + REST, i] = 0


@njit(cache=True)
def _pack(
    offsets: Ints, lengths: Ints, rooms: Ints, pool: Ints, target: Ints, count: int, clock: int, expiry: int
) -> int:
    """Copy all lists to a fresh pool, dropping expired rows; every version becomes the same. Linear in the pool."""
    used = 0
    for i in range(count):
        start, length = offsets[2, i], lengths[2, i]
        while length > 0 and pool[start, clock] <= expiry:
            start += 1
            length -= 1
        move(target, used, pool, start, length)
        for v in range(3):
            offsets[v, i] = used
            lengths[v, i] = length
            lengths[v + REST, i] = 0
        room = length + (length >> 2)
        rooms[i] = room
        used += room
    return used


@njit(cache=True)
def _copy_lists(
    offsets: Ints, lengths: Ints, rests: Ints, rest_lengths: Ints, pool: Ints, ids: Ints, out: Ints
) -> None:
    n = 0
    for k in range(len(ids)):
        i = ids[k]
        for part in range(2):
            start, count = (offsets[i], lengths[i]) if part == 0 else (rests[i], rest_lengths[i])
            move(out, n, pool, start, count)
            n += count


@njit(cache=True)
def _in_ranges(
    offsets: Ints,
    lengths: Ints,
    rests: Ints,
    rest_lengths: Ints,
    pool: Ints,
    ids: Ints,
    froms: Ints,
    tos: Ints,
    out: Ints,
    which: Ints,
) -> int:
    """Pool positions of the rows of list ids[k] whose first column is in [froms[k], tos[k]). With `out` empty, only
    counts. Binary search per range."""
    n = 0
    for k in range(len(ids)):
        i = ids[k]
        if i < 0:
            continue
        for part in range(2):
            start, count = (offsets[i], lengths[i]) if part == 0 else (rests[i], rest_lengths[i])
            end = start + count
            lo, hi = start, end
            while lo < hi:
                mid = (lo + hi) >> 1
                if pool[mid, 0] < froms[k]:
                    lo = mid + 1
                else:
                    hi = mid
            while lo < end and pool[lo, 0] < tos[k]:
                if len(out):
                    out[n] = lo
                    which[n] = k
                n += 1
                lo += 1
    return n


class Ragged:
    """Lists of rows of a fixed width; the first column is a time."""

    def __init__(self, width: int, clock: int = 0) -> None:
        self.width = width
        self.clock = clock
        self.count = 0
        self.offsets = np.zeros((6, 8), np.int64)
        self.lengths = np.zeros((6, 8), np.int64)
        self.rooms = np.zeros(8, np.int64)
        self.fronts = np.zeros(8, np.int64)
        self.pool = np.empty((64, width), np.int64)
        self.used = 0
        self.expiry = -(2**62)
        self.latest = -(2**62)
        """No row has a later time (first column) than this."""
        self._touched: list[Ints] = []
        self._pack_at = 4096

    def ensure(self, count: int) -> None:
        """Make room for ids below `count`; new lists are empty."""
        if count > len(self.rooms):
            size = max(count, 2 * len(self.rooms))
            for name in ("offsets", "lengths"):
                old = getattr(self, name)
                new = np.zeros((6, size), np.int64)
                new[:, : self.count] = old[:, : self.count]
                setattr(self, name, new)
            for name in ("rooms", "fronts"):
                room = np.zeros(size, np.int64)
                room[: self.count] = getattr(self, name)[: self.count]
                setattr(self, name, room)
        self.count = max(self.count, count)

    def reserve(self, more: int) -> int:
        """Room for `more` rows at the end of the pool; returns where they start."""
        if self.used + more > len(self.pool):
            pool = np.empty((max(self.used + more, 2 * len(self.pool)), self.width), np.int64)
            pool[: self.used] = self.pool[: self.used]
            self.pool = pool
        return self.used

    def merge(
        self, ids: Ints, rows: Ints, *, assign: bool = False
    ) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """Add counted rows to the lists, or with `assign` give rows their counts. Returns (ids, rows) that ceased and
        (ids, rows) that began to be there."""
        ids, rows, _, gone, came = self._merged(ids, rows, assign=assign)
        return (ids[gone], rows[gone]), (ids[came], rows[came])

    def merge_caused(
        self, ids: Ints, rows: Ints, causes: Ints | None, *, assign: bool = False
    ) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """`merge` that returns (rows, causes): of equal rows, the largest cause; time where none are given."""
        ids, rows, order, gone, came = self._merged(ids, rows, assign=assign)
        if causes is None:
            return (rows[gone], np.full(len(gone), TIME)), (rows[came], np.full(len(came), TIME))
        causes = causes if order is None else causes[order]
        return (rows[gone], _causes_at(ids, rows, causes, gone)), (rows[came], _causes_at(ids, rows, causes, came))

    def _merged(self, ids: Ints, rows: Ints, *, assign: bool) -> tuple[Ints, Ints, Ints | None, Ints, Ints]:
        """`merge`: the changes in order, where each comes from, and which of them ceased and began to be there."""
        ids, rows, order = sort_changes(ids, rows)
        self._note_latest(rows)
        groups = group_starts(ids)
        self.reserve(_needed(self.offsets, self.lengths, self.rooms, self.pool, ids, rows, groups))
        gone = np.empty(len(ids), np.int64)
        came = np.empty(len(ids), np.int64)
        self.used, n_gone, n_came = _merge(
            self.offsets,
            self.lengths,
            self.rooms,
            self.pool,
            self.used,
            ids,
            rows,
            groups,
            self.clock,
            self.expiry,
            gone,
            came,
            assign,
        )
        changed = ids[groups[:-1]]
        self.fronts[changed] = 0
        self.touch(changed)
        return ids, rows, order, gone[:n_gone], came[:n_came]

    def insert(self, ids: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """`merge` for points, in lists whose earlier versions nobody reads; may overwrite its arguments. Returns the
        lists that changed, and the first and the last time of a change in each. A row that only repeats what the one
        before it said is no change."""
        ids, rows, _ = sort_changes(ids, rows)
        self._note_latest(rows)
        ids, rows, n = net(ids, rows)
        ids, rows = ids[:n], rows[:n]
        groups = group_starts(ids)
        tables = self.offsets, self.lengths, self.rooms, self.fronts
        self.reserve(overflow(*tables, self.pool, ids, groups, self.clock, self.expiry))
        first, last = np.empty(len(groups) - 1, np.int64), np.empty(len(groups) - 1, np.int64)
        self.used = inserting.insert(
            *tables, self.pool, self.used, ids, rows, groups, self.clock, self.expiry, first, last
        )
        changed = first != NOTHING
        return ids[groups[:-1]][changed], first[changed], last[changed]

    def replace(self, ids: Ints, kept: Ints, froms: Ints, tos: Ints, rows: Ints, expiry: int) -> None:
        """List ids[k] keeps its first kept[k] rows, but for what expired, and goes on with rows[froms[k]:tos[k]]."""
        tables = self.offsets, self.lengths, self.rooms
        self.reserve(slabs.needed(*tables, ids, kept, froms, tos))
        self.used = slabs.replace(
            *tables, self.pool, self.used, ids, kept, froms, tos, rows, self.clock, expiry
        )
        self.touch(ids)

    def _note_latest(self, rows: Ints) -> None:
        if len(rows):
            self.latest = max(self.latest, int(rows[:, 0].max()))

    def touch(self, ids: Ints) -> None:
        """Note that the lists changed, for `settle` and `commit`."""
        self._touched.append(ids)

    def view(self, version: Version) -> tuple[Ints, Ints, Ints, Ints]:
        """Offsets and lengths of the lists of a version, and of the rest of each."""
        rest = version + REST
        return self.offsets[version], self.lengths[version], self.offsets[rest], self.lengths[rest]

    def ranges(self, ids: Ints, froms: Ints, tos: Ints, version: Version) -> tuple[Ints, Ints]:
        """Pool positions of rows of list ids[k] with time in [froms[k], tos[k]), and the k of each."""
        view = self.view(version)
        none = np.empty(0, np.int64)
        n = _in_ranges(*view, self.pool, ids, froms, tos, none, none)
        out = np.empty(n, np.int64)
        which = np.empty(n, np.int64)
        if n:
            _in_ranges(*view, self.pool, ids, froms, tos, out, which)
        return out, which

    def gather(self, ids: Ints, version: Version) -> tuple[Ints, Ints]:
        """All rows of the lists one after the other, and the length of each list."""
        view = self.view(version)
        sizes = view[1][ids] + view[3][ids]
        out = np.empty((int(sizes.sum()), self.width), np.int64)
        _copy_lists(*view, self.pool, ids, out)
        return out, sizes

    def everything(self, version: Version) -> tuple[Ints, Ints]:
        """All rows of all lists, and the list of each."""
        rows, sizes = self.gather(np.arange(self.count), version)
        return rows, np.repeat(np.arange(self.count), sizes)

    def clear(self) -> None:
        """Empty all lists, now and last; the base stays."""
        self.lengths[1:3, : self.count] = 0
        self.lengths[1 + REST, : self.count] = 0
        self.rooms[: self.count] = 0
        self.fronts[: self.count] = 0
        self.touch(np.arange(self.count))

    def settle(self) -> None:
        """What is now becomes what was last (between rounds of a loop)."""
        for ids in self._touched:
            self.offsets[1, ids] = self.offsets[2, ids]
            self.lengths[1, ids] = self.lengths[2, ids]
            self.lengths[1 + REST, ids] = 0

    def commit(self) -> None:
        """What is now becomes the base (at the end of a query)."""
        for ids in self._touched:
            _follow(self.offsets, self.lengths, ids)
        self._touched = []
        if self.used > self._pack_at:
            self.pack()

    def pack(self) -> None:
        """Drop garbage and expired rows; only between queries."""
        live = int(self.lengths[2, : self.count].sum())
        target = np.empty((max(64, 2 * live, len(self.pool) // 2), self.width), np.int64)
        used = _pack(self.offsets, self.lengths, self.rooms, self.pool, target, self.count, self.clock, self.expiry)
        self.pool = target
        self.fronts[: self.count] = 0
        self.used = used
        self._pack_at = max(4096, 4 * used, len(target) // 2)

    def state(self) -> dict[str, Ints]:
        """All lists of the base version, for a snapshot."""
        rows, sizes = self.gather(np.arange(self.count), Version.NOW)
        return {"rows": rows, "sizes": sizes}

    def adopt(self, other: Ragged) -> None:
        """Become another's lists, in place."""
        self.__dict__.update(other.__dict__)

    @classmethod
    def of(cls, state: dict[str, Ints], clock: int = 0) -> Ragged:
        """Lists from a snapshot."""
        rows, sizes = state["rows"], state["sizes"]
        self = cls(rows.shape[1], clock)
        self.ensure(len(sizes))
        ends = np.cumsum(sizes)
        for version in range(3):
            self.offsets[version, : len(sizes)] = ends - sizes
            self.lengths[version, : len(sizes)] = sizes
        self.rooms[: len(sizes)] = sizes
        self.pool = rows.copy() if len(rows) >= 64 else np.concatenate([rows, np.empty((64, self.width), np.int64)])
        self.used = len(rows)
        self._note_latest(rows)
        return self
