"""What the reasoner remembers between query times: events in the window, points, timelines, facts.

Every store can be read in three versions (`Version`) and says what changed in the current query: events as rows that
came or went, fluents as stretches of time in which the value differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg.columns.comparing import changed_spans, moved_edges, rewritten
from thalweg.columns.gathering import TIME, runs
from thalweg.columns.keys import KeyTable, passed_on
from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.slabs import LENGTH
from thalweg.columns.timelines import edge_at, edges_in, holding, truncate
from thalweg.events.indexes import EventIndex
from thalweg.events.moves import (
    NEVER,
    Block,
    Difference,
    Hindsight,
    Moves,
    Pairs,
    Spans,
    Stretches,
    by_time,
    told,
)
from thalweg.language.rules import Edge
from thalweg.protocol import Ints, Mask

Writer = Callable[[Ragged, int], tuple[int, int, int]]
"""Writes lists from the k-th on at the end of the pool: the new end, how far it came, how many rows there were."""


def renew(lists: Ragged, ids: Ints, write: Writer) -> int:
    """Lists written anew at the end of the pool, as `columns.fresh` does; returns how many rows there were."""
    lists.reserve_past(len(ids))
    lists.touch(ids)
    done = before = 0
    while True:
        lists.used, done, more = write(lists, done)
        before += more
        if done == len(ids):
            return before
        lists.reserve(len(lists.pool) - lists.used + 1)


class EventStore:
    """Events of one relation in the window; the first index decides what is new, the others follow."""

    def __init__(self, name: str, arity: int) -> None:
        self.name = name
        self.arity = arity
        self.indexes: dict[tuple[int, ...], EventIndex] = {}
        self.moves = Moves.none(arity + 1)
        self._written = False
        """Did the current query bring events?"""

    def index(self, positions: tuple[int, ...], *, probed: bool = False) -> EventIndex:
        """The index on these arguments; made when compiled, before any data."""
        found = self.indexes.get(positions)
        if found is None:
            found = self.indexes[positions] = EventIndex(positions, self.arity)
        found.probed |= probed
        return found

    def primary(self) -> EventIndex:
        """The index with the most argument positions, so that lists are short; by whom it is about, where no rule asks
        for one."""
        if not self.indexes:
            self.index((0,) if self.arity else ())
        return self.indexes[max(self.indexes, key=lambda p: (self.indexes[p].probed, len(p), p))]

    def apply(
        self, rows: Ints, counts: Ints, causes: Ints | None, *, assign: bool = False, needed_from: int = NEVER
    ) -> None:
        """Add counted rows (time, arguments), or with `assign` make them there (1) or not (0); sets `moves`. `causes`
        is aligned with `rows`, None: time. Later queries will ask for rows from `needed_from` on."""
        first = self.primary()
        self._written = True
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
        self._written = True
        self.moves = Moves.arrivals(columns)
        later = int(columns[0].searchsorted(needed_from))
        for index in self.indexes.values():
            index.arrive(columns, later)

    def all_new(self, final: int) -> None:
        """Announce every event in the window as if it had just come (for evaluation from scratch), list by list."""
        self._written = True
        rows, _ = self.primary().lists.everything(Version.NOW)
        rows = np.ascontiguousarray(rows[rows[:, 0] >= final, :-1])
        nothing = np.empty(0, np.int64)
        self.moves = Moves(self.arity + 1, rows[:0], rows, nothing, np.full(len(rows), TIME))

    def forget(self) -> None:
        """Drop all events, as if none had been derived in the window."""
        self._written = True
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

    def expire(self, expiry: int) -> None:
        """Nobody will ask for events up to the expiry: they go when their lists are written."""
        for index in self.indexes.values():
            index.lists.expiry = max(index.lists.expiry, expiry)

    def settle(self) -> None:
        self.moves = Moves.none(self.arity + 1)
        for index in self.indexes.values():
            index.lists.settle()

    def commit(self, expiry: int) -> None:
        """End of a query."""
        for index in self.indexes.values():
            index.expire(expiry)
            if self._written:
                index.commit()
        if self._written:
            self.moves, self._written = Moves.none(self.arity + 1), False


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
        self.lists.append(keys, np.column_stack([ids, np.ones(len(ids), np.int64)]))
        self.lists.commit()
        self.seen = instances.count

    def match(self, columns: Sequence[Ints], length: int) -> tuple[Ints, Ints]:
        """Instances that agree with the columns, and the row of each."""
        ids = self.keys.find(columns, length)
        low = np.full(length, NEVER)
        at, which = self.lists.ranges(ids, low, -low, Version.NOW)
        return self.lists.pool[:, 0][at], which


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
        passed_on(found, self.ids)
        return found

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
        self.keeps_past = False
        """Are intervals kept that were over before the window?"""
        self.accesses: dict[tuple[int, ...], Access] = {}
        self.narrows: dict[tuple[object, ...], Narrow] = {}
        self.numbering = 0
        """Another number when the instances have other numbers."""
        self.stretches = Stretches.none()
        self.effects = Moves.none(arity + 3)
        self.hindsight = Hindsight.none()
        self._rooms: dict[str, Ints] = {}

    def access(self, positions: tuple[int, ...]) -> Access:
        found = self.accesses.get(positions)
        if found is None:
            found = self.accesses[positions] = Access(positions)
        return found

    def intern(self, columns: Sequence[Ints], length: int) -> Ints:
        """Instances with these arguments (and value, for a determined fluent), known or new."""
        ids = self.instances.intern(columns, length)
        count = self.instances.count
        if count > self.lists.count:
            self.lists.ensure(count)
        if count > self.points.count and (self.keeps_points or self.reads_points):
            self.points.ensure(count)
        return ids

    def find(self, columns: Sequence[Ints], length: int) -> Ints:
        return self.instances.find(columns, length)

    def find_by(self, constants: tuple[tuple[int, int], ...], position: int, column: Ints) -> Ints:
        """`find` where all arguments but one are constants."""
        narrow = self.narrows.get((constants, position))
        if narrow is None:
            narrow = self.narrows[constants, position] = Narrow(constants, position)
        return narrow.find(self.instances, column)

    def keep(self, ids: Ints) -> None:
        """Forget all instances but these, which are numbered anew in this order; only between queries."""
        if self.points.count:
            self.points.ensure(self.instances.count)
            self.points.keep(ids)
        self.instances.keep(ids)
        self.lists.keep(ids)
        self.forget_accesses()

    def forget_accesses(self) -> None:
        """After the instances were replaced."""
        self.accesses.clear()
        self.narrows.clear()
        self.numbering += 1

    def match(self, positions: tuple[int, ...], columns: Sequence[Ints], length: int) -> tuple[Ints, Ints]:
        """Known instances that agree on the positions, and the row of each."""
        access = self.access(positions)
        access.refresh(self.instances)
        return access.match(columns, length)

    def holding(
        self, ids: Ints, times: Ints, wanted: Ints, version: Version, *, negated: bool = False, values: bool = False
    ) -> tuple[Ints, Ints]:
        """Rows at which the instances have the wanted value (one for all, one for each, or any where none is given), or
        with `negated` have not; and the values, if they are asked for."""
        n, lists = len(ids), self.lists
        cursors = np.empty((lists.count if 4 * n > lists.count else 0, 3), np.int64)
        rows, found = np.empty(n, np.int64), np.empty(n if values else 0, np.int64)
        n = holding(*lists.view(version), lists.pool, ids, times, wanted, negated, cursors, rows, found)
        return rows[:n], found[:n]

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
        return self._rows(ids[which], self.lists.pool[:, column][at] - tick, self.lists.pool[:, 2][at]), which

    def _rows(self, ids: Ints, times: Ints, values: Ints) -> Ints:
        """Rows (time, arguments, value)."""
        return self._block(ids, times, values).matrix

    def _block(self, ids: Ints, times: Ints, values: Ints) -> Block:
        """Rows (time, arguments, value), fetched when they are asked for."""
        width = self.instances.width

        def column(position: int) -> Ints:
            if position == 0:
                return times
            return self.instances.column(position - 1, ids) if position <= width else values

        return Block.lazily(len(ids), self.arity + 2, column)

    def compare(self, ids: Ints, causes: Ints, version: Version, expiry: int, spoken: int) -> Difference:
        """What changed in these instances between a version and now. Of each instance that has another cause than time,
        that is the cause of whatever is different up to the point `spoken`, of which the last query has spoken."""
        lists = self.lists
        causes = causes if told(causes) else np.full(len(ids), TIME)
        removed, added, dirty, first = changed_spans(*lists.view(version), lists.pool, ids, causes, expiry, spoken)
        ids, froms, tos, why = dirty
        gone, came = Spans(*removed), Spans(*added)
        stretches = Stretches(ids, froms, tos, why, first)
        if not self.by_value and (why != TIME).any():
            stretches.pairs = Pairs.of(gone, came, stretches, spoken)
        return Difference(gone, came, stretches)

    def compare_fresh(self, ids: Ints, before: int, start: int, expiry: int) -> Difference:
        """What changed in instances whose lists were just written, from `start` on in the pool; they had `before` rows.
        The result is valid during the query only."""
        lists = self.lists
        removed = self._room("removed", 4, before)
        added = self._room("added", 3 if self.by_value else 4, lists.used - start)
        touched = np.empty((3, len(ids)), np.int64)
        n_removed, n_added, n, first = rewritten(
            lists.table, lists.past, int(Version.LAST), lists.pool, ids, expiry, removed, added, touched
        )
        changed, froms, tos = touched[:, :n]
        stretches = Stretches(changed, froms, tos, by_time(n), first, single=True)
        return Difference(Spans.of_columns(removed, n_removed), Spans.of_columns(added, n_added), stretches)

    def _room(self, name: str, columns: int, length: int) -> Ints:
        """Columns of this length at least, the same ones in every query: memory that was used before costs less."""
        found = self._rooms.get(name)
        if found is None or found.shape[1] < length or found.shape[1] > 8 * length + 4096:
            found = self._rooms[name] = np.empty((columns, length + (length >> 2)), np.int64)
        return found

    def forget(self, final: int) -> None:
        """Timelines as they would be if nothing happened after `final`; no points."""
        lists = self.lists
        lists.reserve(int(lists.places[:, LENGTH].sum()))
        lists.reserve_past(lists.count)
        lists.used = truncate(lists.table, lists.past, lists.pool, lists.used, lists.count, final)
        lists.touch(np.arange(lists.count))
        lists.settle()
        if self.reads_points:
            self.points.clear()
        else:
            self.points.drop()

    def edge_moves(self, difference: Difference, edge: Edge, tick: int, low: int, previous: int) -> Moves:
        """The difference as edges at or after `low` that went and came; those after the last query, because of time."""
        old, new = difference.removed, difference.added
        gone, came = np.empty(len(old), np.int64), np.empty(len(new), np.int64)
        sides = [(x.ids, x.starts if edge is Edge.START else x.ends, x.values) for x in (old, new)]
        n_gone, n_came = moved_edges(*sides[0], *sides[1], low + tick, gone, came)

        def block(side: tuple[Ints, Ints, Ints], which: Ints, causes: Ints) -> tuple[Block, Ints]:
            ids, times, values = side
            times = times[which] - tick
            found = self._block(ids[which], times, values[which] if len(values) else values)
            return found, until(previous, times, causes[which]) if told(causes) else by_time(len(which))

        gone_block, gone_cause = block(sides[0], gone[:n_gone], old.causes)
        came_block, came_cause = block(sides[1], came[:n_came], new.causes)
        return Moves.of_blocks(gone_block, came_block, gone_cause, came_cause)

    def settle(self) -> None:
        self.lists.settle()
        self.points.settle()

    def expire(self, final: int) -> None:
        """End of a query. The effects of the final point itself show one point later: they can still be revised."""
        self.lists.expiry = NEVER if self.keeps_past else final
        self.points.expire(final - 1)

    def commit(self) -> None:
        """End of a query that may have written lists or points."""
        self.lists.commit()
        self.points.commit()


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
    ) -> tuple[Callable[[], Ints], Ints | None]:
        """Facts that agree on the positions, fetched when they are asked for, and the row of each (None: exactly one
        for every row, in order)."""
        lookup = self.lookup(positions)
        ids = lookup.keys.find(columns, length)
        known = ids >= 0
        if lookup.single:
            if known.all():
                return lambda: lookup.order[ids], None
            which = np.flatnonzero(known)
            return lambda: lookup.order[ids[which]], which
        sizes = np.where(known, lookup.starts[ids + 1] - lookup.starts[ids], 0)
        which, at = runs(lookup.starts[ids], sizes)
        return lambda: lookup.order[at], which

    def lookup(self, positions: tuple[int, ...]) -> Lookup:
        """The facts by these arguments."""
        found = self.lookups.get(positions)
        if found is None:
            found = self.lookups[positions] = self._lookup(positions)
        return found

    def _lookup(self, positions: tuple[int, ...]) -> Lookup:
        n = self.rows.count
        keys = KeyTable(len(positions))
        ids = keys.intern([np.ascontiguousarray(self.rows.keys[:, p]) for p in positions], n)
        counts = np.bincount(ids, minlength=keys.count)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Lookup(keys, starts, np.argsort(ids, kind="stable"), bool((counts == 1).all()))
