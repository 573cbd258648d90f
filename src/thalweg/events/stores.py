"""What the reasoner remembers between query times: events in the window, points, timelines, facts.

Every store can be read in three versions (`Version`) and says what changed in the current query: events as rows that
came or went, fluents as stretches of time in which the value differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg.columns.gathering import TIME
from thalweg.columns.keys import KeyTable
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.timelines import (
    covering,
    differences,
    edge_at,
    edges_in,
    moved_edges,
    revised,
    truncate,
)
from thalweg.language.rules import Edge
from thalweg.protocol import Ints, Mask

NEVER = -(2**62)


def empty(width: int) -> Ints:
    return np.empty((0, width), np.int64)


class Block:
    """Rows of a relation, as columns or as a matrix; either is laid out when first asked for and then shared."""

    __slots__ = ("_columns", "_matrix", "length", "width")
    length: int
    width: int

    def __init__(self, matrix: Ints) -> None:
        self._matrix: Ints | None = matrix
        self._columns: dict[int, Ints] = {}
        self.length, self.width = matrix.shape

    @classmethod
    def of_columns(cls, columns: Sequence[Ints]) -> Block:
        """Rows given as columns: the time, then the arguments."""
        block = cls.__new__(cls)
        block._matrix, block._columns = None, dict(enumerate(columns))
        block.length, block.width = len(columns[0]), len(columns)
        return block

    def __len__(self) -> int:
        return self.length

    @property
    def matrix(self) -> Ints:
        """A row per tuple."""
        if self._matrix is None:
            self._matrix = np.empty((self.length, self.width), np.int64)
            for position, column in self._columns.items():
                self._matrix[:, position] = column
        return self._matrix

    def rows(self, which: Ints) -> Ints:
        """Some of the rows, as a matrix."""
        if self._matrix is None:
            return Block.of_columns([self._columns[p][which] for p in range(self.width)]).matrix
        return self._matrix[which]

    def column(self, position: int) -> Ints:
        found = self._columns.get(position)
        if found is None:
            assert self._matrix is not None
            found = self._columns[position] = np.ascontiguousarray(self._matrix[:, position])
        return found


class Moves:
    """Rows of an event-like relation that went and came, each with its cause. Columns: time, arguments."""

    __slots__ = ("came_block", "came_cause", "gone_block", "gone_cause", "width")

    def __init__(self, width: int, gone: Ints, came: Ints, gone_cause: Ints, came_cause: Ints) -> None:
        self.width = width
        self.gone_block, self.came_block = Block(gone), Block(came)
        self.gone_cause, self.came_cause = gone_cause, came_cause

    @classmethod
    def none(cls, width: int) -> Moves:
        nothing = np.empty(0, np.int64)
        return cls(width, empty(width), empty(width), nothing, nothing)

    @classmethod
    def arrivals(cls, columns: Sequence[Ints]) -> Moves:
        """Rows that came, given as columns, because of nothing but time."""
        moves = cls.none(len(columns))
        moves.came_block = Block.of_columns(columns)
        moves.came_cause = np.broadcast_to(np.int64(TIME), len(columns[0]))
        return moves

    @property
    def gone(self) -> Ints:
        return self.gone_block.matrix

    @property
    def came(self) -> Ints:
        return self.came_block.matrix

    def __bool__(self) -> bool:
        return len(self.gone_block) > 0 or len(self.came_block) > 0


@dataclass(slots=True)
class Stretches:
    """Where timelines differ: instance, from, to (exclusive), cause."""

    ids: Ints
    froms: Ints
    tos: Ints
    causes: Ints

    @classmethod
    def none(cls) -> Stretches:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, nothing, nothing)

    def __bool__(self) -> bool:
        return len(self.ids) > 0


class EventIndex:
    """The events of one relation by some of their arguments, each list in time order."""

    def __init__(self, positions: tuple[int, ...], arity: int) -> None:
        self.positions = positions
        self.keys = KeyTable(len(positions))
        self.lists = Ragged(arity + 2)
        self.probed = False
        """Do rules look events up here, or is it only asked which old rows a change touches?"""

    def ids(self, rows: Ints) -> Ints:
        """List ids of rows (time, arguments), known or new."""
        found = self.keys.intern([rows[:, 1 + p] for p in self.positions], len(rows))
        self.lists.ensure(self.keys.count)
        return found

    def merge(self, rows: Ints, counts: Ints, causes: Ints | None = None, *, assign: bool = False) -> Moves:
        """Add counted rows; returns the rows that ceased and that began to be there."""
        gone, came = self.lists.merge_caused(
            self.ids(rows), np.column_stack([rows, counts]), causes, assign=assign
        )
        return Moves(rows.shape[1], gone[0][:, :-1], came[0][:, :-1], gone[1], came[1])


class EventStore:
    """Events of one relation in the window; the first index decides what is new, the others follow."""

    def __init__(self, name: str, arity: int) -> None:
        self.name = name
        self.arity = arity
        self.indexes: dict[tuple[int, ...], EventIndex] = {}
        self.moves = Moves.none(arity + 1)

    def index(self, positions: tuple[int, ...], *, probed: bool = False) -> EventIndex:
        """The index on these arguments; made when compiled, before any data."""
        found = self.indexes.get(positions)
        if found is None:
            found = self.indexes[positions] = EventIndex(positions, self.arity)
        found.probed |= probed
        return found

    def primary(self) -> EventIndex:
        """The index with the most argument positions, so that lists are short."""
        if not self.indexes:
            self.index(())
        return self.indexes[max(self.indexes, key=lambda p: (self.indexes[p].probed, len(p), p))]

    def apply(
        self, rows: Ints, counts: Ints, causes: Ints | None, *, assign: bool = False, needed_from: int = NEVER
    ) -> None:
        """Add counted rows (time, arguments), or with `assign` make them there (1) or not (0); sets `moves`. `causes`
        is aligned with `rows`, None: time. Later queries will ask for rows from `needed_from` on."""
        first = self.primary()
        self.moves = first.merge(rows, counts, causes, assign=assign)
        gone, came = self.moves.gone, self.moves.came
        for index in self.indexes.values():
            if index is first or not (len(gone) or len(came)):
                continue
            moved, signs = np.concatenate([gone, came]), np.repeat([-1, 1], [len(gone), len(came)])
            if not index.probed and needed_from > NEVER:
                later = moved[:, 0] >= needed_from
                moved, signs = moved[later], signs[later]
            if len(moved):
                index.merge(moved, signs)

    def arrive(self, columns: Sequence[Ints], needed_from: int) -> None:
        """Take rows that are new, given as columns in time order; sets `moves`. Later queries will ask for rows from
        `needed_from` on, so others are kept only where rules look events up."""
        self.moves = Moves.arrivals(columns)
        later = int(np.searchsorted(columns[0], needed_from))
        for index in self.indexes.values():
            rows = columns if index.probed else [column[later:] for column in columns]
            if len(rows[0]):
                index.merge(Block.of_columns(rows).matrix, np.ones(len(rows[0]), np.int64))

    def all_new(self, final: int) -> None:
        """Announce every event in the window as if it had just come (for evaluation from scratch), list by list."""
        rows, _ = self.primary().lists.everything(Version.NOW)
        rows = np.ascontiguousarray(rows[rows[:, 0] >= final, :-1])
        nothing = np.empty(0, np.int64)
        self.moves = Moves(self.arity + 1, rows[:0], rows, nothing, np.full(len(rows), TIME))

    def forget(self) -> None:
        """Drop all events, as if none had been derived in the window."""
        for index in self.indexes.values():
            index.lists.clear()

    def since_base(self, final: int) -> Moves:
        """What went and came since the base version, at or after `final`."""
        lists = self.primary().lists
        old, new = (lists.everything(v)[0] for v in (Version.BASE, Version.NOW))
        old, new = (np.ascontiguousarray(x[x[:, 0] >= final, :-1]) for x in (old, new))
        width = self.arity + 1
        table = KeyTable(width)
        before = table.intern([np.ascontiguousarray(old[:, c]) for c in range(width)], len(old))
        known = table.count
        after = table.intern([np.ascontiguousarray(new[:, c]) for c in range(width)], len(new))
        there = np.zeros(table.count, np.bool_)
        there[after] = True
        gone, came = old[~there[before]], new[after >= known]
        return Moves(width, gone, came, np.full(len(gone), TIME), np.full(len(came), TIME))

    def present(self, rows: Ints) -> Mask:
        """Which rows (time, arguments) are there now."""
        index = self.primary()
        ids = index.keys.find([rows[:, 1 + p] for p in index.positions], len(rows))
        at, which = index.lists.ranges(ids, rows[:, 0], rows[:, 0] + 1, Version.NOW)
        same = (index.lists.pool[at, 1:-1] == rows[which, 1:]).all(axis=1)
        found = np.zeros(len(rows), np.bool_)
        found[which[same]] = True
        return found

    def settle(self) -> None:
        self.moves = Moves.none(self.arity + 1)
        for index in self.indexes.values():
            index.lists.settle()

    def commit(self, expiry: int) -> None:
        self.moves = Moves.none(self.arity + 1)
        for index in self.indexes.values():
            index.lists.expiry = expiry
            index.lists.commit()


def until(previous: int, times: Ints, causes: Ints) -> Ints:
    """The causes of what happens up to the last query; what happens later is because of time."""
    return np.where(times <= previous, causes, TIME)


class Access:
    """Instances of a fluent by some of their arguments; grows with the instances."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = positions
        self.keys = KeyTable(len(positions))
        self.lists = Ragged(2)
        self.seen = 0

    def refresh(self, instances: KeyTable) -> None:
        """Take in instances that are new since the last time."""
        if self.seen == instances.count:
            return
        ids = np.arange(self.seen, instances.count)
        keys = self.keys.intern([instances.column(p, ids) for p in self.positions], len(ids))
        self.lists.ensure(self.keys.count)
        self.lists.merge(keys, np.column_stack([ids, np.ones(len(ids), np.int64)]))
        self.lists.commit()
        self.seen = instances.count

    def match(self, columns: Sequence[Ints], length: int) -> tuple[Ints, Ints]:
        """Instances that agree with the columns, and the row of each."""
        ids = self.keys.find(columns, length)
        low = np.full(length, NEVER)
        at, which = self.lists.ranges(ids, low, -low, Version.NOW)
        return self.lists.pool[at, 0], which


class Narrow:
    """Instances of a fluent whose other arguments are given constants, by the one argument that is left."""

    def __init__(self, constants: tuple[tuple[int, int], ...], position: int) -> None:
        self.constants = constants
        self.position = position
        self.keys = KeyTable(1)
        self.ids = np.empty(0, np.int64)
        self.seen = 0

    def find(self, instances: KeyTable, column: Ints) -> Ints:
        """The instance of each key, -1 where unknown."""
        self._refresh(instances)
        if not self.keys.count:
            return np.full(len(column), -1)
        found = self.keys.find([column], len(column))
        return np.where(found >= 0, self.ids[found], -1)

    def _refresh(self, instances: KeyTable) -> None:
        """Take in instances that are new since the last time."""
        if self.seen == instances.count:
            return
        new = instances.keys[self.seen :]
        fits = np.ones(len(new), np.bool_)
        for position, code in self.constants:
            fits &= new[:, position] == code
        at = np.flatnonzero(fits)
        self.keys.intern([np.ascontiguousarray(new[at, self.position])], len(at))
        self.ids = np.concatenate([self.ids, at + self.seen])
        self.seen = instances.count


class FluentStore:
    """Timelines of one fluent. A determined fluent's value is the last part of its key; its intervals' value is 0."""

    def __init__(self, name: str, arity: int, *, by_value: bool, hidden: bool = False) -> None:
        self.name = name
        self.hidden = hidden
        self.arity = arity
        self.by_value = by_value
        self.instances = KeyTable(arity + by_value)
        self.lists = Ragged(3, clock=1)
        self.points = Ragged(4)
        self.reads_points = False
        """Do rules read initiatedAt or terminatedAt of it?"""
        self.keeps_points = False
        """Is its timeline built from stored points?"""
        self.accesses: dict[tuple[int, ...], Access] = {}
        self.narrows: dict[tuple[object, ...], Narrow] = {}
        self.stretches = Stretches.none()
        self.effects = Moves.none(arity + 3)

    def access(self, positions: tuple[int, ...]) -> Access:
        found = self.accesses.get(positions)
        if found is None:
            found = self.accesses[positions] = Access(positions)
        return found

    def intern(self, columns: Sequence[Ints], length: int) -> Ints:
        """Instances with these arguments (and value, for a determined fluent), known or new."""
        ids = self.instances.intern(columns, length)
        self.lists.ensure(self.instances.count)
        if self.keeps_points or self.reads_points:
            self.points.ensure(self.instances.count)
        return ids

    def find(self, columns: Sequence[Ints], length: int) -> Ints:
        return self.instances.find(columns, length)

    def find_by(self, constants: tuple[tuple[int, int], ...], position: int, column: Ints) -> Ints:
        """`find` where all arguments but one are constants."""
        narrow = self.narrows.get((constants, position))
        if narrow is None:
            narrow = self.narrows[constants, position] = Narrow(constants, position)
        return narrow.find(self.instances, column)

    def forget_accesses(self) -> None:
        """After the instances were replaced."""
        self.accesses.clear()
        self.narrows.clear()

    def match(self, positions: tuple[int, ...], columns: Sequence[Ints], length: int) -> tuple[Ints, Ints]:
        """Known instances that agree on the positions, and the row of each."""
        access = self.access(positions)
        access.refresh(self.instances)
        return access.match(columns, length)

    def covering(self, ids: Ints, times: Ints, version: Version) -> Ints:
        """Pool positions of the intervals that cover the times, -1 where none does."""
        out = np.empty(len(ids), np.int64)
        covering(*self.lists.view(version), self.lists.pool, ids, times, out)
        return out

    def edge_at(self, ids: Ints, times: Ints, edge: Edge, tick: int, version: Version) -> Ints:
        out = np.empty(len(ids), np.int64)
        edge_at(*self.lists.view(version), self.lists.pool, ids, times, int(edge is Edge.END), tick, out)
        return out

    def edge_rows(
        self, ids: Ints, froms: Ints, tos: Ints, edge: Edge, tick: int, version: Version
    ) -> tuple[Ints, Ints]:
        """Edges as rows (time, arguments, value) of the instances in the ranges, and the range of each."""
        view = self.lists.view(version)
        column = int(edge is Edge.END)
        none = np.empty(0, np.int64)
        n = edges_in(*view, self.lists.pool, ids, froms, tos, column, tick, none, none)
        at, which = np.empty(n, np.int64), np.empty(n, np.int64)
        if n:
            edges_in(*view, self.lists.pool, ids, froms, tos, column, tick, at, which)
        return self._rows(ids[which], self.lists.pool[at, column] - tick, self.lists.pool[at, 2]), which

    def _rows(self, ids: Ints, times: Ints, values: Ints) -> Ints:
        """Rows (time, arguments, value)."""
        keys = self.instances.keys[ids]
        parts = [times.reshape(-1, 1), keys] if self.by_value else [times.reshape(-1, 1), keys, values.reshape(-1, 1)]
        return np.hstack(parts)

    def compare(self, ids: Ints, causes: Ints, version: Version, expiry: int, spoken: int) -> Difference:
        """What changed in these instances between a version and now. Of each instance that has another cause than time,
        that is the cause of whatever is different up to the point `spoken`, of which the last query has spoken."""
        offsets, lengths, _, _ = self.lists.view(Version.NOW)
        old = self.lists.view(version)
        n_old, n_new = int((old[1][ids] + old[3][ids]).sum()), int(lengths[ids].sum())
        removed, added = np.empty((n_old, 2), np.int64), np.empty((n_new, 2), np.int64)
        dirty = np.empty((2 * (n_old + n_new), 3), np.int64)
        n_removed, n_added, n_dirty = differences(
            *old, offsets, lengths, self.lists.pool, ids, expiry, removed, added, dirty
        )
        removed, added, dirty = removed[:n_removed], added[:n_added], dirty[:n_dirty]
        found = Difference(
            ids[removed[:, 0]],
            self.lists.pool[removed[:, 1]],
            causes[removed[:, 0]],
            ids[added[:, 0]],
            self.lists.pool[added[:, 1]],
            causes[added[:, 0]],
            Stretches(ids[dirty[:, 0]], dirty[:, 1], dirty[:, 2], causes[dirty[:, 0]]),
        )
        if (causes != TIME).any():
            found.blame(spoken)
        return found

    def forget(self, final: int) -> None:
        """Timelines as they would be if nothing happened after `final`; no points."""
        lists = self.lists
        lists.reserve(int(lists.lengths[2, : lists.count].sum()))
        lists.used = truncate(
            lists.offsets, lists.lengths, lists.rooms, lists.pool, lists.used, lists.count, final
        )
        lists.touch(np.arange(lists.count))
        self.points.clear()

    def edge_moves(self, difference: Difference, edge: Edge, tick: int, low: int, previous: int) -> Moves:
        """The difference as edges at or after `low` that went and came; those after the last query, because of time."""
        column = int(edge is Edge.END)
        d = difference
        gone, came = np.empty(len(d.removed), np.bool_), np.empty(len(d.added), np.bool_)
        moved_edges(d.removed_ids, d.removed, d.added_ids, d.added, column, low + tick, gone, came)

        def rows(which: Mask, ids: Ints, intervals: Ints, causes: Ints) -> tuple[Ints, Ints]:
            at = intervals[which]
            found = self._rows(ids[which], at[:, column] - tick, at[:, 2])
            return found, until(previous, found[:, 0], causes[which])

        gone_rows, gone_cause = rows(gone, d.removed_ids, d.removed, d.removed_cause)
        came_rows, came_cause = rows(came, d.added_ids, d.added, d.added_cause)
        return Moves(self.arity + 2, gone_rows, came_rows, gone_cause, came_cause)

    def settle(self) -> None:
        self.lists.settle()
        self.points.settle()

    def commit(self, final: int) -> None:
        """End of a query. The effects of the final point itself show one point later: they can still be revised."""
        self.lists.expiry = final
        self.points.expiry = final - 1
        self.lists.commit()
        self.points.commit()


@dataclass(slots=True)
class Difference:
    """Intervals (start, end, value) that went and came, and where values differ."""

    removed_ids: Ints
    removed: Ints
    removed_cause: Ints
    added_ids: Ints
    added: Ints
    added_cause: Ints
    stretches: Stretches

    def blame(self, spoken: int) -> None:
        """Give what is as it was up to the point `spoken` the cause time."""
        gone, came = np.empty(len(self.removed), np.bool_), np.empty(len(self.added), np.bool_)
        revised(self.removed_ids, self.removed, self.added_ids, self.added, spoken, gone, came)
        self.removed_cause[~gone] = TIME
        self.added_cause[~came] = TIME
        self.stretches.causes[self.stretches.froms > spoken] = TIME


@dataclass(slots=True)
class Lookup:
    """Facts by some of their arguments: list `i` is order[starts[i]:starts[i+1]]."""

    keys: KeyTable
    starts: Ints
    order: Ints
    single: bool


@dataclass(slots=True)
class FactStore:
    """Background facts."""

    name: str
    rows: KeyTable
    lookups: dict[tuple[int, ...], Lookup] = field(default_factory=dict)

    def match(
        self, positions: tuple[int, ...], columns: Sequence[Ints], length: int
    ) -> tuple[Ints, Ints | None]:
        """Facts that agree on the positions, and the row of each (None: exactly one for every row, in order)."""
        lookup = self.lookups.get(positions)
        if lookup is None:
            lookup = self.lookups[positions] = self._lookup(positions)
        ids = lookup.keys.find(columns, length)
        known = ids >= 0
        if lookup.single:
            if known.all():
                return lookup.order[ids], None
            which = np.flatnonzero(known)
            return lookup.order[ids[which]], which
        sizes = np.where(known, lookup.starts[ids + 1] - lookup.starts[ids], 0)
        which = np.repeat(np.arange(length), sizes)
        within = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return lookup.order[lookup.starts[ids[which]] + within], which

    def _lookup(self, positions: tuple[int, ...]) -> Lookup:
        n = self.rows.count
        keys = KeyTable(len(positions))
        ids = keys.intern([np.ascontiguousarray(self.rows.keys[:, p]) for p in positions], n)
        counts = np.bincount(ids, minlength=keys.count)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Lookup(keys, starts, np.argsort(ids, kind="stable"), bool((counts == 1).all()))
