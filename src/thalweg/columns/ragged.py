"""Ragged: one sorted list of int64 rows per dense id, with three versions of every list.

A list lives in a slab of a shared pool (see `slabs`). Appending at the end leaves earlier versions untouched; any
other change keeps what stands behind it for the earlier versions. So the *base* version (as of the last query), the
*last* one (as of the last round of a loop) and the *now* version can all be read while a query is evaluated, and only
lists that change cost anything.
Rows whose time (column `clock`) is at or before the expiry are dropped when their list is next written, or when the
pool is packed.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from thalweg.columns import inserting, merging, packing, slabs
from thalweg.columns.compiled import kernel
from thalweg.columns.gathering import TIME
from thalweg.columns.journal import CHUNKS, Journal, Noted, changing, laid_out
from thalweg.columns.points import side_by_side
from thalweg.columns.slabs import LENGTH, OFFSET, ROOM, Places, first_from, move, place
from thalweg.columns.sorting import group_starts, sort_changes
from thalweg.protocol import Ints


class Version(IntEnum):
    """Which state of the lists to read."""

    BASE = 0
    LAST = 1
    NOW = 2


@kernel
def _sizes(table: Places, past: Places, version: int, ids: Ints, out: Ints) -> int:
    """The lengths of the lists of a version; returns their sum."""
    total = 0
    for k in range(len(ids)):
        _, count, _, more = place(table, past, version, ids[k])
        out[k] = count + more
        total += count + more
    return total


@kernel
def _copy_lists(table: Places, past: Places, version: int, pool: Ints, ids: Ints, out: Ints) -> None:
    n = 0
    for k in range(len(ids)):
        start, count, rest, more = place(table, past, version, ids[k])
        move(out, n, pool, start, count)
        move(out, n + count, pool, rest, more)
        n += count + more


@kernel
def _in_ranges(
    table: Places,
    past: Places,
    version: int,
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
        if ids[k] < 0:
            continue
        start, count, rest, more = place(table, past, version, ids[k])
        for nth in range(2 if more else 1):
            lo, end = (start, start + count) if nth == 0 else (rest, rest + more)
            lo = first_from(pool, 0, lo, end, froms[k])
            while lo < end and pool[lo, 0] < tos[k]:
                if len(out):
                    out[n] = lo
                    which[n] = k
                n += 1
                lo += 1
    return n


@kernel
def _absent(
    table: Places, past: Places, version: int, pool: Ints, ids: Ints, times: Ints, out: Ints
) -> int:
    """The k for which list ids[k] has no row at times[k]; returns how many. Binary search per k."""
    n = 0
    for k in range(len(ids)):
        there = False
        if ids[k] >= 0:
            start, count, rest, more = place(table, past, version, ids[k])
            for nth in range(2 if more else 1):
                lo, end = (start, start + count) if nth == 0 else (rest, rest + more)
                at = first_from(pool, 0, lo, end, times[k])
                there = there or (at < end and pool[at, 0] == times[k])
        if not there:
            out[n] = k
            n += 1
    return n


View = tuple[Places, Places, int]
"""The lists of a version, as kernels want them: the table, the past, and which version."""


class Ragged:
    """Lists of rows of a fixed width; the first column is a time. Rows of a list are `ordered` by their clock too,
    unless told otherwise."""

    MANY = 512
    """So many lists from which on it is better to `note` points than to `insert` them."""

    def __init__(self, width: int, clock: int = 0, *, ordered: bool = True) -> None:
        self.width = width
        self.clock = clock
        self.ordered = ordered
        self.count = 0
        self.table = np.zeros((8, slabs.WIDTH), np.int32)
        self.past = np.zeros((8, 2 * slabs.WIDTH), np.int32)
        self.fronts = np.zeros(0, np.int32)
        """Of lists that slide through their slabs: how many rows have expired at its front."""
        self.journal = Journal()
        """Points that are not in their lists."""
        self._counts = np.zeros(0, np.int64)
        self.pool = np.empty((64, width), np.int64)
        self._spare = np.empty((0, width), np.int64)
        """The pool before the last time that it was packed."""
        self.used = 0
        self.expiry = -(2**62)
        self.latest = -(2**62)
        """No row that was merged or appended has a later time (first column) than this."""
        self._touched: list[Ints] = []
        self._pack_at = 4096
        self._packed = 0
        self._slides = False
        """Do lists change where they stand? Otherwise they are written anew."""

    def ensure(self, count: int) -> None:
        """Make room for ids below `count`; new lists are empty."""
        if count > len(self.table):
            table = np.zeros((max(count, 2 * len(self.table)), slabs.WIDTH), np.int32)
            table[: self.count] = self.table[: self.count]
            self.table = table
        self.count = max(self.count, count)

    def reserve(self, more: int) -> int:
        """Room for `more` rows at the end of the pool; returns where they start."""
        if self.used + more > len(self.pool):
            if self.used + more > slabs.LARGEST:
                raise MemoryError(f"more than {slabs.LARGEST:,} rows of one relation")
            pool = np.empty((max(self.used + more, 2 * len(self.pool)), self.width), np.int64)
            pool[: self.used] = self.pool[: self.used]
            self.pool = pool
        return self.used

    def reserve_past(self, more: int) -> None:
        """Room for the past of so many lists."""
        used = int(self.past[0, 0]) + 1
        if used + more > len(self.past):
            past = np.empty((max(used + more, 2 * len(self.past)), 2 * slabs.WIDTH), np.int32)
            past[:used] = self.past[:used]
            self.past = past

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
        told = (merging.causes_at(ids, rows, causes, at) for at in (gone, came))
        return (rows[gone], next(told)), (rows[came], next(told))

    def _merged(self, ids: Ints, rows: Ints, *, assign: bool) -> tuple[Ints, Ints, Ints | None, Ints, Ints]:
        """`merge`: the changes in order, where each comes from, and which of them ceased and began to be there."""
        self._slides = True
        self._put_away()
        ids, rows, order = sort_changes(ids, rows)
        self._note_latest(rows)
        groups = group_starts(ids)
        self.reserve_past(len(groups))
        gone, came = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        done = 0, 0, 0
        while True:
            lists = self.table, self.past, self.pool, self.used
            self.used, done = merging.merge(
                *lists, ids, rows, groups, self.clock, self.expiry, gone, came, assign, done
            )
            if done[0] == len(groups) - 1:
                break
            self.reserve(len(self.pool) - self.used + 1)
        _, n_gone, n_came = done
        changed = ids[groups[:-1]]
        self._forget_fronts(changed)
        self.touch(changed)
        return ids, rows, order, gone[:n_gone], came[:n_came]

    def append(self, ids: Ints, rows: Ints) -> None:
        """`merge` for counted rows in the order of time that are all different and later than any that is there."""
        self._put_away()
        counts = np.zeros(self.count, np.int32)
        touched = np.empty(min(len(ids), self.count), np.int64)
        n, more = merging.count(self.table, self.pool, ids, self.clock, self.expiry, counts, touched)
        self.reserve(more)
        self.reserve_past(n)
        self.used = merging.append(self.table, self.past, self.pool, self.used, ids, rows, counts, touched[:n])
        self.touch(touched[:n])
        self._note_latest(rows[-1:])

    def insert(self, ids: Ints, rows: Ints) -> Ints:
        """`merge` for points, in lists whose earlier versions nobody reads; may overwrite its arguments. Returns of the
        lists that changed, as columns: the list, where it starts and ends in the pool, and the first and the last time
        of a change. A row that only repeats what the one before it said is no change."""
        self._slides = True
        self._put_away()
        ids, rows, _ = sort_changes(ids, rows)
        n = inserting.net(ids, rows)
        ids, rows = ids[:n], rows[:n]
        groups = group_starts(ids)
        if len(self.fronts) < self.count:
            fronts = np.zeros(len(self.table), np.int32)
            fronts[: len(self.fronts)] = self.fronts
            self.fronts = fronts
        longest = int(self.places[:, LENGTH].max(initial=0))
        spare = np.empty(inserting.WIDTH * max(longest, inserting.FEW), np.int64)
        changed = np.empty((5, len(groups) - 1), np.int64)
        done = 0, 0
        while True:
            lists = self.table, self.fronts, self.pool.reshape(-1), self.used
            self.used, done = inserting.insert(
                *lists, ids, rows.reshape(-1), groups, self.expiry, changed, spare, done
            )
            if done[0] == len(groups) - 1:
                return changed[:, : done[1]]
            self.reserve(len(self.pool) - self.used + 1)

    def note(self, parts: Sequence[tuple[Ints, Ints, int, Ints]], timelines: Ragged, tick: int) -> Noted:
        """`insert` for lists of points (ids, times, kind, values or one value) that go to a journal, not to their
        lists. Returns the changes that they make, with the points from there on."""
        if len(self._counts) < self.count:
            self._counts = np.zeros(len(self.table), np.int64)
        journal = self.journal
        total = sum(len(part[0]) for part in parts)
        given, starts = np.empty((3, total), np.int64), np.empty((2, len(parts) + 1), np.int64)
        side_by_side(parts, given, starts)
        (ids, times, values), kinds = given, starts[1, :-1]
        notes = journal.room(min(total, self.count), total)
        lists, begins, latest = laid_out(ids, times, values, starts[0], kinds, self._counts[: self.count], notes)
        changed = np.empty((4, total), np.int64)
        n = changing(lists, begins, notes, timelines.table, timelines.pool, tick, changed)
        journal.add(lists, begins, latest)
        touched, first, last, until = changed[:, :n]
        begin, end, points = journal.points((self.table, self.pool), touched, first, until)
        if len(journal) > CHUNKS:
            self._put_away()
        return Noted(touched, begin, end, first, last, until, points)

    def _put_away(self) -> None:
        """Put the points of the journal into their lists."""
        if len(self.journal):
            ids, rows = self.journal.everything()
            self.journal.clear()
            self.insert(ids, rows)

    def replace(self, ids: Ints, kept: Ints, froms: Ints, tos: Ints, rows: Ints, expiry: int) -> None:
        """List ids[k] keeps its first kept[k] rows, but for what expired, and goes on with rows[froms[k]:tos[k]]."""
        self._slides = True
        self.reserve(slabs.needed(self.table, ids, kept, froms, tos))
        self.reserve_past(len(ids))
        self.used = slabs.replace(
            self.table, self.past, self.pool, self.used, ids, kept, froms, tos, rows, self.clock, expiry
        )
        self.touch(ids)

    def _note_latest(self, rows: Ints) -> None:
        if len(rows):
            self.latest = max(self.latest, int(rows[:, 0].max()))

    def _forget_fronts(self, ids: Ints) -> None:
        """Lists that may have been written elsewhere."""
        if len(self.fronts):
            self.fronts[ids[ids < len(self.fronts)]] = 0

    def touch(self, ids: Ints) -> None:
        """Note that the lists changed, for `settle` and `commit`."""
        self._touched.append(ids)

    def view(self, version: Version) -> View:
        """The lists of a version, for kernels."""
        self._put_away()
        return self.table, self.past, int(version)

    def sizes(self, ids: Ints, version: Version) -> tuple[Ints, int]:
        """The lengths of the lists, and their sum."""
        out = np.empty(len(ids), np.int64)
        return out, _sizes(*self.view(version), ids, out)

    @property
    def places(self) -> Places:
        """The table of the lists there are."""
        return self.table[: self.count]

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

    def absent(self, ids: Ints, times: Ints, version: Version) -> Ints:
        """The k for which list ids[k] has no row at times[k]."""
        out = np.empty(len(ids), np.int64)
        return out[: _absent(*self.view(version), self.pool, ids, times, out)]

    def gather(self, ids: Ints, version: Version) -> tuple[Ints, Ints]:
        """All rows of the lists one after the other, and the length of each list."""
        sizes, total = self.sizes(ids, version)
        out = np.empty((total, self.width), np.int64)
        _copy_lists(*self.view(version), self.pool, ids, out)
        return out, sizes

    def everything(self, version: Version) -> tuple[Ints, Ints]:
        """All rows of all lists, and the list of each."""
        rows, sizes = self.gather(np.arange(self.count), version)
        return rows, np.repeat(np.arange(self.count), sizes)

    def clear(self) -> None:
        """Empty all lists, now and last; the base stays."""
        self._put_away()
        self.reserve_past(self.count)
        slabs.empty_lists(self.table, self.past, self.count)
        self.fronts[:] = 0
        self.touch(np.arange(self.count))

    def drop(self) -> None:
        """Empty all lists whose earlier versions nobody reads, and use their room again."""
        self.table[: self.count] = 0
        self.fronts[:] = 0
        self.journal.clear()
        self.used = self._packed = 0

    def settle(self) -> None:
        """What is now becomes what was last (between rounds of a loop)."""
        for ids in self._touched:
            slabs.settle(self.table, self.past, ids)

    def expire(self, expiry: int) -> None:
        """Nobody will ask for rows up to the expiry: they go when their lists are written."""
        self.expiry = expiry
        if len(self.journal.chunks):
            self.journal.expire(expiry)

    def commit(self) -> None:
        """What is now becomes the base (at the end of a query)."""
        if self._touched:
            for ids in self._touched:
                slabs.follow(self.table, ids)
            self._touched = []
            self.past[0, 0] = 0
        written = self.used - self._packed
        if self.used > self._pack_at or self.used + written > max(4096, len(self.pool)):
            rooms = int(self.places[:, ROOM].sum())
            if self._slides and 2 * self.used < 3 * rooms:  # most of it is in use: the pool may grow
                self._pack_at = 3 * rooms // 2
            else:
                self.pack()

    def pack(self) -> None:
        """Drop garbage and expired rows; only between queries. Few rows that are left go to the front of their pool,
        else two pools take turns: memory that was used before costs less."""
        self.fronts[:] = 0
        peak = self.used
        lists = self.table, self.pool, self.count
        live = packing.live_rows(*lists, self.clock, self.expiry, self.ordered, self._slides)
        size = max(64, 2 * live, min(len(self.pool), 8 * peak))
        if 8 * live < peak and size <= len(self.pool) <= 2 * size:
            left = np.empty((live, self.width), np.int64)
            self.used = packing.pack(*lists, left, self._slides)
            self.pool[: self.used] = left[: self.used]
            self._spare = left[:0].copy()
        else:
            if not size <= len(self._spare) <= 2 * size:
                self._spare = np.empty((size, self.width), np.int64)
            self.used = packing.pack(*lists, self._spare, self._slides)
            self.pool, self._spare = self._spare, self.pool
        self._pack_at = max(4096, 4 * self.used, len(self.pool) // 2)
        self._packed = self.used

    def live(self) -> Places:
        """How many rows of each list have not expired; only between queries."""
        self._put_away()
        packing.live_rows(self.table, self.pool, self.count, self.clock, self.expiry, self.ordered, False)
        return self.places[:, LENGTH]

    def keep(self, ids: Ints) -> None:
        """Forget all lists but these, which are numbered anew in this order (-1: an empty one); only between
        queries."""
        self._put_away()
        kept = self.table[ids]
        kept[ids < 0] = 0
        if len(self.table) > 4 * max(self.count, 8):
            self.table = np.zeros((2 * self.count, slabs.WIDTH), np.int32)
        self.table[: self.count] = 0
        self.count = 0
        self.ensure(len(ids))
        self.table[: len(ids)] = kept
        self.pack()

    def state(self) -> dict[str, Ints]:
        """All lists of the base version without what has expired, for a snapshot."""
        self.live()
        rows, sizes = self.gather(np.arange(self.count), Version.NOW)
        return {"rows": rows, "sizes": sizes}

    def adopt(self, other: Ragged) -> None:
        """Become another's lists, in place."""
        self.__dict__.update(other.__dict__)

    @classmethod
    def of(cls, state: dict[str, Ints], clock: int = 0, *, ordered: bool = True) -> Ragged:
        """Lists from a snapshot."""
        rows, sizes = state["rows"], state["sizes"]
        self = cls(rows.shape[1], clock, ordered=ordered)
        self.ensure(len(sizes))
        self.places[:, OFFSET] = np.cumsum(sizes) - sizes
        self.places[:, LENGTH] = self.places[:, ROOM] = sizes
        self.pool = rows.copy() if len(rows) >= 64 else np.concatenate([rows, np.empty((64, self.width), np.int64)])
        self.used = len(rows)
        self._note_latest(rows)
        return self
